"""The retail world: all rows of all sources, made from a seed, and the few things that happen in it again and again."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from random import Random
from typing import Any

from retail.logs import Logs
from retail.tables import Change, Key, Row, Table

FIRST_DAY, LAST_DAY = dt.date(2024, 1, 1), dt.date(2024, 6, 20)
COUNTRIES = ("DE", "AT", "CH", "FR", "NL", "GB", "PL", "SE")
CITIES = ("Berlin", "Wien", "Zürich", "Paris", "Den Haag", "London", "Łódź", "Malmö", "Saint-Étienne", "O'Fallon")
FIRST_NAMES = ("Anna", "josé", " Zoë", "MAX", "Ødger", "Łukasz", "李", "Émile", "Mary-Ann", "", "Noor", "Béla")
LAST_NAMES = (
    "Müller",
    "O'Brien",
    "van der Berg",
    "Nowak",
    "Smith",
    "Smyth",
    "Ångström",
    "",
    "陈",
    "Da Silva",
    'Quo"te',
    "Back\\slash",
)
CATEGORIES = {
    "Garden": ("Tools", "Seeds"),
    "Kitchen": ("Pans", "Knives", "Cups"),
    "Home": ("Lamps", "Textiles"),
    "Toys": ("Games",),
}
TAGS = ("eco", "new", "sale", "gift", "season-spring", "season-winter", "fragile")
COLOURS = ("Red", "blue", "GREEN", None)
REASONS = ("too small", "broken", " Late ", "", None, "changed my mind")
CHANNELS, METHODS = ("web", "web", "store", "store", "phone"), ("card", "transfer", "voucher", "paypal")
PAGES = ("/", "/cart", "/health", "/p/{}", "/p/{}?ref=mail&sort=Price", "/search?q=lamp&sort=new")
REFERRERS = (None, "https://search.example/?utm_campaign=spring", "http://blog.example/a", "app://home")
CARRIERS, PLACES = ("dhl", "UPS", "Post"), ("hub", "customs", "depot", "door")
JOBS = ("sales", "sales", "stock", "lead")
EVENTS = ("view", "view", "view", "cart", "checkout", "purchase")
PAUSES = (0, 1, 2, 4, 9, 29, 30, 31, 75)  # minutes between two events of a visit


class World:
    """Rows by table and key. What is put, changed and removed is noted until it is taken as the changes of a batch."""

    def __init__(self, tables: Mapping[str, Table], seed: int, scale: float) -> None:
        self.tables, self.random, self.scale = tables, Random(seed), scale
        self.rows: dict[str, dict[Key, Row]] = {name: {} for name in tables}
        self.day = LAST_DAY
        self.logs = Logs(self, seed)
        self._before: dict[str, dict[Key, Row | None]] = {}
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The next number of that kind, from 1."""
        self._numbers[name] = self._numbers.get(name, 0) + 1
        return self._numbers[name]

    def some(self, at_default_scale: int) -> range:
        return range(max(1, round(at_default_scale * self.scale)))

    def put(self, table: str, **row: Any) -> Row:
        """A new row, or a new version of one."""
        known = self.tables[table]
        key = known.key_of(row) if known.key else (self.number(table),)
        self._before.setdefault(table, {}).setdefault(key, self.rows[table].get(key))
        self.rows[table][key] = {name: row[name] for name in known.columns}
        return self.rows[table][key]

    def change(self, table: str, row: Row, **values: Any) -> Row:
        return self.put(table, **{**row, **values})

    def remove(self, table: str, row: Row) -> None:
        key = self.tables[table].key_of(row)
        self._before.setdefault(table, {}).setdefault(key, self.rows[table].get(key))
        del self.rows[table][key]

    def pick(self, table: str) -> Row:
        return self.random.choice(list(self.rows[table].values()))

    def sample(self, table: str, count: int) -> list[Row]:
        found = list(self.rows[table].values())
        return self.random.sample(found, min(count, len(found)))

    def where(self, table: str, **values: Any) -> list[Row]:
        return [row for row in self.rows[table].values() if all(row[name] == value for name, value in values.items())]

    def taken(self) -> Iterator[Change]:
        """The net change of each table since it was last asked."""
        before, self._before = self._before, {}
        for name, rows in before.items():
            now = self.rows[name]
            inserted = [now[key] for key, row in rows.items() if row is None and key in now]
            updated = [now[key] for key, row in rows.items() if row is not None and key in now and now[key] != row]
            deleted = [key for key, row in rows.items() if row is not None and key not in now]
            if inserted or updated or deleted:
                yield Change(self.tables[name], inserted, updated, deleted)

    @property
    def now(self) -> dt.datetime:
        """When dbt runs: in the night after the day."""
        return dt.datetime.combine(self.day + dt.timedelta(1), dt.time(2), dt.UTC)

    # what happens again and again

    def moment(self, day: dt.date) -> dt.datetime:
        return dt.datetime.combine(
            day, dt.time(self.random.randint(6, 22), self.random.randint(0, 59), self.random.randint(0, 59))
        )

    def cents(self, low: int, high: int) -> Decimal:
        return Decimal(self.random.randint(low, high)) / 100

    def new_customer(self, day: dt.date, customer_id: int | None = None) -> Row:
        rng = self.random
        number = customer_id or self.number("customers")
        first, last = rng.choice(FIRST_NAMES), rng.choice(LAST_NAMES)
        email = rng.choice(
            (f"{first.strip() or 'x'}.{number}@mail.example", f"C{number}@Post.Example", " ", None, f"c{number}@mail.example")
        )
        preferences = rng.choice(
            ("newsletter:yes,language:de", "newsletter:no", "language:fr,theme:dark", "sms:yes,newsletter:yes", None)
        )
        referrer = self.pick("customers")["customer_id"] if self.rows["customers"] and rng.random() < 0.3 else None
        customer = self.put(
            "customers",
            customer_id=number,
            email=email,
            first_name=first,
            last_name=last,
            birth_date=rng.choice(
                (None, dt.date(1950 + rng.randint(0, 50), rng.randint(1, 12), rng.randint(1, 28)), dt.date(1980, 2, 29))
            ),
            segment=rng.choice(("private", "private", "business", None)),
            signup_date=day,
            referred_by=referrer,
            preferences=preferences,
            marketing_consent=rng.choice((True, False, None)),
            updated_at=self.moment(day),
        )
        self.logs.customer(customer, "insert", customer["updated_at"])
        for kind in rng.choice((("billing",), ("billing", "shipping"), ())):
            self.new_address(number, kind, day)
        return customer

    def new_address(self, customer_id: int, kind: str, day: dt.date) -> Row:
        rng = self.random
        return self.put(
            "addresses",
            address_id=self.number("addresses"),
            customer_id=customer_id,
            kind=kind,
            street=f"{rng.choice(('Main St', 'Rue de l’Église', 'Straße'))} {rng.randint(1, 99)}",
            city=rng.choice(CITIES),
            postal_code=str(rng.randint(1, 99999)),
            country_code=rng.choice((*COUNTRIES, "de")),
            valid_from=day,
            valid_to=None,
        )

    def move(self, customer: Row, day: dt.date) -> None:
        """A customer moves: the address is closed, and another one begins."""
        for old in self.where("addresses", customer_id=customer["customer_id"], valid_to=None):
            self.change("addresses", old, valid_to=day)
            address = self.new_address(customer["customer_id"], old["kind"], day)
            self.logs.customer(customer, "update", self.logs.moment(day), (), city=address["city"])

    def new_product(self, day: dt.date) -> Row:
        rng, number = self.random, self.number("products")
        cost = self.cents(100, 9000)
        attributes = {
            "brand": rng.choice(("Acme", "Nørd", None)),
            "colour": rng.choice(COLOURS),
            "size": {"height_cm": rng.choice((12, 150, "tall"))},
        }
        product = self.put(
            "products",
            product_id=number,
            sku=f"{rng.choice(('GA', 'KI', 'HO'))}-{number:04}",
            product_name=f"Thing {number} {rng.choice('äßé漢')}",
            category_id=self.pick("categories")["category_id"],
            supplier_id=self.pick("suppliers")["supplier_id"],
            unit_price=cost * 2 - Decimal("0.01"),
            unit_cost=cost,
            weight_kg=rng.choice((0.25, 0.5, 1.75, 12.0, 24.5)),
            tags=rng.sample(TAGS, rng.randint(0, 3)),
            attributes=rng.choice((json.dumps(attributes), None)),
            discontinued=rng.random() < 0.1,
            updated_at=self.moment(day),
        )
        self.logs.price(product, product["updated_at"], product["unit_price"])
        return product

    def set_price(self, product: Row, price: Decimal, **more: Any) -> None:
        product = self.change("products", product, unit_price=price, updated_at=self.moment(self.day), **more)
        self.logs.price(product, product["updated_at"], price)

    def new_order(self, day: dt.date, number: str | None = None) -> Row:
        """An order with its lines, its payment, its shipment, and the stock that it takes."""
        rng, order_id = self.random, self.number("orders")
        channel = rng.choice(CHANNELS)
        store = self.pick("stores") if channel == "store" else None
        staff = self.where("employees", store_id=store["store_id"]) if store else []
        customer = self.pick("customers") if rng.random() < 0.95 else None
        addresses = self.where("addresses", customer_id=customer["customer_id"]) if customer else []
        order = self.put(
            "orders",
            order_id=order_id,
            order_number=number or f"R-{order_id:06}",
            customer_id=customer and customer["customer_id"],
            store_id=store and store["store_id"],
            employee_id=rng.choice(staff)["employee_id"] if staff else None,
            promotion_id=self.pick("promotions")["promotion_id"] if rng.random() < 0.3 else None,
            currency_code=rng.choice(("EUR", "EUR", "GBP", "CHF", None)),
            channel=channel,
            ordered_at=self.moment(day),
            status=rng.choice(("pending", "paid", "Shipped", "delivered", "delivered", "cancelled", "draft")),
            shipping_address_id=addresses[-1]["address_id"] if addresses else None,
            shipping_fee=rng.choice((None, Decimal("4.90"), Decimal("0.00"))),
            notes=rng.choice((None, "", "  ", "please ring 🔔")),
        )
        total = sum((self._new_line(order, line, day) for line in range(1, rng.randint(1, 4) + 1)), Decimal(0))
        if order["status"] not in ("pending", "draft"):
            self._pay(order, total + (order["shipping_fee"] or 0))
        if order["status"] in ("Shipped", "delivered"):
            self.ship(order)
        self.logs.statuses(order)
        return order

    def set_status(self, order: Row, status: str) -> None:
        self.logs.status(self.change("orders", order, status=status), status, self.logs.moment(self.day))

    def _new_line(self, order: Row, line: int, day: dt.date) -> Decimal:
        """One line, and what is taken from the store's stock; its net amount with tax."""
        rng, product = self.random, self.pick("products")
        quantity = rng.randint(1, 6)
        discount = rng.choice((None, Decimal(0), Decimal("0.50"), product["unit_price"] / 10))
        discount = discount and discount.quantize(Decimal("0.01"))
        tax = rng.choice((Decimal("0.190"), Decimal("0.070"), Decimal("0.200")))
        self.put(
            "order_items",
            order_id=order["order_id"],
            line_number=line,
            product_id=product["product_id"],
            quantity=quantity,
            unit_price=product["unit_price"],
            discount=discount,
            tax_rate=tax,
        )
        if order["store_id"] is not None:
            self.new_movement(order["store_id"], product["product_id"], "sale", quantity, day)
        net = quantity * product["unit_price"] - (discount or 0)
        return net + (net * tax).quantize(Decimal("0.01"), "ROUND_HALF_UP")

    def _pay(self, order: Row, amount: Decimal) -> None:
        rng = self.random
        for status in rng.choice((("settled",), ("settled",), ("failed", "settled"), ("failed",))):
            details = {
                "provider": rng.choice(("bank", "walletá")),
                "risk": rng.choice((0.0, 0.25, 0.5, 0.75)),
                "attempts": rng.randint(1, 3),
            }
            self.put(
                "payments",
                payment_id=self.number("payments"),
                order_id=order["order_id"],
                method=rng.choice(METHODS),
                amount=amount if rng.random() < 0.9 else amount - 1,
                status=status,
                paid_at=order["ordered_at"] + dt.timedelta(hours=rng.randint(0, 40)),
                details=rng.choice((json.dumps(details), "{}", None)),
            )

    def ship(self, order: Row) -> None:
        rng = self.random
        for _ in range(rng.choice((1, 1, 1, 2))):
            shipped = order["ordered_at"] + dt.timedelta(hours=rng.randint(4, 60))
            scans = [{"place": place, "minutes": rng.randint(0, 200)} for place in rng.sample(PLACES, rng.randint(0, 3))]
            self.put(
                "shipments",
                shipment_id=self.number("shipments"),
                order_id=order["order_id"],
                carrier=rng.choice(CARRIERS),
                shipped_at=shipped,
                delivered_at=rng.choice((None, shipped + dt.timedelta(hours=rng.randint(10, 120)))),
                cost=rng.choice((3.5, 4.25, 12.75)),
                scans=scans,
            )

    def new_return(self, line: Row, day: dt.date) -> None:
        quantity = self.random.randint(1, max(1, line["quantity"]))
        self.put(
            "returns",
            return_id=self.number("returns"),
            order_id=line["order_id"],
            line_number=line["line_number"],
            quantity=quantity,
            reason=self.random.choice(REASONS),
            refund=quantity * line["unit_price"],
            returned_at=self.moment(day),
        )

    def new_movement(self, store_id: int, product_id: int, kind: str, quantity: int, day: dt.date) -> None:
        self.put(
            "inventory_movements",
            movement_id=self.number("movements"),
            store_id=store_id,
            product_id=product_id,
            kind=kind,
            quantity=quantity,
            moved_at=self.moment(day),
        )

    def new_visit(self, day: dt.date) -> None:
        """Some events of one visitor; now and then one is recorded twice."""
        rng, visitor = self.random, f"v{self.random.randint(1, 60)}"
        customer = self.pick("customers")["customer_id"] if rng.random() < 0.5 else None
        at = self.moment(day)
        for event in EVENTS[rng.randint(0, 2) : rng.randint(3, 6)]:
            product = self.pick("products")["product_id"] if rng.random() < 0.7 else None
            payload = {"device": rng.choice(("phone", "desktop", None)), "referrer": rng.choice(REFERRERS)}
            row = dict(
                visitor_id=visitor,
                customer_id=customer,
                event_type=event,
                page=rng.choice(PAGES).format(product),
                product_id=product,
                occurred_at=at,
                payload=json.dumps(payload),
                seconds=rng.choice((None, 0.5, 3.0, 47.5)),
            )
            for _ in range(2 if rng.random() < 0.05 else 1):
                self.put("web_events", **row)
            at += dt.timedelta(minutes=rng.choice(PAUSES))

    def new_rates(self, day: dt.date) -> None:
        for code, rate in (("GBP", 1.17), ("CHF", 1.03), ("EUR", 1.0)):
            if self.random.random() < 0.95:
                moved = Decimal(f"{rate * (1 + self.random.uniform(-0.02, 0.02)):.8f}") if code != "EUR" else Decimal(1)
                self.put("exchange_rates", currency_code=code, rate_date=day, rate=moved)
