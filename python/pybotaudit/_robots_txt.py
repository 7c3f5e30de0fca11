"""The parts of a robots.txt, as `RobotsTxt` gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Rule(NamedTuple):
    """An Allow or Disallow line."""

    line: int
    """The line, from 1."""
    directive: str
    """`allow` or `disallow`."""
    pattern: str
    r"""The pattern as written; what is not visible text is `\xHH`."""


class Group(NamedTuple):
    """Consecutive User-agent lines, and the rules after them."""

    line: int
    """The first line, from 1."""
    user_agents: list[str]
    """The values of the User-agent lines."""
    rules: list[Rule]
    """The rules, in the order of the file."""
    crawl_delay: str | None
    """The Crawl-delay as written, the shortest of several."""


def rules(parts: Iterable[tuple[int, str, str]]) -> list[Rule]:
    """Rules from their parts."""
    return [Rule(*of) for of in parts]


def groups(
    parts: Iterable[tuple[int, list[str], list[tuple[int, str, str]], str | None]],
) -> list[Group]:
    """Groups from their parts."""
    return [Group(line, agents, rules(of), delay) for line, agents, of, delay in parts]
