"""Who sends a User-Agent header."""

from __future__ import annotations

import json
from typing import NamedTuple

from pybotaudit import _botaudit


class Identity(NamedTuple):
    """What is known about the sender of a User-Agent header; any client can send any header."""

    user_agent: str
    r"""The header; what is not visible text is `\xHH`."""
    kind: str
    """`crawler` or `tool` if it is known; else `automated`, `browser` (also an app) or `none`,
    which is no user agent."""
    name: str | None
    """The name of the crawler, if it is known."""
    operator: str | None
    """Who runs it."""
    purpose: str | None
    """What it is for, such as `search` or `ai-training`."""
    product_tokens: list[str]
    """The names that it obeys in robots.txt, the most specific first."""
    stated_policy: str | None
    """What its operator says about following robots.txt: `follows`, `partly`, `does-not-follow` or
    `unknown`."""
    bound: str | None
    """`bound` if breaking a rule counts against it, or why it does not."""
    documentation_url: str | None
    """The operator's page about it."""

    @property
    def is_crawler(self) -> bool:
        """Whether it is a known crawler, and not a tool."""
        return self.kind == "crawler"

    @property
    def is_tool(self) -> bool:
        """Whether it is a known client that is not a crawler, such as an HTTP library."""
        return self.kind == "tool"

    @property
    def is_automated(self) -> bool:
        """Whether it is a crawler or a tool, or looks automated."""
        return self.kind in ("crawler", "tool", "automated")

    @property
    def is_browser(self) -> bool:
        """Whether it is the header of a browser or an app."""
        return self.kind == "browser"


def identify(user_agent: str | bytes) -> Identity:
    """The crawler that sends this User-Agent header, by the registry of `crawlers()`."""
    if not isinstance(user_agent, (str, bytes)):
        raise TypeError(f"user_agent is of the type {type(user_agent).__name__}; give str or bytes")
    header = (
        user_agent.encode("utf-8", "surrogateescape") if isinstance(user_agent, str) else user_agent
    )
    text, is_tool = _botaudit.identify_json(header)
    found = json.loads(text)
    crawler = found["crawler"] or {}
    if crawler:
        kind = "tool" if is_tool else "crawler"
    elif found["known"] == "looks-automated":
        kind = "automated"
    else:
        kind = "browser" if header.strip(b" -") else "none"
    return Identity(
        found["user_agent"],
        kind,
        crawler.get("name"),
        crawler.get("operator"),
        crawler.get("purpose"),
        crawler.get("product_tokens", []),
        crawler.get("stated_policy"),
        crawler.get("bound"),
        crawler.get("documentation_url") or None,
    )
