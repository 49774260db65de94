"""What other systems record of the retail world: logs without a key, and tickets, whose key nobody declares.

Their rows are drawn apart from those of the shop's own tables. A row of a log may arrive twice, or at the same second as another.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retail.tables import Row
    from retail.world import World

PATHS: Mapping[str, tuple[str, ...]] = {
    "paid": ("pending", "paid"),
    "Shipped": ("pending", "paid", "Shipped"),
    "delivered": ("pending", "paid", "Shipped", "delivered"),
    "cancelled": ("pending", "cancelled"),
}
PAUSES = (0, 10, 25, 45, 300, 2000)  # minutes until the next status
PRIORITIES, DAYS_DUE = ("low", "normal", "normal", "high"), {"low": 30, "normal": 14, "high": 3}
CHANGED = ("email", "segment", "marketing_consent")


class Logs:
    def __init__(self, world: World, seed: int) -> None:
        self.random = Random(f"logs {seed}")
        self._world = world

    def status(self, order: Row, status: str, at: dt.datetime) -> None:
        self._put(
            "order_status_log",
            order_id=order["order_id"],
            status=status,
            changed_at=at,
            changed_by=self.random.choice(("shop", "warehouse", "carrier")),
        )

    def statuses(self, order: Row) -> None:
        """What happened to an order until it had its status."""
        at = order["ordered_at"]
        for status in PATHS.get(order["status"], (order["status"],)):
            self.status(order, status, at)
            at += dt.timedelta(minutes=self.random.choice(PAUSES))

    def price(self, product: Row, at: dt.datetime, price: Decimal | None) -> None:
        """A price; None while it is asked for."""
        self._put("price_log", product_id=product["product_id"], price=price, changed_at=at)

    def earlier_prices(self, product: Row, first: dt.date, last: dt.date) -> None:
        for _ in range(self.random.randint(0, 4)):
            day = first + dt.timedelta(self.random.randint(1, (last - first).days))
            price = self.random.choice((None, product["unit_price"], product["unit_price"] + 2))
            self.price(product, self.moment(day), price)

    def customer(self, customer: Row, operation: str, at: dt.datetime, columns: Iterable[str] = CHANGED, **more: Any) -> None:
        """A change of a customer: the columns that it changed, and NULL in the others."""
        changed = {name: customer[name] for name in columns}
        row = {"email": None, "segment": None, "marketing_consent": None, "city": None, **changed, **more}
        self._put("customer_changes", customer_id=customer["customer_id"], operation=operation, changed_at=at, **row)

    def earlier_changes(self, customer: Row, last: dt.date) -> None:
        for _ in range(self.random.randint(0, 3)):
            day = customer["signup_date"] + dt.timedelta(self.random.randint(0, (last - customer["signup_date"]).days))
            if self.random.random() < 0.5:
                self.customer(customer, "update", self.moment(day), (), segment=self.random.choice(("private", "business")))
            else:
                self.customer(customer, "update", self.moment(day), (), city=self.random.choice(("Berlin", "Paris", "Łódź")))

    def new_ticket(self, day: dt.date) -> Row:
        priority, number = self.random.choice(PRIORITIES), self._world.number("tickets")
        opened = self.moment(day)
        is_closed = self.random.random() < 0.3
        return self._world.put(
            "support_tickets",
            ticket_id=number,
            customer_id=self.random.choice([*self._world.rows["customers"].values()])["customer_id"],
            subject=self.random.choice(("parcel is late", "wrong item", " Refund? ", None)),
            priority=priority,
            opened_at=opened,
            due_on=day + dt.timedelta(DAYS_DUE[priority]),
            closed_at=opened + dt.timedelta(hours=self.random.randint(1, 200)) if is_closed else None,
        )

    def tickets(self, count: int, *, is_open: bool = False) -> list[Row]:
        """Some tickets at random; with `is_open`, of those that are not closed."""
        found = [row for row in self._world.rows["support_tickets"].values() if not (is_open and row["closed_at"])]
        return self.random.sample(found, min(count, len(found)))

    def moment(self, day: dt.date) -> dt.datetime:
        return dt.datetime.combine(day, dt.time(self.random.randint(6, 22), self.random.randint(0, 59)))

    def _put(self, table: str, **row: Any) -> None:
        for _ in range(2 if self.random.random() < 0.08 else 1):
            self._world.put(table, **row)
