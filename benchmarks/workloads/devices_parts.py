"""The parameter experiments of the idIVM paper (its figures 11 and 12): devices, their parts, and prices that change.

At scale 1 the relations have the paper's sizes: 5M parts, 5M devices, and `fanout` parts for each device, by default 50M
links. `selectivity` is the percentage of devices that are phones. The paper varies the number d of updated prices, the
number j of joins, selectivity and fanout; only prices are updated. `batch` is the number of the load that wrote the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.workload import Change, Query, Step, Table, Workload

SIZE = 5_000_000
# Coprime to every size used here, so that the parts of one device differ.
STRIDE = 7919
MOST_JOINS = 6

VIEW = """
select dp.did, dp.pid, p.price
from devices_parts.devices_parts dp
join devices_parts.parts p on p.pid = dp.pid
join devices_parts.devices d on d.did = dp.did
where d.category = 'phone'"""

TOTAL = """
select dp.did, sum(p.price) as cost
from devices_parts.devices_parts dp
join devices_parts.parts p on p.pid = dp.pid
join devices_parts.devices d on d.did = dp.did
where d.category = 'phone'
group by dp.did"""

LEFT = """
select d.did, d.category, dp.pid, p.price
from devices_parts.devices d
left join devices_parts.devices_parts dp on dp.did = d.did
left join devices_parts.parts p on p.pid = dp.pid and p.price > 900"""

# As a careful user writes them: what one batch of parts makes of the view. Both know that nothing but prices changes.
VIEW_MERGE = f"""
merge into $lane.view v
using ({VIEW} and p.batch = $batch) n on v.did = n.did and v.pid = n.pid
when matched then update set price = n.price"""

TOTAL_MERGE = """
merge into $lane.total v
using (
  select dp.did, sum(p.price) as cost
  from devices_parts.devices_parts dp
  join devices_parts.parts p on p.pid = dp.pid
  join devices_parts.devices d on d.did = dp.did
  where d.category = 'phone' and dp.did in (
    select t.did from devices_parts.devices_parts t join devices_parts.parts c on c.pid = t.pid where c.batch = $batch)
  group by dp.did
) n on v.did = n.did
when matched then update set cost = n.cost"""


def workload(scale: float = 1.0, fanout: int = 10, selectivity: int = 20) -> Workload:
    size = round(SIZE * scale)
    links = Table(
        "devices_parts",
        f"""
        select id div {fanout} as did, pmod(pmod(xxhash64(id div {fanout}), {size}) + id % {fanout} * {STRIDE}, {size}) as pid
        from range(0, {size * fanout}, 1, {_files(size * fanout)})""",
        ("did", "pid"),
    )
    return Workload(
        name="devices_parts",
        tables=(
            Table(
                "parts",
                f"""
                select id as pid, cast(pmod(xxhash64(id, 1), 100000) / 100 as decimal(10, 2)) as price, 0 as batch
                from range(0, {size}, 1, {_files(size)})""",
                ("pid",),
            ),
            Table(
                "devices",
                f"""
                select id as did, if(pmod(xxhash64(id, 2), 100) < {selectivity}, 'phone', 'tablet') as category, 0 as batch
                from range(0, {size}, 1, {_files(size)})""",
                ("did",),
            ),
            links,
            *(_extra(number, links) for number in range(1, MOST_JOINS - 1)),
        ),
        queries=(
            Query("view", VIEW, ("did", "pid"), merge=VIEW_MERGE, merge_for=("prices",)),
            Query("total", TOTAL, ("did",), merge=TOTAL_MERGE, merge_for=("prices",)),
            Query("left", LEFT, ("did", "pid"), without={"dbt_incremental": "as for `total`"}),
            *(_joins(number) for number in range(2, MOST_JOINS + 1)),
        ),
        changes=(
            Change("prices", "parts", prices),
            Change("categories", "devices", categories),
            Change("links", "devices_parts", links_moved),
            Change("mixed", "parts", mixed),
        ),
    )


def _files(rows: int) -> int:
    return max(2, rows // 4_000_000)


def _extra(number: int, links: Table) -> Table:
    """R1, R2, ..: one row for each link, as if the links had been divided by columns."""
    rows = f"select did, pid, pmod(xxhash64(did, pid, {number}), 1000) as r{number} from ({links.rows})"
    return Table(f"r{number}", rows, ("did", "pid"))


def _joins(number: int) -> Query:
    """The sum over `number` joins; as in the paper without the selection, so that only the joins differ."""
    extra = range(1, number - 1)
    joined = "".join(f"\njoin devices_parts.r{n} on r{n}.did = dp.did and r{n}.pid = dp.pid" for n in extra)
    weights = "".join(f" + r{n}.r{n}" for n in extra)
    return Query(
        f"joins_{number}",
        f"""
select dp.did, sum(p.price{weights}) as cost
from devices_parts.devices_parts dp
join devices_parts.parts p on p.pid = dp.pid
join devices_parts.devices d on d.did = dp.did{joined}
group by dp.did""",
        ("did",),
        without={"dbt_incremental": "as for `total`"},
    )


def prices(step: Step) -> Sequence[str]:
    """The paper's change: new prices, spread over all parts. No condition and no group depends on a price."""
    return (
        f"""update devices_parts.parts set price = price + 1, batch = {step.number}
                where pmod(pid + {step.number * 31}, {step.every}) = 0""",
    )


def categories(step: Step) -> Sequence[str]:
    """Devices become phones, and phones tablets: the condition's own column."""
    return (
        f"""update devices_parts.devices set category = if(category = 'phone', 'tablet', 'phone'), batch = {step.number}
                where pmod(did + {step.number * 31}, {step.every}) = 0""",
    )


def links_moved(step: Step) -> Sequence[str]:
    """Half of the rows are deleted links, half are inserted links of new devices to old parts."""
    half = max(1, step.rows // 2)
    first = 10**12 * step.number
    return (
        f"delete from devices_parts.devices_parts where pmod(xxhash64(did, pid, {step.number}), {2 * step.every}) = 0",
        f"insert into devices_parts.devices select {first} + id, 'phone', {step.number} from range({half})",
        f"""insert into devices_parts.devices_parts
                select {first} + id, pid from (select row_number() over (order by pid) - 1 as id, pid
                    from (select pid from devices_parts.parts where pmod(pid, {2 * step.every}) = 0 limit {half}))""",
    )


def mixed(step: Step) -> Sequence[str]:
    """Every table has updated, deleted and inserted rows: a row for each two hundred new prices in the smaller parts."""
    some, first = max(1, step.rows // 40), 10**12 * step.number
    every, salt = step.every * 20, step.number * 31
    return (
        *prices(step),
        f"delete from devices_parts.parts where pmod(pid + {salt + 7}, {every}) = 0",
        f"insert into devices_parts.parts select {first} + id, 950.5, {step.number} from range({4 * some})",
        f"delete from devices_parts.devices_parts where pmod(did + {salt + 11}, {every}) = 0",
        *categories(replace(step, rows=some)),
        f"delete from devices_parts.devices where pmod(did + {salt + 13}, {every}) = 0",
        f"insert into devices_parts.devices select {first} + id, 'phone', {step.number} from range({some})",
        f"""insert into devices_parts.devices_parts
                select {first} + id % {some}, if(id % 2 = 0, pid, {first} + id % {4 * some})
                from (select row_number() over (order by pid) - 1 as id, pid
                    from (select pid from devices_parts.parts where pmod(pid, {step.every}) = 0 limit {4 * some}))""",
    )
