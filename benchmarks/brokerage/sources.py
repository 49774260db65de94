"""The sources: how many rows each has, which versions of them come, and what is corrected later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.brokerage import columns as made
from benchmarks.brokerage.world import Columns, Rows, World


@dataclass(frozen=True)
class Source:
    """A table, or a kind of rows of one. `rows` are those of the history, which come in `span` days (default: all) `since` one.

    `updated`: the share of rows of which the history has a second version. `logged`: later versions and deletions are rows, too.
    `kept` and `only` are conditions: of rows that are made, and of rows of the table that are of this kind.
    `key`: by its hash rows are chosen; `correction`: what is set in some of them later.
    """

    table: str
    rows: Callable[[World], int]
    columns: Callable[[Rows], Columns]
    key: str
    correction: str
    since: int = 0
    span: int | None = None
    updated: float = 0
    logged: bool = False
    resent: bool = False
    kept: Callable[[World], str] | None = None
    only: str = "true"


SOURCES: tuple[Source, ...] = (
    Source(
        "customer_actions",
        lambda w: w.customers,
        made.customer_actions,
        "cdc_sequence",
        "email = concat('fixed', email)",
        span=5,
        updated=1,
        logged=True,
        resent=True,
    ),
    Source(
        "account_actions",
        lambda w: w.accounts,
        made.account_actions,
        "cdc_sequence",
        "action_ts = action_ts - interval 1 hour",
        since=5,
        span=5,
        updated=0.5,
        logged=True,
    ),
    Source("employees", lambda w: w.employees, made.employees, "employee_id", "branch = 'Leeds', phone = null", span=1),
    Source(
        "newswire",
        lambda w: w.companies,
        made.companies,
        "line_number",
        "line = replace(line, '|ACTV|', '|INAC|')",
        span=1,
        updated=0.5,
        logged=True,
        only="record_type = 'CMP'",
    ),
    Source(
        "newswire",
        lambda w: w.securities,
        made.securities,
        "line_number",
        "line = replace(line, '|NYSE|', '|LSE|')",
        since=1,
        span=4,
        updated=0.3,
        logged=True,
        only="record_type = 'SEC'",
    ),
    Source(
        "newswire",
        lambda w: 7 * w.companies,
        made.financials,
        "line_number",
        "line = replace(line, '1', '2')",
        updated=0.05,
        logged=True,
        only="record_type = 'FIN'",
    ),
    Source(
        "daily_market",
        lambda w: w.days * w.securities,
        made.daily_market,
        "cdc_sequence",
        "close_price = close_price + 1, low_price = low_price - 2",
        updated=0.02,
        logged=True,
        resent=True,
        kept=lambda w: f"dayofweek({w.date(f'id div {w.securities}')}) between 2 and 6",
    ),
    Source(
        "watch_events",
        lambda w: w.trades // 4,
        made.watch_events,
        "cdc_sequence",
        "event_ts = event_ts - interval 2 days",
        updated=0.3,
        logged=True,
    ),
    Source(
        "trades",
        lambda w: w.trades,
        made.trades,
        "trade_id",
        "commission = commission + 1, quantity = quantity + 10",
        updated=0.1,
        logged=True,
        resent=True,
    ),
    Source(
        "trade_events",
        lambda w: 3 * w.trades,
        made.trade_events,
        "trade_id, event_ts",
        "event_ts = event_ts + interval 5 seconds",
        resent=True,
        kept=made.is_event,
    ),
    Source(
        "cash_transactions",
        lambda w: w.payments,
        made.cash_transactions,
        "cdc_sequence",
        "amount = amount - 5",
        updated=0.02,
        logged=True,
        resent=True,
    ),
    Source(
        "holding_changes",
        lambda w: w.trades,
        made.holding_changes,
        "cdc_sequence",
        "quantity_after = quantity_after + 1",
        updated=0.02,
        logged=True,
        kept=lambda w: "not (id % 31 = 0)",
    ),
    Source(
        "prospects",
        lambda w: 3 * w.customers,
        made.prospects,
        "agency_id",
        "income = income * 2, address = upper(address)",
        span=1,
    ),
    Source("industries", lambda w: 20, made.industries, "industry_id", "industry_name = concat(industry_name, '*')", span=1),
    Source("status_types", lambda w: 6, made.status_types, "status_id", "status_name = concat(status_name, ' ')", span=1),
    Source("tax_rates", lambda w: 4 * len(made.COUNTRIES), made.tax_rates, "tax_id", "rate = rate + 0.001", span=1),
    Source("trade_types", lambda w: 4, made.trade_types, "trade_type_id", "trade_type_name = upper(trade_type_name)", span=1),
    Source("calendar", lambda w: w.days, made.calendar, "calendar_date", "is_holiday = not is_holiday", span=1),
    Source("times_of_day", lambda w: 1440, made.times_of_day, "minute_of_day", "is_market_open = not is_market_open", span=1),
)
