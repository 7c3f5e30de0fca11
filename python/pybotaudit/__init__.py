"""Which crawler may request which URL by robots.txt, and which crawlers broke its rules.

`Classifier` answers for columns of URLs, `RobotsTxt` for one robots.txt, `restrictions` for many
files, `audit` makes the report of access logs, and `bootstrap` gives intervals of its shares over
sites. The module `pybotaudit.spark` classifies and audits with Apache Spark. pyarrow is imported
when it is first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pybotaudit import _botaudit
from pybotaudit._botaudit import Matcher, RobotsTxt, __version__
from pybotaudit._fetch import fetch
from pybotaudit._identity import Identity, identify
from pybotaudit._robots_txt import Group, Rule

if TYPE_CHECKING:
    from pybotaudit import spark as spark
    from pybotaudit._audit import AuditReport, audit
    from pybotaudit._bootstrap import bootstrap
    from pybotaudit._classifier import Classifier
    from pybotaudit._registry import crawlers
    from pybotaudit._report import read_report
    from pybotaudit._restrictions import restrictions
    from pybotaudit._robots import origins, robots_from_warc
    from pybotaudit._rule_changes import rule_changes

__all__ = [
    "AuditReport",
    "Classifier",
    "Finding",
    "Group",
    "Identity",
    "Matcher",
    "RobotsTxt",
    "Rule",
    "__version__",
    "audit",
    "bootstrap",
    "crawlers",
    "fetch",
    "identify",
    "lint",
    "origins",
    "read_report",
    "restrictions",
    "robots_from_warc",
    "rule_changes",
]

_MODULES = {
    "AuditReport": "_audit",
    "Classifier": "_classifier",
    "audit": "_audit",
    "bootstrap": "_bootstrap",
    "crawlers": "_registry",
    "origins": "_robots",
    "read_report": "_report",
    "restrictions": "_restrictions",
    "robots_from_warc": "_robots",
    "rule_changes": "_rule_changes",
    "spark": "spark",
}


class Finding(NamedTuple):
    """A mistake in a robots.txt."""

    line: int
    """The line, from 1; 0 if the finding is about the whole file."""
    severity: str
    """`error`, `warning` or `info`."""
    code: str
    """The name of the kind of mistake; `botaudit lint --list` explains all."""
    message: str
    """What is wrong."""
    advice: str
    """What to do; may be empty."""


def lint(body: str | bytes, *, dialect: str = "google") -> list[Finding]:
    """Check a robots.txt for mistakes; the findings are in the order of lines.

    At most 1,000 findings of each kind are listed.
    """
    return [Finding(*found) for found in _botaudit.lint(body, dialect)]


def __getattr__(name: str) -> Any:
    """Import the parts that need pyarrow when they are first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'pybotaudit' has no attribute '{name}'")
    from importlib import import_module

    module = import_module(f"pybotaudit.{_MODULES[name]}")
    value = module if name == _MODULES[name] else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """What is public."""
    return [*__all__, "spark"]
