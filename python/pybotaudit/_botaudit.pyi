"""The native half of the package; `pybotaudit` is the interface."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, NoReturn, final, overload

import pyarrow as pa

from pybotaudit._name_tables import Asked
from pybotaudit._robots_txt import Group, Rule

__version__: str
COLUMNS: list[str]
HOPS_MAX: int
KEPT_BYTES_MAX: int

@final
class RobotsTxt:
    """A parsed robots.txt. Parsing never fails: what is not a rule is skipped.

    `body` is the text, of which the lines in the first 512,000 bytes count; `dialect` is "google"
    or "rfc9309". The name of a file is refused: `RobotsTxt.from_file` reads one.
    """

    def __new__(cls, body: str | bytes, dialect: str = "google") -> RobotsTxt: ...
    @staticmethod
    def parse(body: str | bytes, dialect: str = "google") -> RobotsTxt:
        """As the constructor."""
    @staticmethod
    def from_file(path: str | PathLike[str], dialect: str = "google") -> RobotsTxt:
        """The robots.txt in a file.

        Raises:
            OSError: The file cannot be read.
        """
    @overload
    def is_allowed(self, product_token: str, target: str | bytes) -> bool:
        """Whether the crawler with this product token may request the target: a path or a URL.

        Raises:
            ValueError: It is not a product token. A version after it is ignored: `GPTBot/1.2`.
        """
    @overload
    def is_allowed(self, *, target: str | bytes, user_agent: str | bytes) -> bool:
        """Whether the sender of this whole User-Agent header may request the target.

        A header that the registry does not know counts by its first product: `FooBot` of
        `FooBot/1.0` and of `Mozilla/5.0 (compatible; FooBot/1.0)`.
        """
    @overload
    def matcher(self, product_tokens: Sequence[str]) -> Matcher:
        """The rules for a crawler with these product tokens, the most specific first."""
    @overload
    def matcher(self, *, user_agent: str | bytes) -> Matcher:
        """The rules for the sender of this whole User-Agent header."""
    @overload
    def crawl_delay(self, product_token: str) -> float | None:
        """The Crawl-delay in seconds for the crawler with this product token.

        None if there is none, or it is not a number.
        """
    @overload
    def crawl_delay(self, *, user_agent: str | bytes) -> float | None:
        """The Crawl-delay in seconds for the sender of this whole User-Agent header."""
    @property
    def groups(self) -> list[Group]:
        """The groups, in the order of the file."""
    @property
    def rules(self) -> list[Rule]:
        """The rules of all groups, in the order of the file."""
    @property
    def sitemaps(self) -> list[str]:
        r"""The values of all Sitemap lines; what is not visible text is `\xHH`."""
    @property
    def dialect(self) -> str:
        """How percent-encodings are compared: "google" or "rfc9309"."""
    @property
    def body(self) -> bytes:
        """The bytes of the file that count."""

@final
class Matcher:
    """The rules of a robots.txt for one crawler, from `RobotsTxt.matcher`."""

    def is_allowed(self, target: str | bytes) -> bool:
        """Whether the crawler may request the target: a path or a URL."""
    def decide(self, target: str | bytes) -> tuple[bool, int | None]:
        """Whether the crawler may request the target, and the line of the deciding rule or None."""

@final
class AuditReport:
    def tables(self) -> list[str]: ...
    def table(self, name: str) -> tuple[bytes, list[tuple[str, str]]] | None: ...
    def run_json(self) -> str: ...
    def summary(self) -> str: ...
    def warnings(self) -> list[str]: ...
    def has_violations(self) -> bool: ...
    def failed_conditions(self) -> list[str]: ...
    def is_complete(self) -> bool: ...
    def unjudged(self) -> str | None: ...
    def save(self, directory: str | PathLike[str]) -> None: ...

@final
class AnswerTexts:
    """The different texts of answers. Arrays made with one continue each other's dictionaries."""

    def __new__(cls) -> AnswerTexts: ...

@final
class Classifier:
    def __new__(
        cls,
        crawlers: list[str],
        tokens: list[str],
        user_agents: list[bytes],
        dialect: str,
        memory_bytes: int,
    ) -> Classifier: ...
    @property
    def per_row(self) -> int: ...
    @property
    def is_per_row(self) -> bool: ...
    def set_path(self, path: str | PathLike[str]) -> None: ...
    def set_table(self, batches: list[list[pa.Array]], forgets_bad_rows: bool) -> None: ...
    def classify(
        self,
        url: pa.Array,
        crawler: pa.Array | None,
        is_user_agent: bool,
        time: pa.Array | None,
        names: list[str],
        texts: AnswerTexts,
    ) -> list[pa.Array]: ...
    def warnings(self) -> list[str]: ...

def audit(
    logs: list[str], settings: str, progress: Callable[[int, int | None], object] | None
) -> AuditReport: ...
def audit_settings() -> list[tuple[str, bool]]: ...
def crawlers_json(file: str | PathLike[str] | None) -> str: ...
def fetch(wanted: dict[str, Any]) -> tuple[dict[str, int], list[str]]: ...
def identify_json(user_agent: bytes) -> tuple[str, bool]: ...
def line_errors(body: bytes) -> list[tuple[int, str, str]]: ...
def lint(body: str | bytes, dialect: str) -> list[tuple[int, str, str, str, str]]: ...
def origins(url: pa.Array) -> pa.Array: ...
def repeated(rows: int, times: int) -> pa.Array: ...
def report_columns() -> list[tuple[str, list[tuple[str, str]]]]: ...
def restrictions(
    asked: Asked, at: str | None, every: str | None, take: Callable[[bytes], None]
) -> list[str]: ...
def restrictions_columns() -> list[tuple[str, str]]: ...
def robots_faults(columns: list[pa.Array]) -> list[tuple[int, str]]: ...
def robots_from_warc(path: str) -> tuple[list[pa.Array], list[tuple[int | None, str]]]: ...
def robots_txt_origin(url: str) -> str | None: ...
def rule_changes(asked: Asked, take: Callable[[bytes], None]) -> list[str]: ...
def rule_changes_columns() -> list[tuple[str, str]]: ...
def run(arguments: list[str]) -> NoReturn: ...
def tally_of_unread(tally: bytes, name: str, why: str) -> bytes: ...
