"""A small TPC-DS: rows that meet in the questions' conditions, and batches that change all tables. The same each time."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.tpcds.schema import TABLES

Value = int | str | None
Row = tuple[Value, ...]
Content = dict[str, list[Row]]

SEED = 10
FIRST_DAY = dt.date(1999, 1, 1)
SOME_DAYS = ((2, 10), (2, 15), (2, 20), (3, 15), (4, 15), (11, 15), (12, 15))
STOCK_DAYS = ((1, 3), (1, 5), (1, 10), (2, 10), (2, 15), (2, 20))
CATEGORIES = ("Books", "Home", "Sports")
CLASSES = ("fiction", "lamps", "tents")
MONEY = ("3.25", "8.50", "12.10", "19.99", "27.00", "33.33", "41.75", "56.40", "72.05", "88.88")
GAINS = ("-20.50", "-3.10", "0.00", "4.25", "15.00", "33.30", "60.75", "120.00")
MISSING = 0.06  # share of references that are NULL
RETURNED = 0.6  # share of sales that are returned
CHANNELS = {"store": 48, "catalog": 30, "web": 30}  # with the number of orders at the start

# Rows of each table that are no sales, returns or days.
SIZES = {
    "time_dim": 10,
    "item": 8,
    "customer": 6,
    "customer_address": 5,
    "customer_demographics": 5,
    "household_demographics": 5,
    "income_band": 3,
    "store": 3,
    "warehouse": 2,
    "promotion": 3,
    "ship_mode": 2,
    "reason": 2,
    "call_center": 2,
    "catalog_page": 2,
    "web_site": 2,
    "web_page": 2,
}
# Columns that refer to another table, by the end of their name.
REFERENCES = {
    "time_sk": "time_dim",
    "item_sk": "item",
    "customer_sk": "customer",
    "addr_sk": "customer_address",
    "cdemo_sk": "customer_demographics",
    "hdemo_sk": "household_demographics",
    "income_band_sk": "income_band",
    "store_sk": "store",
    "warehouse_sk": "warehouse",
    "promo_sk": "promotion",
    "ship_mode_sk": "ship_mode",
    "reason_sk": "reason",
    "call_center_sk": "call_center",
    "catalog_page_sk": "catalog_page",
    "site_sk": "web_site",
    "page_sk": "web_page",
}
# Values of columns; a value that is there twice is drawn twice as often.
POOLS: Mapping[str, Sequence[Value]] = {
    "t_hour": (8, 8, 9, 10, 11, 12, 15, 20),
    "t_minute": (0, 10, 30, 45),
    "t_meal_time": ("breakfast", "lunch"),
    "i_item_desc": ("a good book", "a bright lamp", "a dry tent", None),
    "i_current_price": ("12.00", "25.50", "38.00", "52.25", "66.60"),
    "i_brand_id": (1, 2, 3),
    "i_brand": ("brand one", "brand two"),
    "i_class": CLASSES,
    "i_class_id": (1, 2, 3),
    "i_category": CATEGORIES,
    "i_category_id": (1, 2, 3),
    "i_manufact_id": (1, 1, 2),
    "i_manufact": ("maker 1", "maker 2"),
    "i_size": ("small", "large"),
    "i_color": ("red", "red", "blue", "green"),
    "i_units": ("Each", "Box"),
    "i_manager_id": (1, 1, 2),
    "c_salutation": ("Dr.", "Ms."),
    "c_first_name": ("Ann", "Bo", "Cy"),
    "c_last_name": ("Ash", "Birch", None),
    "c_preferred_cust_flag": ("Y", "Y", "N"),
    "c_birth_month": (1, 4, 6, 7),
    "c_birth_year": (1950, 1964, 1980, None),
    "c_birth_country": ("FRANCE", "PERU"),
    "c_email_address": ("a@example.org", "b@example.org"),
    "ca_city": ("Fairview", "Midway", "Oak Hill"),
    "ca_county": ("Polk", "Polk", "Lake"),
    "ca_state": ("TN", "TN", "CA", "GA"),
    "ca_zip": ("10001", "10001", "10002", "24068"),
    "ca_country": ("United States",),
    "ca_gmt_offset": (-5, -5, -6),
    "ca_location_type": ("single family",),
    "cd_gender": ("F", "M"),
    "cd_marital_status": ("M", "S"),
    "cd_education_status": ("College", "College", "Primary"),
    "cd_purchase_estimate": (500, 1000),
    "cd_credit_rating": ("Good", "Low Risk"),
    "cd_dep_count": (0, 1, 3),
    "hd_buy_potential": (">10000", ">10000", "Unknown"),
    "hd_dep_count": (0, 1, 3, 4),
    "hd_vehicle_count": (0, 1, 2, 3),
    "ib_lower_bound": (0, 30001),
    "ib_upper_bound": (30000, 80000),
    "s_store_name": ("ese", "ese", "ought"),
    "s_city": ("Fairview", "Midway"),
    "s_county": ("Polk", "Lake"),
    "s_state": ("TN", "TN", "CA"),
    "s_zip": ("10009", "24060"),
    "s_market_id": (5, 5, 8),
    "s_gmt_offset": (-5, -5, -6),
    "s_number_employees": (210, 280),
    "s_company_name": ("Unknown",),
    "w_warehouse_name": ("the old warehouse", "a warehouse with a long name"),
    "w_warehouse_sq_ft": (1000, 5000),
    "w_city": ("Fairview", "Midway"),
    "w_state": ("TN", "CA"),
    "p_channel_dmail": ("Y", "N"),
    "p_channel_email": ("N", "Y"),
    "p_channel_event": ("N", "Y"),
    "p_channel_tv": ("N", "N", "Y"),
    "sm_type": ("EXPRESS", "LIBRARY"),
    "sm_carrier": ("DHL", "UPS", "BARIAN"),
    "r_reason_desc": ("too large", "too small"),
    "cc_name": ("North", "South"),
    "cc_manager": ("Dee", "Eli"),
    "cc_county": ("Polk", "Lake"),
    "web_name": ("site_0", "site_1"),
    "web_company_name": ("pri", "pri", "able"),
    "wp_char_count": (4100, 4500, 6000),
    "inv_quantity_on_hand": (0, 20, 60, 120, 150, 300, 420),
}


def loaded() -> Content:
    """The rows at the start."""
    return _Shop(SEED).loaded()


def batches() -> Iterator[Content]:
    """The whole content of the tables that change, batch by batch: new sales with their returns; other properties of what was
    sold and of who bought it; corrected and deleted sales; and all of that at once, in all tables."""
    shop = _Shop(SEED)
    shop.loaded()
    facts = frozenset(name for name in _TABLES if name.endswith(("_sales", "_returns", "inventory")))
    for number, (names, shares) in enumerate(
        (
            (facts, Shares(added=0.1)),
            (frozenset(_TABLES) - facts, Shares(added=0.5, updated=0.3)),
            (facts, Shares(updated=0.1, deleted=0.1)),
            (frozenset(_TABLES), Shares(0.06, 0.06, 0.06)),
        )
    ):
        yield shop.changed(random.Random(SEED + number), names, shares)


class Shares(NamedTuple):
    """How many of the rows of a table are added, updated and deleted."""

    added: float = 0
    updated: float = 0
    deleted: float = 0


class _Shop:
    """The content of all tables, and how it changes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.content: Content = {}
        self.keys = {name: list(range(1, size + 1)) for name, size in SIZES.items()}
        self.next_number = 1

    def loaded(self) -> Content:
        self.content = {"date_dim": [_day(each) for each in days()]}
        for table in TABLES:
            if table.name in SIZES:
                spread = {name: self.random.sample(pool, k=len(pool)) for name in table.names if (pool := POOLS.get(name))}
                self.content[table.name] = [
                    self.row(table.name, {table.key[0]: key, **{name: pool[key % len(pool)] for name, pool in spread.items()}})
                    for key in self.keys[table.name]
                ]
        self.content["inventory"] = [
            self.row("inventory", {"inv_date_sk": sk(dt.date(2000, *day)), "inv_item_sk": item, "inv_warehouse_sk": warehouse})
            for day in STOCK_DAYS
            for item in (1, 2, 3)
            for warehouse in (1, 2)
        ]
        for channel, orders in CHANNELS.items():
            sales = self.content[f"{channel}_sales"] = [row for _ in range(orders) for row in self.order(channel)]
            self.content[f"{channel}_returns"] = [row for sale in sales if (row := self.returned(channel, sale)) is not None]
        return {name: list(rows) for name, rows in self.content.items()}

    def order(self, channel: str) -> Iterator[Row]:
        """The lines of an order, which have its day and its customer."""
        table, (item, number) = f"{channel}_sales", _TABLES[f"{channel}_sales"].key
        names = _TABLES[table].names
        self.next_number += 1
        common = dict(zip(names, self.row(table, {item: None, number: self.next_number}), strict=True))
        of_line = {name for name in names if name in _DECIMALS or name.endswith(("quantity", "warehouse_sk", "promo_sk"))}
        for each in self.random.sample(range(1, SIZES["item"] + 1), self.random.choice((1, 2, 2, 3))):
            kept = {name: value for name, value in common.items() if name not in of_line}
            yield self.row(table, {**kept, item: each})

    def returned(self, channel: str, sale: Row) -> Row | None:
        """The return of some sales, with what it has in common with the sale. Of every third order nothing is returned."""
        sold = dict(zip(_TABLES[f"{channel}_sales"].names, sale, strict=True))
        number = sold[_TABLES[f"{channel}_sales"].key[1]]
        if self.random.random() > RETURNED or (isinstance(number, int) and number % 3 == 0):
            return None
        returns = _TABLES[f"{channel}_returns"]
        known: dict[str, Value] = {}
        for name, value in zip(returns.key, (sold[each] for each in _TABLES[f"{channel}_sales"].key), strict=True):
            known[name] = value
        customer = {"store": "ss_customer_sk", "catalog": "cs_bill_customer_sk", "web": "ws_bill_customer_sk"}[channel]
        for name in returns.names:
            if name.endswith("customer_sk"):
                known[name] = sold[customer]
            elif name == "sr_store_sk":
                known[name] = sold["ss_store_sk"]
            elif name in ("cr_call_center_sk", "cr_catalog_page_sk"):
                known[name] = sold["cs" + name[2:]]
        return self.row(returns.name, known)

    def row(self, table: str, known: Mapping[str, Value]) -> Row:
        """A row with these values, and others drawn."""
        return tuple(known[name] if name in known else self.value(table, name) for name in _TABLES[table].names)

    def value(self, table: str, name: str) -> Value:
        if name in POOLS:
            return self.random.choice(POOLS[name])
        if name.endswith("date_sk"):
            return None if self.random.random() < MISSING / 2 else self.random.choice(_LIKELY_DAYS)
        for end, referred in REFERENCES.items():
            if name.endswith(end):
                return None if self.random.random() < MISSING else self.random.choice(self.keys[referred])
        if name.endswith("quantity"):
            return self.random.choice((None, *range(1, 21))) if self.random.random() < 0.1 else self.random.randint(1, 20)
        if name in _DECIMALS:
            return self.random.choice(GAINS if name.endswith("profit") else MONEY)
        return f"{name.partition('_')[2]} {self.random.randint(1, 4)}"

    def changed(self, drawn: random.Random, names: Collection[str], shares: Shares) -> Content:
        """The content of these tables after such shares of their rows were added, updated and deleted."""
        self.random = drawn
        for name in sorted(names):
            kept = [self.edited(name, row) if drawn.random() < shares.updated else row for row in self.content[name]]
            deleted = shares.deleted / (3 if name == "date_dim" else 1)
            self.content[name] = [row for row in kept if drawn.random() >= deleted]
            if name in SIZES and drawn.random() < shares.added:
                self.keys[name].append(max(self.keys[name]) + 1)
                self.content[name].append(self.row(name, {_TABLES[name].key[0]: self.keys[name][-1]}))
        for channel in CHANNELS if "store_sales" in names else ():
            sales = self.content[f"{channel}_sales"]
            new = [row for _ in range(round(shares.added * len(sales))) for row in self.order(channel)]
            sales += new
            self.content[f"{channel}_returns"] += [row for sale in new if (row := self.returned(channel, sale)) is not None]
        return {name: list(self.content[name]) for name in sorted(names)}

    def edited(self, table: str, row: Row) -> Row:
        """The row with a few other values. A day stays what it is."""
        if table == "date_dim":
            return row
        names = _TABLES[table].names
        others = [name for name in names if name not in _TABLES[table].key]
        chosen = self.random.sample(others, k=min(4, len(others)))
        return tuple(self.value(table, name) if name in chosen else cell for name, cell in zip(names, row, strict=True))


def days() -> Iterator[dt.date]:
    for year in (1999, 2000, 2001):
        yield from (dt.date(year, 1, day) for day in range(1, 15))
        yield from (dt.date(year, *each) for each in SOME_DAYS)


def sk(day: dt.date) -> int:
    return (day - FIRST_DAY).days + 1


def _day(day: dt.date) -> Row:
    month = (day.year - 1900) * 12 + day.month - 1
    week = (day - dt.date(1998, 12, 27)).days // 7  # from a Sunday
    dow = (day.weekday() + 1) % 7
    return (
        *(sk(day), day.isoformat(), month, week, day.year, day.month, day.day, (day.month + 2) // 3, dow),
        day.strftime("%A"),
    )


# Two thirds of what happens is in the first two weeks of 2000, and much of that on one day.
_LIKELY_DAYS = (
    *(sk(dt.date(2000, 1, day)) for day in range(1, 15)),
    *[sk(dt.date(2000, 1, 5))] * 9,
    *(sk(dt.date(2000, *each)) for each in SOME_DAYS),
    *(sk(dt.date(2001, 1, day)) for day in range(1, 15)),
    *(sk(dt.date(1999, *each)) for each in ((1, 5), (12, 15))),
)
_TABLES = {table.name: table for table in TABLES}
_DECIMALS = {name for table in TABLES for name, kind in table.columns if kind.startswith("decimal")}
