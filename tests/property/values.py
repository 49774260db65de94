"""Strings that are apt to be taken for something else on their way through SQL text."""

from __future__ import annotations

from hypothesis import strategies as st

FRAGMENTS = (
    "'", '"', "`", "\\", "\\'", "''", "\n", "\r", "\r\n", "\t", "\0", "\0" + "7", "\b", "\x1a", "\x7f", "\u2028", "\ufeff",
    "${", "}", "${env:HOME}", "${spark.app.name}", "{{ x }}", "{% raw %}", "{#", "%s", "%(x)s", "%", "?", ":name", "$", "$$",
    "--", "-- ", "/*", "*/", ";", "; drop table x", "#", "\\u0041", "\\Z", "\\%", "\\_", "\\x41", "\\101", "r'", 'R"',
    "é", "e\u0301", "漢", "🎉", "\u200d", "null", "NULL", "NaN", " ", "", "a", "0",
)
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\ufffd")
STRINGS = st.lists(st.sampled_from(FRAGMENTS) | st.text(CHARACTERS, max_size=4), max_size=6).map("".join)
