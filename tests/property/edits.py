"""Pairs of models: one, and the same after edits that people make. Their text has a query in FROM that stays what it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.property.plans import Table
from tests.property.strategies import BIGINT, BOOLEAN, DOUBLE, INT, Column, Content, Draw, Grammar, literal, rows, schemas

EDITS = (
    "drop",
    "rename",
    "show",
    "compute",
    "narrow",
    "narrow",
    "widen",
    "widen",
    "values",
    "values",
    "look up",
    "look up",
    "join",
    "exists",
    "branch",
    "branch",
    "unbranch",
    "unbranch",
    "aggregate",
    "aggregate",
    "aggregate",
    "aggregate",
    "aggregate",
    "respell",
    "raw",
)


# Of a view over several tables, of which it shows a part.
MORE_COLUMNS = (
    "column",
    "column",
    "column",
    "raw",
    "narrow",
    "narrow",
    "drop",
    "rename",
    "values",
    "widen",
    "look up",
    "exists",
    "respell",
)


@dataclass(frozen=True)
class Branch:
    """SELECT items FROM (base) AS q joins WHERE tests GROUP BY groups. A test is (column, values) for IN, or a text."""

    items: tuple[tuple[str, str], ...]  # name, expression
    tests: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    cte: str = ""

    def sql(self, base: str) -> str:
        items = ", ".join(f"{text} AS {name}" for name, text in self.items)
        where = f" WHERE {' AND '.join(self.tests)}" if self.tests else ""
        by = f" GROUP BY {', '.join(self.groups)}" if self.groups else ""
        return f"SELECT {items} FROM {base} AS q{''.join(f' {each}' for each in self.joins)}{where}{by}"


@dataclass(frozen=True)
class Model:
    """Branches under UNION ALL. `named`: the query in FROM is a CTE of this name; without branches, the text of the model."""

    base: str
    branches: tuple[Branch, ...]
    named: str = ""

    @property
    def sql(self) -> str:
        if not self.branches:  # a text as it is
            return self.named
        base = self.named or f"({self.base})"
        text = " UNION ALL ".join(each.sql(base) for each in self.branches)
        return f"WITH {self.named} AS ({self.base}) {text}" if self.named else text


@dataclass(frozen=True)
class Pair:
    """A model before and after edits, and the rows of its tables."""

    tables: tuple[Table, ...]
    old: Model
    new: Model
    content: Content
    edits: tuple[str, ...]


class Editor:
    """Draws a model over a base query, and edits of it."""

    def __init__(self, draw: Draw, tables: tuple[Table, ...], columns: tuple[Column, ...]) -> None:
        self.grammar = Grammar(draw, tables)
        self.columns = [(f"q.{name}", kind) for name, kind in columns]
        self.tables, self.numbers = tables, iter(range(100))

    def one_of(self, *options: object) -> object:
        return self.grammar.one_of(*options)

    def model(self, base: str) -> Model:
        branches = tuple(self.branch() for _ in range(self.one_of(1, 1, 2)))
        if len(branches) > 1:  # of one type, by position
            first = branches[0]
            branches = tuple(replace(first, tests=each.tests) for each in branches)
        return Model(base, branches, str(self.one_of("", "w")))

    def branch(self) -> Branch:
        if self.one_of(True, False):
            groups = list(dict.fromkeys(str(self.one_of(*self.columns)[0]) for _ in range(self.one_of(1, 1, 2))))
            calls = [self.call() for _ in range(self.one_of(1, 2))]
            names = [f"c{number}" for number in range(len(groups) + len(calls))]
            return Branch(tuple(zip(names, [*groups, *calls], strict=True)), self.tests(), (), tuple(groups))
        shown = (
            [name for name, _ in self.columns]
            if self.one_of(True, False)
            else [str(self.one_of(*self.columns)[0]) for _ in range(self.one_of(1, 2, 3))]
        )
        items = [*shown, *([self.expression()] if self.one_of(True, False) else [])]
        return Branch(tuple((f"c{number}", text) for number, text in enumerate(items)), self.tests())

    def tests(self) -> tuple[str, ...]:
        return tuple(self.test() for _ in range(self.one_of(0, 1, 1, 2)))

    def test(self) -> str:
        name, kind = self.one_of(*self.columns)
        if self.one_of(True, False) and kind != DOUBLE:
            return f"{name} IN ({', '.join(literal(kind, number) for number in self.one_of((0,), (1,), (0, 1)))})"
        if kind in (INT, BIGINT) and self.one_of(True, False):
            return f"{name} {self.one_of('>', '>=', '<', '<=')} {self.one_of(0, 1, 2)}"
        return self.grammar.condition(self.columns)

    def expression(self) -> str:
        return self.grammar.expression(str(self.one_of(*self.columns)[1]), self.columns)

    def call(self) -> str:
        return self.grammar.aggregate(self.columns)[0]

    def edited(self, model: Model, edit: str) -> Model:
        """The model after the edit; the same one where it cannot have it."""
        if edit == "respell":
            named = "" if model.named else "w2"
            turned = tuple(replace(each, tests=tuple(reversed(each.tests))) for each in model.branches)
            return replace(model, named=named, branches=turned)
        if edit == "branch":
            new = replace(model.branches[-1], tests=self.tests())
            at = self.one_of(0, len(model.branches))
            return replace(model, branches=(*model.branches[:at], new, *model.branches[at:]))
        if edit == "unbranch":
            at = self.one_of(*range(len(model.branches)))
            left = (*model.branches[:at], *model.branches[at + 1 :])
            return replace(model, branches=left or model.branches)
        if edit in ("narrow", "widen", "values", "exists", "join"):
            at = self.one_of(*range(len(model.branches)))
            branches = [self.on(edit, each) if number == at else each for number, each in enumerate(model.branches)]
            return replace(model, branches=tuple(branches))
        first = self.on(edit, model.branches[0])
        return replace(
            model,
            branches=tuple(replace(each, items=first.items, joins=first.joins, groups=first.groups) for each in model.branches),
        )

    def on(self, edit: str, branch: Branch) -> Branch:
        items, grouped = branch.items, bool(branch.groups)
        fresh = f"n{next(self.numbers)}"
        if edit == "drop" and len(items) > 1:
            at = self.one_of(*range(len(items)))
            return replace(branch, items=(*items[:at], *items[at + 1 :]))
        if edit == "rename":
            at = self.one_of(*range(len(items)))
            return replace(branch, items=(*items[:at], (fresh, items[at][1]), *items[at + 1 :]))
        if edit == "show":
            text = self.one_of(*items)[1]
            return replace(branch, items=(*items, (fresh, self.one_of(str(text), f"coalesce({text}, {text})"))))
        if edit == "compute":
            at = self.one_of(*range(len(items)))
            text = f"CASE WHEN {items[at][1]} IS NULL THEN 1 ELSE 0 END"
            return replace(branch, items=(*items[:at], (items[at][0], text), *items[at + 1 :]))
        if edit == "column" and not grouped:
            return replace(branch, items=(*items, (fresh, str(self.one_of(*self.columns)[0]))))
        if edit == "raw" and not grouped:
            return replace(branch, items=(*items, (fresh, self.expression())))
        if edit == "narrow":
            test = (self.test(),)
            return replace(branch, tests=branch.tests + test if self.one_of(True, False) else test + branch.tests)
        if edit == "widen" and branch.tests:
            at = self.one_of(*range(len(branch.tests)))
            return replace(branch, tests=(*branch.tests[:at], *branch.tests[at + 1 :]))
        if edit == "values" and branch.tests:
            at = self.one_of(*range(len(branch.tests)))
            return replace(branch, tests=(*branch.tests[:at], self.loosened(branch.tests[at]), *branch.tests[at + 1 :]))
        if edit in ("look up", "join") and not grouped:
            return self.looked_up(branch, fresh, edit)
        if edit == "exists":
            return self.tested(branch, fresh)
        if edit == "aggregate" and grouped:
            return replace(branch, items=(*items, (fresh, self.call())))
        return branch

    def loosened(self, test: str) -> str:
        """A test that is true for more rows: another value, or another constant."""
        if " IN (" in test:
            name = test.partition(" IN ")[0]
            kind = dict(self.columns).get(name)
            return test if kind is None else f"{name} IN ({literal(kind, 0)}, {literal(kind, 1)})"
        for old, new in ((" > ", " >= "), (" < ", " <= ")):
            if old in test and "(" not in test:
                return test.replace(old, new)
        return f"({test} OR {self.test()})"

    def looked_up(self, branch: Branch, fresh: str, edit: str) -> Branch:
        """A join with a table by its key, or by another column."""
        table = self.one_of(*self.tables)
        pairs = [
            (mine, name) for mine, kind in self.columns for name, other in table.columns if kind == other and kind != BOOLEAN
        ]
        if not pairs:
            return branch
        keyed = [pair for pair in pairs if (pair[1],) == table.key]
        mine, name = self.one_of(*keyed) if keyed and self.one_of(True, True, False) else self.one_of(*pairs)
        kind = "LEFT JOIN" if edit == "look up" else "JOIN"
        join = f"{kind} {table.name} AS {fresh} ON {fresh}.{name} = {mine}"
        items = branch.items if edit == "join" else (*branch.items, (f"{fresh}v", f"{fresh}.{self.one_of(*table.names)}"))
        return replace(branch, joins=(*branch.joins, join), items=items)

    def tested(self, branch: Branch, fresh: str) -> Branch:
        table = self.one_of(*self.tables)
        pairs = [(mine, name) for mine, kind in self.columns for name, other in table.columns if kind == other and kind != DOUBLE]
        if not pairs:
            return branch
        mine, name = self.one_of(*pairs)
        word = self.one_of("EXISTS", "NOT EXISTS")
        test = f"{word} (SELECT 1 FROM {table.name} AS {fresh} WHERE {fresh}.{name} = {mine})"
        return replace(branch, tests=(*branch.tests, test))


@st.composite
def pairs(draw: Draw) -> Pair:
    """Tables, a model over a table or over a query, and one to three edits of it."""
    tables = draw(schemas())
    grammar = Grammar(draw, tables)
    if grammar.one_of(True, False):
        base, columns = grammar.query(0)
    else:
        table = grammar.one_of(*tables)
        base, columns = f"SELECT * FROM {table.name}", table.columns
    editor = Editor(draw, tables, tuple(columns))
    old = new = editor.model(base)
    edits = tuple(draw(st.lists(st.sampled_from(EDITS), min_size=1, max_size=draw(st.sampled_from((1, 1, 2, 3))))))
    for edit in edits:
        new = editor.edited(new, edit)
    content = {table.name: draw(rows(table, least=2)) for table in tables}
    return Pair(tables, old, new, content, edits)


@st.composite
def joined_pairs(draw: Draw) -> Pair:
    """A view over some tables, which may be read twice, that shows a part of their columns; edits that may read the rest."""
    tables = draw(schemas())
    editor = Editor(draw, tables, ())
    first = editor.one_of(*tables)
    editor.columns = [(f"q.{name}", kind) for name, kind in first.columns]
    joins = tuple(join for number in range(editor.one_of(1, 1, 2, 3)) if (join := joined(editor, f"j{number}")) is not None)
    shown = draw(st.lists(st.sampled_from(editor.columns), min_size=1, max_size=4, unique=True))
    items = tuple((f"c{number}", name) for number, (name, _) in enumerate(shown))
    old = new = Model(f"SELECT * FROM {first.name}", (Branch(items, editor.tests(), joins),))
    edits = tuple(draw(st.lists(st.sampled_from(MORE_COLUMNS), min_size=1, max_size=editor.one_of(1, 2, 3))))
    for edit in edits:
        new = editor.edited(new, edit)
    return Pair(tables, old, new, {table.name: draw(rows(table, least=2)) for table in tables}, edits)


def joined(editor: Editor, alias: str) -> str | None:
    """A join of what is read so far with one table more, of which a query may show the columns under other names."""
    table = editor.one_of(*editor.tables)
    renamed = editor.one_of(False, False, False, True)
    names = {name: f"r{name}" if renamed else name for name in table.names}
    pairs = [(mine, name) for mine, kind in editor.columns for name, other in table.columns if kind == other and kind != BOOLEAN]
    if not pairs:
        return None
    keyed = [pair for pair in pairs if pair[1] in (table.key or ())]
    mine, name = editor.one_of(*keyed) if keyed and editor.one_of(True, True, False) else editor.one_of(*pairs)
    sign = editor.one_of("=", "=", "=", "=", "<=>", ">=")
    items = ", ".join(f"{name} AS {new}" for name, new in names.items())
    where = f" WHERE {table.names[-1]} IS NOT NULL" if editor.one_of(False, False, True) else ""
    relation = f"(SELECT {items} FROM {table.name}{where})" if renamed else table.name
    kind = editor.one_of("JOIN", "JOIN", "LEFT JOIN")
    rest = [(one, names[other]) for one, other in pairs if other != name]
    more = editor.one_of(*rest) if rest and editor.one_of(False, False, True) else None
    test = f" AND {alias}.{more[1]} = {more[0]}" if more is not None else ""
    editor.columns += [(f"{alias}.{names[name]}", kind) for name, kind in table.columns]
    return f"{kind} {relation} AS {alias} ON {alias}.{names[name]} {sign} {mine}{test}"
