"""The initial load: what had happened in the retail world until the first run."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from retail.world import CATEGORIES, CITIES, COUNTRIES, FIRST_DAY, JOBS, LAST_DAY, World

CURRENCIES = (("EUR", "Euro", 2), ("GBP", "Pound sterling", 2), ("CHF", "Schweizer Franken", 2), ("JPY", "円", 0))
MOVEMENTS = ("receipt", "receipt", "adjustment", "transfer", "loss")


def fill(world: World) -> None:
    """All sources up to the last day of the history."""
    _organisation(world)
    for _ in world.some(60):
        world.new_product(FIRST_DAY)
    for _ in world.some(140):
        world.new_customer(_day(world))
    for _ in world.some(450):
        world.new_order(_day(world))
    for line in world.sample("order_items", len(world.some(60))):
        world.new_return(line, LAST_DAY)
    for _ in world.some(250):
        world.new_movement(
            world.pick("stores")["store_id"],
            world.pick("products")["product_id"],
            world.random.choice(MOVEMENTS),
            world.random.randint(1, 40),
            _day(world),
        )
    for _ in world.some(300):
        world.new_visit(_day(world))
    for product in list(world.rows["products"].values()):
        world.logs.earlier_prices(product, FIRST_DAY, LAST_DAY)
    for customer in list(world.rows["customers"].values()):
        world.logs.earlier_changes(customer, LAST_DAY)
    for _ in world.some(90):
        world.logs.new_ticket(LAST_DAY - dt.timedelta(world.logs.random.randint(0, 60)))
    for number in range((LAST_DAY - FIRST_DAY).days + 1):
        world.new_rates(FIRST_DAY + dt.timedelta(number))


def _day(world: World) -> dt.date:
    return FIRST_DAY + dt.timedelta(world.random.randint(0, (LAST_DAY - FIRST_DAY).days))


def _organisation(world: World) -> None:
    _currencies(world)
    _categories(world)
    _suppliers(world)
    _stores(world)
    _employees(world)
    _promotions(world)


def _currencies(world: World) -> None:
    for code, name, units in CURRENCIES:
        world.put("currencies", currency_code=code, currency_name=name, minor_units=units)


def _categories(world: World) -> None:
    rng = world.random
    for department, names in CATEGORIES.items():
        top = world.put(
            "categories",
            category_id=world.number("categories"),
            parent_category_id=None,
            category_name=department,
            margin_target=rng.choice((0.25, 0.5)),
        )
        for name in names:
            world.put(
                "categories",
                category_id=world.number("categories"),
                parent_category_id=top["category_id"],
                category_name=name,
                margin_target=rng.choice((None, 0.375)),
            )


def _suppliers(world: World) -> None:
    rng = world.random
    for number in range(1, 9):
        contact = {"email": f"Sales@supplier{number}.example", "phone": rng.choice((f"+49 30 / {number}00", None))}
        world.put(
            "suppliers",
            supplier_id=number,
            supplier_name=f" Supplier {number}",
            country_code=rng.choice(COUNTRIES).lower(),
            rating=rng.choice((None, 1.5, 3.0, 4.5)),
            contact=contact,
            is_active=number != 8,
        )


def _stores(world: World) -> None:
    for number in range(1, 7):
        world.put(
            "stores",
            store_id=number,
            store_name=f"Store {CITIES[number]}",
            country_code=COUNTRIES[number],
            city=CITIES[number],
            opened_on=dt.date(2015 + number, 3, 1),
            closed_on=None,
            square_meters=100 * number,
        )


def _employees(world: World) -> None:
    rng = world.random
    for number in range(1, 25):
        world.put(
            "employees",
            employee_id=number,
            store_id=(number - 1) % 6 + 1,
            manager_id=None if number < 3 else rng.randint(1, min(number - 1, 8)),
            full_name=f"{rng.choice(('Ada', 'Jörg', 'Íris'))} {rng.choice(('Keller', 'Šimić', 'Poe'))}",
            job=rng.choice(JOBS),
            hired_on=dt.date(2018 + number % 6, rng.randint(1, 12), 1),
            left_on=dt.date(2024, 2, 1) if number % 9 == 0 else None,
            salary=Decimal(rng.randint(24, 60) * 100),
            permissions=rng.choice((1, 3, 5, 9, 15)),
        )


def _promotions(world: World) -> None:
    rng = world.random
    for number, code in enumerate(("SPRING", "summer", "VIP", "WINTER", "SPRING"), 1):
        world.put(
            "promotions",
            promotion_id=number,
            code=code,
            kind=rng.choice(("percent", "amount")),
            amount=Decimal(number * 5),
            category_id=rng.choice((None, 2, 5)),
            starts_on=dt.date(2024, number, 1),
            ends_on=dt.date(2024, number + 2, 28),
        )
