"""How the rules of robots.txt files changed, as a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from pybotaudit import _botaudit
from pybotaudit import _name_tables as name_tables


def rule_changes(
    robots: str | os.PathLike[str] | Any,
    crawlers: Sequence[str] = (),
    tokens: Sequence[str] = (),
    *,
    user_agent: str | bytes | Sequence[str | bytes] = (),
) -> pa.Table:
    """How the rules for crawlers changed from each robots.txt to the next one of its origin.

    A row stands for an origin, a change, a name, and a rule that only one of both versions has. The
    rows are those of `botaudit robots changes`, and docs/research.md describes the columns.

    Args:
        robots: An archive, or a table as for `Classifier`.
        crawlers: Names of known crawlers. One that ignores groups for `*` sees no change of them.
        tokens: Product tokens, which follow the groups for `*` where no group names them.
        user_agent: A whole User-Agent header, or several.

    Raises:
        ValueError: An argument is not valid, or `robots` is a file or directory without history.
        OSError: `robots` cannot be read.
    """
    asked = name_tables.asked(robots, crawlers, tokens, user_agent)
    columns = _botaudit.rule_changes_columns()
    return name_tables.table(columns, lambda take: _botaudit.rule_changes(asked, take))
