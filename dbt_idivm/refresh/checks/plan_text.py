"""A normal form of Spark's optimised plans as EXPLAIN prints them: plans with equal forms compute the same bag of rows.

Only differences that certainly do not matter are removed: names and numbers of attributes, the order of AND, projections, INNER
and CROSS, and an `isnotnull` implied by a comparison beside it. Anything that is not understood, or that a text cannot show,
raises `Unreadable`. A column is represented by its definition: `‹r1.2›` is the third column of the first table, `‹g1:count(1)›`
an aggregate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from dbt_idivm.refresh.checks.plan_expressions import Unreadable, check_brackets, conjuncts, is_odd, listed, not_null, unfiltered

_HEADING = "== Optimized Logical Plan =="
_LINE = re.compile(r"((?:[:\s] {2})*)(?:[:+]- )?(.*)")
_ATTRIBUTE = re.compile(r"#(\d+)L?")
_COLUMN = re.compile(r"([^#]*)#(\d+)L?(?:,|$)")
_RELATION = re.compile(r"Relation ([^\[\]\s]+)\[(.*)\] (\w+)")
_VARIABLE = re.compile(r"lambda [^\s,()#]+#(\d+)L?")
_SUBQUERY = re.compile(r"\bscalar-subquery#(\d+) \[\]")
# Spark adds this: it removes rows that would find no partner in a join above
_PRUNING = re.compile(r"dynamicpruning#\d+ \[[^\[\]]*\]")
_NAME = re.compile(r"(?!true$|false$)[^\[\]()#]+")  # the alias of a LATERAL VIEW
_CUT = re.compile(r"\.\.\. \d+ more fields|\.\.\.$", re.MULTILINE)
# A date or time literal of the query, or a cast from a text; constants are not folded.
_DATE = re.compile(r"\bcast\((\d{4}-\d\d-\d\d) as date\)")
_TIME = re.compile(r"\bcast\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?) as timestamp(?:_ntz)?\)")
_LONGEST = 1_000_000  # characters of a form: definitions that are used twice are written out twice


@dataclass(frozen=True)
class _Node:
    text: str
    children: tuple[_Node, ...]
    subqueries: tuple[_Node, ...]


@dataclass(frozen=True)
class _Column:
    number: str
    name: str
    definition: str


@dataclass(frozen=True)
class _Block:
    """The combinations of rows of all sources for which all conditions are true. `conditions`: condition → expressions that it
    implies not to be NULL."""

    sources: tuple[str, ...]
    conditions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    output: tuple[_Column, ...] = ()

    def where(self, conditions: Iterable[str]) -> _Block:
        found = {each: not_null(each) for each in conditions}
        return _Block(self.sources, {**self.conditions, **found}, self.output)

    @property
    def not_null(self) -> frozenset[str]:
        return frozenset().union(*self.conditions.values())

    def __str__(self) -> str:
        known = {f"isnotnull({each})" for each in self.not_null}
        text = f"{' × '.join(self.sources)} where {' and '.join(sorted(set(self.conditions) - known)) or 'true'}"
        if len(text) > _LONGEST:
            raise Unreadable("too long")
        return text


def normal_form(explained: str, literal: frozenset[str] = frozenset()) -> str:
    """The form of the optimised plan in a reply to EXPLAIN EXTENDED. Raises Unreadable.

    `literal`: numbers after a # in literals of the query.
    """
    _, heading, rest = explained.partition(_HEADING)
    plan = rest.partition("\n== ")[0].strip()
    if not heading or not plan or _CUT.search(plan) or _LINE.match(plan) is None:
        raise Unreadable("no whole plan")
    block = _Normal(literal).block(_parsed(_TIME.sub(r"\1", _DATE.sub(r"\1", plan))))
    return f"select {', '.join(column.definition for column in block.output)} from {block}"


def _parsed(plan: str) -> _Node:
    lines = [
        (len(found[1]) // 3 + (found[0] != found[1] + found[2]), found[2])
        for line in plan.splitlines()
        if (found := _LINE.fullmatch(line)) is not None
    ]
    root, rest = _node(lines, 0)
    if rest != len(lines) or len(lines) != len(plan.splitlines()):
        raise Unreadable("no tree")
    return root


def _node(lines: list[tuple[int, str]], at: int) -> tuple[_Node, int]:
    """The node in that line, and the number of the first line after it. Plans of subqueries are indented one level deeper than
    children."""
    depth, text = lines[at]
    below: dict[int, list[_Node]] = {1: [], 2: []}
    at += 1
    while at < len(lines) and lines[at][0] > depth:
        level = lines[at][0] - depth
        if level not in below:
            raise Unreadable("no tree")
        node, at = _node(lines, at)
        below[level].append(node)
    return _Node(text, tuple(below[1]), tuple(below[2])), at


class _Normal:
    """Converts one plan to its form. Tables, aggregates and unions are numbered in the order of their occurrence."""

    def __init__(self, literal: frozenset[str]) -> None:
        self._numbers = count(1)
        self._literal = literal

    def block(self, node: _Node) -> _Block:
        operator, _, rest = node.text.partition(" ")
        known = {
            "Relation": self._relation,
            "Project": self._project,
            "Filter": self._filter,
            "Join": self._join,
            "Aggregate": self._aggregate,
            "Union": self._union,
            "LocalRelation": self._empty,
            "GlobalLimit": self._limit,
            "LocalLimit": self._limit,
            "Window": self._window,
            "WindowGroupLimit": self._group_limit,
            "Generate": self._generate,
        }
        if operator not in known:
            raise Unreadable(operator)
        return known[operator](node, rest)

    def _relation(self, node: _Node, rest: str) -> _Block:
        found = _RELATION.fullmatch(node.text)
        if found is None:
            raise Unreadable(node.text)
        columns = _COLUMN.findall(found[2])
        if ",".join(name for name, _ in columns) != _ATTRIBUTE.sub("", found[2]) or any(is_odd(name) for name, _ in columns):
            raise Unreadable(node.text)
        label = f"r{next(self._numbers)}"
        output = tuple(_Column(number, name, f"‹{label}.{i}›") for i, (name, number) in enumerate(columns))
        return _Block((f"{label}={found[1]}({','.join(name for name, _ in columns)}) {found[3]}",), {}, self._told_apart(output))

    def _empty(self, node: _Node, rest: str) -> _Block:
        found = re.fullmatch(r"<empty>(?:, \[(.*)\])?", rest)
        if found is None:  # its rows are not shown
            raise Unreadable(node.text)
        return _Block(
            ("nothing",),
            {},
            tuple(_Column(number, name, "null") for name, number in (_item(each)[1:] for each in listed(found[1] or ""))),
        )

    def _limit(self, node: _Node, rest: str) -> _Block:
        """A LIMIT is readable only if all rows are equal, so that it does not matter which are taken. Spark evaluates
        uncorrelated EXISTS this way."""
        child = self.block(_only(node))
        if any("‹" in column.definition for column in child.output):
            raise Unreadable(node.text)
        return _Block((f"l{next(self._numbers)}={node.text} of ({child})",), {}, child.output)

    def _project(self, node: _Node, rest: str) -> _Block:
        child = self.block(_only(node))
        items = listed(_lists(rest, 1)[0]) if rest else []
        return _Block(child.sources, child.conditions, self._columns(items, child, node, "{}"))

    def _filter(self, node: _Node, rest: str) -> _Block:
        child = self.block(_only(node))
        found = [each for each in conjuncts(rest) if _PRUNING.fullmatch(each) is None]
        pruning = [each for each in conjuncts(rest) if each not in found]
        if pruning and len(pruning) != len(node.subqueries):
            raise Unreadable(node.text)
        node = replace(node, subqueries=()) if pruning else node
        return child.where(self._resolved(each, child, node) for each in found)

    def _join(self, node: _Node, rest: str) -> _Block:
        if len(node.children) != 2 or node.subqueries:
            raise Unreadable(node.text)
        kind, _, condition = rest.partition(", ")
        # a RIGHT JOIN b is b LEFT JOIN a
        first, second = reversed(node.children) if kind == "RightOuter" else node.children
        left, right = self.block(first), self.block(second)
        if {column.number for column in left.output} & {column.number for column in right.output}:
            raise Unreadable(node.text)  # ambiguous attributes
        both = _Block((*left.sources, *right.sources), {**left.conditions, **right.conditions}, left.output + right.output)
        conditions = list(conjuncts(self._resolved(condition, both, node))) if condition else []
        if kind in ("Inner", "Cross"):
            return both.where(conditions)
        if kind in ("LeftOuter", "RightOuter"):
            label = f"o{next(self._numbers)}"
            partners = _Block(right.sources, right.conditions).where(conditions)
            padded = _padded(label, right.output)
            output = (*padded, *left.output) if kind == "RightOuter" else (*left.output, *padded)
            return _Block((*left.sources, f"{label}=({partners}) or nulls"), left.conditions, output)
        if kind == "FullOuter":
            label = f"o{next(self._numbers)}"
            text = f"{label}=({left}) full outer ({right}) on {' and '.join(sorted(set(conditions))) or 'true'}"
            return _Block((text,), {}, _padded(f"{label}l", left.output) + _padded(f"{label}r", right.output))
        if kind not in ("LeftSemi", "LeftAnti"):
            raise Unreadable(node.text)
        partners = _Block(right.sources, right.conditions).where(conditions)
        test = f"{'' if kind == 'LeftSemi' else 'not '}exists ({partners})"
        found = partners.not_null if kind == "LeftSemi" else frozenset()
        return _Block(left.sources, {**left.conditions, test: found}, left.output)

    def _aggregate(self, node: _Node, rest: str) -> _Block:
        child = self.block(_only(node))
        lists = _lists(rest, 2)
        if len(lists) == 1:  # an empty list is not printed; only outputs have names
            lists = ["", lists[0]] if all(" AS " in each for each in listed(lists[0])) else [lists[0], ""]
        groups = sorted({self._resolved(each, child, node) for each in listed(lists[0])})
        label = f"g{next(self._numbers)}"
        output = self._columns(listed(lists[1]), child, node, f"‹{label}:{{}}›")
        one = "" if lists[0] else "one row, "
        return _Block((f"{label}=groups ({one}{', '.join(groups)}) of ({child})",), {}, output)

    def _window(self, node: _Node, rest: str) -> _Block:
        """Rows of the child with additional columns. Each is computed over all rows of the child."""
        child = self._whole(self.block(_only(node)))
        calls = self._columns(listed(_lists(rest, 3)[0]), child, node, f"‹{child.sources[0].partition('=')[0]}:{{}}›")
        return _Block(child.sources, {}, (*child.output, *calls))

    def _group_limit(self, node: _Node, rest: str) -> _Block:
        """The first rows of each partition. The condition above that removes the others is in the plan as well."""
        child = self.block(_only(node))
        text = self._resolved(rest, child, node)
        return _Block((f"f{next(self._numbers)}=first ({text}) of ({child})",), {}, child.output)

    def _generate(self, node: _Node, rest: str) -> _Block:
        """Each row combined with the elements of a collection: another source, which refers to the others."""
        child = self.block(_only(node))
        generator, *unused, outer, columns = (each for each in listed(rest) if not _NAME.fullmatch(each))
        name, _, collection = generator.partition("(")
        if name not in ("explode", "posexplode") or outer not in ("true", "false") or len(unused) > 1:
            raise Unreadable(node.text)
        label = f"e{next(self._numbers)}"
        made = [_item(each)[1:] for each in listed(_lists(columns, 1)[0])]
        parts = ("place", "first", "second") if name == "posexplode" else ("first", "second")
        added = tuple(_Column(number, called, f"‹{label}:{part}›") for (called, number), part in zip(made, parts, strict=False))
        dropped = {int(each) for each in listed(_lists(unused[0], 1)[0])} if unused else set()
        kept = tuple(column for at, column in enumerate(child.output) if at not in dropped)
        text = f"{label}=elements of ({self._resolved(collection, child, node)} {'or null' if outer == 'true' else ''}"
        return _Block((*child.sources, text), child.conditions, self._told_apart((*kept, *added)))

    def _whole(self, child: _Block) -> _Block:
        """The block as a single source without conditions, which window functions can refer to."""
        if len(child.sources) == 1 and not child.conditions and child.sources[0].startswith("w"):
            return child
        return _Block((f"w{next(self._numbers)}=all of ({child})",), {}, child.output)

    def _union(self, node: _Node, rest: str) -> _Block:
        branches = [self.block(child) for child in node.children]
        if rest != "false, false" or len({len(branch.output) for branch in branches}) != 1:
            raise Unreadable(node.text)
        label = f"u{next(self._numbers)}"
        output = tuple(
            _Column(first.number, first.name, f"‹{label}:{' | '.join(each.definition for each in (first, *others))}›")
            for first, *others in zip(*(branch.output for branch in branches), strict=True)
        )
        return _Block((f"{label}=({') union all ('.join(map(str, branches))})",), {}, output)

    def _with_subqueries(self, expression: str, node: _Node) -> str:
        """The expression with the forms of its subqueries inserted. The subqueries are uncorrelated."""
        numbers = list(dict.fromkeys(_SUBQUERY.findall(node.text)))
        if len(numbers) != len(node.subqueries):
            raise Unreadable(node.text)
        forms = {}
        for number, plan in zip(numbers, node.subqueries, strict=True):
            block = self.block(plan)
            forms[number] = f"‹select {', '.join(column.definition for column in block.output)} from {block}›"
        return _SUBQUERY.sub(lambda found: forms[found[1]], expression)

    def _columns(self, items: Iterable[str], child: _Block, node: _Node, form: str) -> tuple[_Column, ...]:
        found = []
        for definition, name, number in map(_item, items):
            resolved = self._resolved(definition if definition is not None else f"{name}#{number}", child, node)
            found.append(_Column(number, name, form.format(resolved)))
        return self._told_apart(tuple(found))

    def _told_apart(self, columns: tuple[_Column, ...]) -> tuple[_Column, ...]:
        """The columns. Raises Unreadable if a literal may look like one of them."""
        if not self._literal.isdisjoint(column.number for column in columns):
            raise Unreadable("a literal with a number")
        return columns

    def _resolved(self, expression: str, child: _Block, node: _Node) -> str:
        """The expression with its attributes replaced by their definitions."""
        check_brackets(expression)
        if node.subqueries:
            expression = self._with_subqueries(expression, node)
        variables = {number: f"‹x{i}›" for i, number in enumerate(dict.fromkeys(_VARIABLE.findall(expression)))}
        expression = _VARIABLE.sub(lambda found: variables[found[1]], expression)
        known = {column.number: column for column in child.output}
        parts, end = [], 0
        for found in _ATTRIBUTE.finditer(expression):
            column = known.get(found[1])
            if column is None and found[1] in self._literal:
                continue
            if column is None:
                raise Unreadable(expression)
            name = found.start() - len(column.name)
            if name < end or expression[name : found.start()].lower() != column.name.lower():  # spelled as in the query
                raise Unreadable(expression)
            parts += [expression[end:name], column.definition]
            end = found.end()
        return unfiltered("".join([*parts, expression[end:]]))


def _padded(label: str, columns: tuple[_Column, ...]) -> tuple[_Column, ...]:
    """The columns of an input of an outer join, which may be missing."""
    return tuple(replace(each, definition=f"‹{label}:{each.definition}›") for each in columns)


def _only(node: _Node) -> _Node:
    if len(node.children) != 1:
        raise Unreadable(node.text)
    return node.children[0]


def _item(text: str) -> tuple[str | None, str, str]:
    """An item of a list: its defining expression (None if it is only a reference), its name and its number."""
    body, _, number = text.rpartition("#")
    number = number.removesuffix("L")
    defining = max((found.end() for found in _ATTRIBUTE.finditer(body)), default=0)
    at = body.find(" AS ", defining)
    if not number.isdigit() or (at < 0 and defining):
        raise Unreadable(text)
    return (None, body, number) if at < 0 else (body[:at], body[at + len(" AS ") :], number)


def _lists(text: str, most: int) -> list[str]:
    """`[a, b], [c]` as ("a, b", "c"). Raises Unreadable for another form, or more than `most` lists."""
    found = listed(text)
    if not 0 < len(found) <= most or not all(each.startswith("[") and each.endswith("]") for each in found):
        raise Unreadable(text)
    return [each[1:-1] for each in found]
