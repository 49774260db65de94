"""Batches of change: what arrives in the sources between two runs of dbt."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from retail.tables import Change
from retail.world import LAST_NAMES, World

STATUSES = {"pending": "paid", "paid": "Shipped", "Shipped": "delivered"}


@dataclass(frozen=True)
class Batch:
    """What happened, in words, and what it does to the tables."""

    title: str
    changes: Sequence[Change]

    @property
    def kinds(self) -> frozenset[str]:
        """Which of inserts, updates and deletes it consists of."""
        found = {
            "inserts": [each.inserted for each in self.changes],
            "updates": [each.updated for each in self.changes],
            "deletes": [each.deleted for each in self.changes],
        }
        return frozenset(kind for kind, rows in found.items() if any(rows))

    @property
    def rows(self) -> int:
        return sum(len(rows) for each in self.changes for rows in (each.inserted, each.updated, each.deleted))


def business_day(world: World) -> None:
    """A day as most of them are: new orders, older ones go on, some are cancelled or come back."""
    for _ in world.some(12):
        world.new_order(world.day)
    for order in world.sample("orders", len(world.some(25))):
        if order["status"] in STATUSES:
            world.set_status(order, STATUSES[order["status"]])
            if STATUSES[order["status"]] == "Shipped":
                world.ship(order)
    for order in world.sample("orders", len(world.some(4))):
        world.set_status(order, "CANCELLED")
    for line in world.sample("order_items", len(world.some(6))):
        world.new_return(line, world.day)
    for payment in world.sample("payments", len(world.some(3))):
        world.change("payments", payment, status="refunded")
    for product in world.sample("products", len(world.some(3))):
        world.set_price(product, product["unit_price"] + 1)
    for movement in world.sample("inventory_movements", len(world.some(2))):
        world.remove("inventory_movements", movement)
    for _ in world.some(3):
        world.new_customer(world.day)
    for ticket in world.logs.tickets(len(world.some(6)), is_open=True):
        world.change("support_tickets", ticket, closed_at=world.logs.moment(world.day))
    _passing_day(world)


def additions(world: World) -> None:
    """A day on which rows only come."""
    for _ in world.some(10):
        world.new_order(world.day)
    for _ in world.some(4):
        world.new_customer(world.day)
    for _ in world.some(2):
        world.new_product(world.day)
    _passing_day(world)


def dimensions(world: World) -> None:
    """Only master data: prices, people who move, names, somebody leaves, a code is used again."""
    day = world.day
    for customer in world.sample("customers", len(world.some(5))):
        world.move(customer, day)
    for customer in world.sample("customers", len(world.some(4))):
        name, at = world.random.choice(LAST_NAMES), world.moment(day)
        changed = world.change("customers", customer, segment="business", last_name=name, updated_at=at)
        world.logs.customer(changed, "update", at, ("segment",))
    category = world.pick("categories")
    world.change("categories", category, category_name=category["category_name"] + " & more", margin_target=0.125)
    for product in world.where("products", category_id=category["category_id"]):
        price = (product["unit_price"] * Decimal("1.05")).quantize(Decimal("0.01"))
        world.set_price(product, price, tags=sorted({*product["tags"], "sale"}))
    supplier = world.pick("suppliers")
    world.change(
        "suppliers", supplier, rating=None, contact={"email": None, "phone": "+1 555"}, is_active=not supplier["is_active"]
    )
    world.change("employees", world.pick("employees"), left_on=day, manager_id=None)
    world.change("employees", world.pick("employees"), job="lead", salary=Decimal("5100.00"), permissions=15)
    number = len(world.rows["employees"]) + 1
    world.put(
        "employees",
        employee_id=number,
        store_id=1,
        manager_id=1,
        full_name=f"Neo {number}",
        job="sales",
        hired_on=day,
        left_on=None,
        salary=Decimal("2800.00"),
        permissions=1,
    )
    store = world.pick("stores")
    world.change("stores", store, closed_on=None if store["closed_on"] else day, store_name=store["store_name"] + " (old)")
    number = len(world.rows["promotions"]) + 1
    world.put(
        "promotions",
        promotion_id=number,
        code="SPRING",
        kind="amount",
        amount=Decimal(7),
        category_id=None,
        starts_on=day,
        ends_on=day + dt.timedelta(20),
    )
    world.change("currencies", world.pick("currencies"), minor_units=3)


def corrections(world: World) -> None:
    """Late orders, wrong values put right, empty texts and NULLs, and natural keys that are used again."""
    for back in (1, 40, 120):
        world.new_order(world.day - dt.timedelta(back))
    used = world.pick("orders")["order_number"]
    world.new_order(world.day, number=used)
    for order in world.sample("orders", len(world.some(4))):
        world.change("orders", order, customer_id=world.pick("customers")["customer_id"])
    world.change("orders", world.pick("orders"), customer_id=None, store_id=None, promotion_id=None, shipping_fee=None)
    for line in world.sample("order_items", len(world.some(5))):
        world.change("order_items", line, quantity=world.random.randint(0, 9), discount=None)
    world.change("order_items", world.pick("order_items"), product_id=world.pick("products")["product_id"])
    for customer, name in zip(world.sample("customers", 4), ("", " ", "Ünïcødé 漢字", None), strict=False):
        at = world.moment(world.day)
        changed = world.change("customers", customer, first_name=name, email=name, preferences=None, updated_at=at)
        world.logs.customer(changed, "update", at, ("email",))
    known = world.pick("addresses")
    world.new_address(known["customer_id"], known["kind"], known["valid_from"] + dt.timedelta(1))
    for rate in world.sample("exchange_rates", len(world.some(3))):
        world.change("exchange_rates", rate, rate=rate["rate"] + Decimal("0.01"))
    for shipment in world.sample("shipments", len(world.some(3))):
        world.change("shipments", shipment, delivered_at=None, scans=[])
    for ticket in world.logs.tickets(len(world.some(3))):
        world.change("support_tickets", ticket, due_on=ticket["due_on"] + dt.timedelta(7), closed_at=None)
    erased = world.pick("customers")
    _erase(world, erased)
    world.logs.customer(erased, "delete", world.logs.moment(world.day), ())
    world.new_customer(world.day, customer_id=erased["customer_id"])


def withdrawals(world: World) -> None:
    """Rows only go: orders with all that belongs to them, customers who want to be forgotten, products that nobody bought."""
    for order in world.sample("orders", len(world.some(8))):
        for table in ("order_items", "payments", "shipments", "returns"):
            for row in world.where(table, order_id=order["order_id"]):
                world.remove(table, row)
        world.remove("orders", order)
    for customer in world.sample("customers", len(world.some(3))):
        _erase(world, customer)
    bought = {row["product_id"] for table in ("order_items", "inventory_movements") for row in world.rows[table].values()}
    for product in [row for row in world.rows["products"].values() if row["product_id"] not in bought][:2]:
        world.remove("products", product)
    for movement in world.sample("inventory_movements", len(world.some(5))):
        world.remove("inventory_movements", movement)
    for ticket in world.logs.tickets(len(world.some(3))):
        world.remove("support_tickets", ticket)
    world.remove("exchange_rates", world.pick("exchange_rates"))
    world.remove("payments", world.pick("payments"))


def nothing(world: World) -> None:
    """Nothing at all."""


SCHEDULE: tuple[tuple[str, Callable[[World], None]], ...] = (
    ("a day of business", business_day),
    ("only additions", additions),
    ("only dimensions", dimensions),
    ("corrections", corrections),
    ("withdrawals", withdrawals),
    ("nothing", nothing),
)


def batch(world: World, number: int) -> Batch:
    """The batch of that number, from 0; after the last kind of batch the first one comes again."""
    title, happen = SCHEDULE[number % len(SCHEDULE)]
    world.day += dt.timedelta(1)
    happen(world)
    return Batch(title, tuple(world.taken()))


def _passing_day(world: World) -> None:
    """What each day brings."""
    world.new_rates(world.day)
    for _ in world.some(15):
        world.new_visit(world.day)
    for _ in world.some(3):
        world.logs.new_ticket(world.day)
    for _ in world.some(6):
        world.new_movement(
            world.pick("stores")["store_id"],
            world.pick("products")["product_id"],
            "receipt",
            world.random.randint(5, 30),
            world.day,
        )


def _erase(world: World, customer: dict) -> None:
    for address in world.where("addresses", customer_id=customer["customer_id"]):
        world.remove("addresses", address)
    world.remove("customers", customer)
