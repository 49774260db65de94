"""How the columns of each source are made from the number of a row."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.brokerage.world import Columns, Rows, World

CITIES = ("Leeds", "Lyon", "Graz", "Turin", "Porto", "Łódź", "Bergen", "Gent")
COUNTRIES = ("GB", "FR", "AT", "IT", "PT", "PL", "NO", "BE")
NAMES = ("anna", "Bo", "CHEN", "Dora", "emil", "Fay", "Gus", "Ída", "Jan", "Kai", "Lea", "Mia", "Noor", "Olaf")
KINDS = ("TMB", "TMB", "TLB", "TMS", "TLS")


def person(rows: Rows, of: str) -> Columns:
    """Name and address of the customer with this number."""
    return {
        "last_name": f"concat('von ', {rows.pick(1, *NAMES, of=of)}, {of} % 50)",
        "first_name": rows.pick(2, *NAMES, of=of),
        "address": f"concat({of} % 90 + 1, ' ', {rows.pick(3, 'Mill Lane', 'High Street', 'Quay', of=of)})",
        "postal_code": f"concat('{rows.world.seed}', {of} % 7, ' ', {rows.draw(4, 900, of)})",
        "city": rows.pick(5, *CITIES, of=of),
        "country": rows.pick(5, *COUNTRIES, of=of),
    }


def customer_actions(rows: Rows) -> Columns:
    known = person(rows, "id")
    action = "'NEW'" if rows.version == 0 else f"if({rows.redraw(10, 12)} = 0, 'INACT', ' updcust')"
    country = rows.pick(5, *COUNTRIES)
    return {
        "cdc_sequence": rows.sequence,
        "action": action,
        "action_ts": rows.moment(11),
        "customer_id": "id",
        "tax_number": rows.sometimes(12, f"lpad({rows.draw(13, 999_983)}, 9, '0')"),
        "gender": rows.sometimes(14, rows.pick(15, "m", "F", "f", "", None)),
        "tier": rows.sometimes(16, f"1 + {rows.redraw(17, 3)}"),
        "date_of_birth": rows.sometimes(18, f"date_sub({rows.world.date('0')}, cast(6600 + {rows.draw(19, 20_000)} as int))"),
        **{name: rows.sometimes(20 + number, known[name]) for number, name in enumerate(("last_name", "first_name"))},
        "address": rows.sometimes(22, known["address"] if rows.version == 0 else f"concat({rows.redraw(23, 99)}, ' New Road')"),
        **{name: rows.sometimes(24, known[name]) for name in ("postal_code", "city", "country")},
        "email": rows.sometimes(25, f"concat('C', id, '@Mail{rows.version}.example')"),
        "local_tax_id": rows.sometimes(26, f"concat({country}, {rows.redraw(27, 3)})"),
        "national_tax_id": rows.sometimes(28, f"concat({country}, '9')"),
    }


def account_actions(rows: Rows) -> Columns:
    world = rows.world
    return {
        "cdc_sequence": rows.sequence,
        "action": "'ADDACCT'" if rows.version == 0 else f"if({rows.redraw(30, 10)} = 0, 'CLOSEACCT', 'UPDACCT')",
        "action_ts": rows.moment(31),
        "account_id": "id",
        "customer_id": rows.sometimes(32, f"id % {world.customers}"),
        "broker_id": rows.sometimes(33, rows.redraw(34, world.employees)),
        "account_name": rows.sometimes(
            35, f"concat({rows.pick(36, 'Savings ', 'Pension ', 'Day trading ')}, id, '.{rows.version}')"
        ),
        "tax_status": rows.sometimes(37, rows.redraw(38, 3)),
    }


def employees(rows: Rows) -> Columns:
    return {
        "employee_id": "id",
        "manager_id": f"if(id < 5, null, {rows.draw(40, 5)})",
        "first_name": rows.pick(41, *NAMES),
        "last_name": f"concat('Vik', {rows.draw(42, 700)})",
        "job_code": f"if({rows.draw(43, 3)} = 0, 500, 314)",
        "branch": rows.pick(44, *CITIES),
        "office": f"concat('R', {rows.draw(45, 40)})",
        "phone": f"concat('+44 (0) ', {rows.draw(46, 9_999_999)})",
        "hired_on": f"date_sub({rows.date}, cast({rows.draw(47, 9000)} as int))",
    }


def companies(rows: Rows) -> Columns:
    fields = (
        "'CMP'",
        "id",
        "concat('Company ', id)",
        f"if({rows.redraw(50, 20)} = 0, 'INAC', 'ACTV')",
        f"concat('I', {rows.draw(51, 20)})",
        rows.world.pick(52, "AAA", "A", "BBB", "BB", "C", "", of=f"id, {rows.version}"),
        f"date_format(date_sub({rows.world.date('0')}, cast({rows.draw(53, 20_000)} as int)), 'yyyyMMdd')",
        rows.pick(54, *CITIES),
        rows.pick(54, *COUNTRIES),
        f"concat('Chief {rows.version} of ', id)",
    )
    return _line(rows, 0, "CMP", fields)


def securities(rows: Rows) -> Columns:
    company = rows.draw(60, rows.world.companies)
    fields = (
        "'SEC'",
        symbol(),
        rows.pick(61, "COMMON", "PREF_A", "PREF_B"),
        f"if({rows.redraw(62, 20)} = 0, 'INAC', 'ACTV')",
        "concat('Share ', id)",
        rows.pick(63, "NYSE", "LSE", "XETRA"),
        f"1000 + {rows.redraw(64, 1_000_000)}",
        "'20150102'",
        f"cast({rows.redraw(65, 500)} / 100 as decimal(10, 2))",
        f"if(id % 3 = 0, concat('Company ', {company}), cast({company} as string))",
    )
    return _line(rows, 1, "SEC", fields)


def financials(rows: Rows) -> Columns:
    """One row per company and quarter; the days of the history have seven of them."""
    world = rows.world
    start = f"add_months(trunc({world.date('0')}, 'QUARTER'), cast(3 * (id div {world.companies}) as int))"
    fields = (
        "'FIN'",
        f"year({start})",
        f"quarter({start})",
        f"cast(1000 + {rows.redraw(70, 9_000_000)} as decimal(15, 2))",
        f"cast({rows.redraw(71, 900_000)} - 50000 as decimal(15, 2))",
        f"{rows.draw(72, 90_000)}",
        f"id % {world.companies}",
    )
    return _line(rows, 2, "FIN", fields)


def _line(rows: Rows, kind: int, record_type: str, fields: tuple[str, ...]) -> Columns:
    return {
        "line_number": f"({rows.sequence}) * 3 + {kind}",
        "posted_at": rows.moment(80 + kind),
        "record_type": f"'{record_type}'",
        "line": f"concat_ws('|', {', '.join(fields)})",
    }


def symbol(of: str = "id") -> str:
    return f"concat('SYM', lpad({of}, 5, '0'))"


def daily_market(rows: Rows) -> Columns:
    of = f"id % {rows.world.securities}"
    wave = f"1 + 0.3 * sin(id / {40 * rows.world.securities} + {of})"
    close = f"(20 + {rows.draw(90, 300, of)}) * ({wave}) + {rows.redraw(91, 300)} / 100"
    return {
        "cdc_flag": f"'{rows.flag}'",
        "cdc_sequence": rows.sequence,
        "market_date": rows.world.date(f"id div {rows.world.securities}"),
        "symbol": symbol(of),
        "close_price": close,
        "high_price": f"{close} + {rows.redraw(92, 200)} / 100",
        "low_price": f"{close} - {rows.redraw(93, 200)} / 100",
        "volume": rows.redraw(94, 1_000_000),
    }


def watch_events(rows: Rows) -> Columns:
    return {
        "cdc_sequence": rows.sequence,
        "customer_id": rows.draw(100, rows.world.customers),
        "symbol": symbol(rows.draw(101, rows.world.securities)),
        "event_ts": rows.moment(102),
        "action": "'ACTV'" if rows.version == 0 else "'CNCL'",
    }


def trades(rows: Rows) -> Columns:
    world, price = rows.world, f"(2000 + {rows.redraw(110, 30_000)}) / 100"
    return {
        "cdc_flag": f"'{rows.flag}'",
        "cdc_sequence": rows.sequence,
        "trade_id": "id",
        "trade_ts": rows.moment(111),
        "status_id": "'CMPT'"
        if rows.version
        else f"case when {_open('id')} then 'SBMT' when id % 31 = 0 then 'CNCL' else 'CMPT' end",
        "trade_type_id": kind(world),
        "is_cash": f"{rows.draw(112, 2)} = 0",
        "symbol": symbol(rows.draw(113, world.securities)),
        "quantity": quantity(world),
        "bid_price": f"{price} - 0.5",
        "account_id": rows.draw(114, world.accounts),
        "executed_by": rows.pick(115, *NAMES),
        "trade_price": price,
        "fee": f"if({rows.draw(116, 9)} = 0, null, {rows.draw(117, 500)} / 100)",
        "commission": f"{rows.redraw(118, 3000)} / 100",
        "tax": f"{rows.draw(119, 200)} / 100",
    }


def _open(trade: str) -> str:
    """Whether the trade is not done when it is first delivered."""
    return f"{trade} % 29 = 0"


def kind(world: World, trade: str = "id") -> str:
    return world.pick(120, *KINDS, of=trade)


def quantity(world: World, trade: str = "id") -> str:
    return f"10 + {world.draw(121, 990, trade)}"


def trade_events(rows: Rows) -> Columns:
    """Three numbers for each trade: it is submitted; it waits, if it has a limit; it is done, perhaps within the same second."""
    trade, step = "id div 3", "id % 3"
    second = f"32400 + {rows.draw(130, 480 * 60, trade)} + {step} * {rows.draw(131, 120, trade)}"
    return {
        "trade_id": trade,
        "event_ts": rows.world.moment(rows.day, second),
        "status_id": f"case {step} when 0 then 'SBMT' when 1 then 'PNDG' else if({trade} % 31 = 0, 'CNCL', 'CMPT') end",
    }


def is_event(world: World) -> str:
    waits = f"(id % 3 = 1 and substr({kind(world, 'id div 3')}, 2, 1) = 'L')"
    return f"(id % 3 = 0 or {waits} or (id % 3 = 2 and not ({_open('id div 3')})))"


def cash_transactions(rows: Rows) -> Columns:
    """All versions of a payment have its time, as those of a price have its day."""
    return {
        "cdc_flag": f"'{rows.flag}'",
        "cdc_sequence": rows.sequence,
        "account_id": rows.draw(140, rows.world.accounts),
        "transaction_ts": rows.world.moment(
            f"id * {rows.world.days} div {rows.world.payments}", f"40000 + {rows.draw(141, 20_000)}"
        ),
        "amount": f"({rows.redraw(142, 2_000_000)} - 800000) / 100",
        "description": f"concat({rows.pick(143, 'Deposit ', ' Dividend ', 'Withdrawal ')}, id)",
    }


def holding_changes(rows: Rows) -> Columns:
    """A purchase opens a holding; a sale reduces one that an earlier trade opened."""
    world, is_sale = rows.world, f"endswith({kind(rows.world)}, 'S')"
    opening = f"(id - 1 - {rows.draw(150, 40)})"
    return {
        "cdc_flag": f"'{rows.flag}'",
        "cdc_sequence": rows.sequence,
        "opening_trade_id": f"if({is_sale}, greatest(0, {opening}), id)",
        "trade_id": "id",
        "quantity_before": f"if({is_sale}, {quantity(world, opening)}, 0)",
        "quantity_after": f"if({is_sale}, {rows.redraw(151, 10)}, {quantity(world)})",
    }


def prospects(rows: Rows) -> Columns:
    """Each third is a customer whose name and address are written in another way."""
    of = f"if(id % 3 = 0, id, id + {10 * rows.world.customers})"
    known = {**person(rows, of)}
    return {
        "agency_id": "concat('AG', lpad(id, 8, '0'))",
        **known,
        "last_name": f"upper({known['last_name']})",
        "address": f"concat({known['address']}, ' ')",
        "income": f"20000 + {rows.draw(160, 250_000)}",
        "number_of_cars": rows.draw(161, 6),
        "number_of_children": rows.draw(162, 6),
        "age": f"18 + {rows.draw(163, 70)}",
        "credit_rating": f"400 + {rows.draw(164, 450)}",
        "own_or_rent": rows.pick(165, "O", "R", "U", None),
        "number_of_credit_cards": rows.draw(166, 9),
        "net_worth": f"{rows.draw(167, 2_000_000)} - 100000",
    }


def calendar(rows: Rows) -> Columns:
    return {
        "calendar_date": rows.world.date("id"),
        "is_holiday": f"date_format({rows.world.date('id')}, 'MMdd') in ('0101', '0501', '1225')",
        "fiscal_year": f"year(add_months({rows.world.date('id')}, 6))",
        "fiscal_quarter": f"quarter(add_months({rows.world.date('id')}, 6))",
    }


def times_of_day(rows: Rows) -> Columns:
    return {"minute_of_day": "id", "hour_of_day": "id div 60", "is_market_open": "id between 540 and 1050"}


def _of_table(*rows: tuple[str, ...]) -> Callable[[Rows], Columns]:
    """Rows that are listed, by their numbers; a number after the last one gives a row that is like the first."""

    def columns(made: Rows) -> Columns:
        found = {}
        for place, name in enumerate(rows[0]):
            listed = ", ".join(each[place] for each in rows[1:])
            found[name] = f"coalesce(get(array({listed}), cast(id as int)), {_further(rows[1][place], place)})"
        return found

    return columns


def _further(first: str, place: int) -> str:
    """The value of a row that is not listed: the first column identifies it."""
    return first if place or not first.startswith("'") else "concat('X', id)"


status_types = _of_table(
    ("status_id", "status_name"),
    ("'ACTV'", "'active'"),
    ("'CMPT'", "'completed'"),
    ("'CNCL'", "'canceled'"),
    ("'INAC'", "'inactive'"),
    ("'PNDG'", "'pending'"),
    ("'SBMT'", "'submitted'"),
)
trade_types = _of_table(
    ("trade_type_id", "trade_type_name", "is_sell", "is_market"),
    ("'TMB'", "'Market Buy'", "false", "true"),
    ("'TMS'", "'Market Sell'", "true", "true"),
    ("'TLB'", "'Limit Buy'", "false", "false"),
    ("'TLS'", "'Limit Sell'", "true", "false"),
)


def industries(rows: Rows) -> Columns:
    return {"industry_id": "concat('I', id)", "industry_name": "concat('Industry ', id)", "sector": "concat('Sector ', id % 4)"}


def tax_rates(rows: Rows) -> Columns:
    place = "id % 4"
    return {
        "tax_id": f"concat(coalesce(get(array({', '.join(repr(each) for each in COUNTRIES)}), cast(id div 4 as int)), 'ZZ'), "
        f"if({place} = 3, '9', cast({place} as string)))",
        "tax_name": "concat('Tax ', id)",
        "rate": f"if({place} = 3, 0.2, 0.05) + {rows.draw(170, 100)} / 10000",
    }
