"""README.md: its length, its pictures, and that what it shows is what the tutorial shows."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.pictures import CHANGE, files_of, measurements, pictures

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


def test_it_is_short() -> None:
    assert README.count("\n") <= 150


def test_pictures_are_current() -> None:
    stale = [name for name, text in pictures(ROOT).items() if (ROOT / name).read_text(encoding="utf-8") != text]
    assert not stale, f"run `python -m benchmarks.pictures`: {stale}"


def test_each_picture_has_a_light_and_a_dark_copy() -> None:
    drawn = pictures(ROOT)
    assert {name for name in drawn if "_dark" not in name} == {name.replace("_dark", "") for name in drawn if "_dark" in name}
    for name, text in drawn.items():
        assert ElementTree.fromstring(text).tag.endswith("svg")
        page = "\n".join((README, *(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/*.md"))))
        assert f"images/{Path(name).name}" in page, f"no page shows {name}"


def test_the_pictures_show_the_change_and_the_statement_of_the_tutorial() -> None:
    picture = " ".join(ElementTree.fromstring(pictures(ROOT)["docs/images/one_row.svg"]).itertext())
    statement = re.search(r"^```sql\n(UPDATE .*?)^```$", TUTORIAL, re.DOTALL | re.MULTILINE)
    assert statement and " ".join(statement[1].split()) in " ".join(picture.split())
    assert f'$ idivm sql "{CHANGE}"' in TUTORIAL


def test_the_model_and_its_results_are_those_of_the_tutorial() -> None:
    assert files_of(TUTORIAL)["models/order_names.sql"] in README
    shown = re.findall(r"OK created sql idivm model main\.order_names \.+ \[(.*)\]", README)
    assert len(shown) == 2
    assert shown == re.findall(r"OK created sql idivm model main\.order_names \.+ \[(.*)\]", TUTORIAL)


def test_the_figures_of_the_plot_are_those_of_the_table() -> None:
    measured = measurements((ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8"))
    assert [each.rows for each in measured] == ["2M", "20M", "50M", "50M, 1 % changed", "50M, 10 % changed"]
    largest = measured[2].seconds
    assert largest == {"join view": (44, 5.1), "sum per device": (51, 6.6)} and measured[0].rebuilt and not measured[1].rebuilt
    (words,) = re.findall(r"At 50 million rows and 200 changed prices, (.*?)\.\"", README)
    assert re.findall(r"[\d.]+", words) == [f"{seconds:g}" for pair in largest.values() for seconds in pair]
