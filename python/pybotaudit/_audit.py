"""Audits of logs, and their reports."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pybotaudit import _botaudit, _report
from pybotaudit._progress import Asked, Progress

Path = str | os.PathLike[str]
Time = str | datetime.date


class AuditReport:
    """The result of an audit. Nothing is written until `save`.

    `table` gives any table of the report, and `violations` the one with the broken rules.
    """

    def __init__(self, native: _botaudit.AuditReport) -> None:
        """From `pybotaudit.audit`."""
        self._native = native
        self._tables: dict[str, pa.Table] = {}

    @property
    def tables(self) -> list[str]:
        """The names of the tables, in the order of docs/reports.md."""
        return self._native.tables()

    def table(self, name: str) -> pa.Table:
        """The table `name`, such as "violations", with the types that `read_report` gives.

        `.to_pandas()` of the result is a data frame of pandas, `polars.from_arrow` makes one of
        polars.

        Raises:
            ValueError: The report has no such table.
        """
        if name not in self._tables:
            found = self._native.table(name)
            if found is None:
                raise ValueError(
                    f"the report has no table '{name}'; its tables are {', '.join(self.tables)}"
                )
            csv, columns = found
            self._tables[name] = _report.table_of_csv(pa.BufferReader(csv), columns)
        return self._tables[name]

    @property
    def violations(self) -> pa.Table:
        """The rules that crawlers broke: a row for each origin, crawler, robots.txt and line."""
        return self.table("violations")

    def to_arrow(self) -> dict[str, pa.Table]:
        """All tables by their names, as `read_report` gives them."""
        return {name: self.table(name) for name in self.tables}

    def to_pandas(self) -> dict[str, Any]:
        """All tables by their names, as data frames of pandas."""
        return {name: self.table(name).to_pandas() for name in self.tables}

    def to_polars(self) -> dict[str, Any]:
        """All tables by their names, as data frames of polars."""
        import polars as pl

        return {name: pl.from_arrow(self.table(name)) for name in self.tables}

    @property
    def summary(self) -> str:
        """The summary that the command prints."""
        return self._native.summary()

    @property
    def warnings(self) -> list[str]:
        """Limits of the report; damaged logs come first."""
        return self._native.warnings()

    @property
    def run(self) -> dict[str, Any]:
        """The content of `run.json`: what was read, how it was judged, and all settings."""
        found: dict[str, Any] = json.loads(self._native.run_json())
        return found

    @property
    def has_violations(self) -> bool:
        """Whether a crawler broke a rule.

        Requests that only claimed to be from it do not count, nor do those of tools.
        """
        return self._native.has_violations()

    @property
    def failed_conditions(self) -> list[str]:
        """The conditions of `fail_on` that rows of `summary` meet, each with some of the rows."""
        return self._native.failed_conditions()

    @property
    def is_complete(self) -> bool:
        """Whether all logs and robots.txt files could be read to their ends."""
        return self._native.is_complete()

    @property
    def unjudged(self) -> str | None:
        """Why no request of a crawler was judged, or too few were; None if enough were."""
        return self._native.unjudged()

    def save(self, directory: Path) -> None:
        """Write the report directory that the command writes: tables, page and tally.

        A report that stands there is replaced in one step.

        Raises:
            ValueError: Anything but a report stands there.
            OSError: It cannot be written.
        """
        self._native.save(directory)

    def __repr__(self) -> str:
        """How many rules were broken, and how many requests were read."""
        rules, tables = self.violations.num_rows, len(self.tables)
        return f"<AuditReport: {rules} broken rules, {tables} tables>"

    def __dir__(self) -> list[str]:
        """What is public."""
        return [name for name in super().__dir__() if name[:1] != "_" or name[:2] == "__"]


# The arguments between `logs` and `progress`, and their documentation, are those of the table of
# options in src/config/audit_config.rs; scripts/update-expected writes them.
def audit(
    logs: Path | Iterable[Path],
    *,
    robots: Path,
    crawlers: Path | None = None,
    include_unbound: bool | None = None,
    unknown_before_first_snapshot: bool | None = None,
    infer_outages: bool | None = None,
    reaction_days: int | None = None,
    reaction_requests: int | None = None,
    reaction_quiet_days: int | None = None,
    session_minutes: int | None = None,
    networks: Path | None = None,
    ignore_usage: str | Sequence[str] = (),
    dialect: str | None = None,
    origin: str | None = None,
    origin_from_path: str | None = None,
    alias: Mapping[str, str] | Sequence[str] = (),
    trusted_proxy: str | Sequence[str] = (),
    log_format: str | None = None,
    json_fields: str | Mapping[str, str] | None = None,
    haproxy_captures: str | Sequence[str] | None = None,
    user_agent: str | None = None,
    timezone: str | None = None,
    since: Time | None = None,
    until: Time | None = None,
    min_parse_rate: float | None = None,
    min_judged_rate: float | None = None,
    fail_on: str | Sequence[str] = (),
    ignores_min: float | None = None,
    rarely_max: float | None = None,
    ip: str | None = None,
    ip_salt: str | None = None,
    strip_query: bool | None = None,
    ip_ranges: Path | None = None,
    no_bundled_ranges: bool | None = None,
    signature_keys: Path | None = None,
    verify_dns: bool | None = None,
    dns_cache: Path | None = None,
    dns_archive: Path | None = None,
    dns_server: str | None = None,
    dns_timeout: float | None = None,
    dns_max: int | None = None,
    what_if: Path | None = None,
    what_if_for: str | Sequence[str] = (),
    paths: bool | None = None,
    cost_per_gb: float | str | None = None,
    threads: int | None = None,
    progress: Asked = None,
) -> AuditReport:
    """Audit access logs: which crawler requested what robots.txt disallows.

    The tables equal those of `botaudit audit`. It runs in this process, without the GIL. Ctrl-C
    ends it. Arguments are the options of the command with these names (`min_parse_rate` is
    `--min-parse-rate`), which `botaudit audit --help` describes in full.

    Args:
        logs: A log, or several: files, directories, and patterns with `*`.
        robots: The robots.txt file, directory or archive to judge by.
        crawlers: A CSV file of more crawlers.
        include_unbound: Whether crawlers that robots.txt does not bind are judged.
        unknown_before_first_snapshot: Whether requests before the first snapshot of an archive are
            unknown.
        infer_outages: Whether outages of robots.txt are inferred from the logs.
        reaction_days: How many days before a change of robots.txt requests count for it.
        reaction_requests: The expected requests below which nothing is concluded about a reaction.
        reaction_quiet_days: The days without requests after which a crawler has stopped.
        session_minutes: After how many minutes without requests a session ends; sessions are
            counted only then.
        networks: A CSV file of networks by which sessions are counted.
        ignore_usage: Forms of statements about use that are not counted.
        dialect: How percent-encodings and wildcards are compared: "google" or "rfc9309".
        origin: The origin of requests, if the log names no host.
        origin_from_path: A pattern that takes the host from the path of a log.
        alias: Other names of hosts and origins, as `alias=name`, or a mapping.
        trusted_proxy: Addresses or networks of proxies whose X-Forwarded-For is trusted.
        log_format: The log format, as a name or a line of a server's configuration.
        json_fields: Keys of a JSON log, as `field=key` with commas, or a mapping.
        haproxy_captures: Request headers that HAProxy captures, in order, with commas.
        user_agent: The user agent of a crawl whose WARC or CDX files do not name it.
        timezone: The zone of days, and of times without one, such as "Europe/Berlin".
        since: The start of the time to judge.
        until: The end of that time, which is excluded.
        min_parse_rate: The smallest share of lines of a log that must be parsed, in percent.
        min_judged_rate: The smallest share of requests of crawlers that must be judged, in percent.
        fail_on: Conditions on rows of `summary`, such as "violations > 0 where purpose =
            'ai-training'".
        ignores_min: The smallest share of violations of a crawler that ignores robots.txt.
        rarely_max: The greatest share of violations of a crawler that rarely breaks a rule.
        ip: How addresses of clients are written: "none", "mask", "hash" or "full".
        ip_salt: The secret for "hash".
        strip_query: Whether query strings are left out of reports.
        ip_ranges: The directory of published address lists.
        no_bundled_ranges: Whether the address lists that come with botaudit are not used.
        signature_keys: The directory of the keys with which agents sign requests.
        verify_dns: Whether crawlers are verified by reverse DNS.
        dns_cache: The file of answers of DNS.
        dns_archive: The file of names that DNS confirmed, with their times.
        dns_server: The name server, such as "192.0.2.1:53".
        dns_timeout: The time limit of a lookup, in seconds.
        dns_max: The most addresses that are looked up.
        what_if: A draft of a robots.txt to judge by as well.
        what_if_for: The origins that the draft is for.
        paths: Whether requests are counted by section and path.
        cost_per_gb: The price of 10^9 bytes, such as 0.09 or "0.09USD".
        threads: The number of threads; 0, the default, is one per core.
        progress: True shows a bar by tqdm. A function is called with the bytes that were read, and
            with all bytes, or None if that is not known.

    Raises:
        ValueError: An argument is not valid; all mistakes are named. Or a log is not one.
        OSError: A file cannot be read.
    """
    # Before any other name is bound.
    given = locals()
    settings = "".join(
        f"{name} = {_toml(name, given[name], is_joined)}\n"
        for name, is_joined in _botaudit.audit_settings()
        if given[name] not in (None, ())
    )
    if not isinstance(logs, (str, os.PathLike, Iterable)):
        raise TypeError(f"logs is of the type {type(logs).__name__}; give a path, or several")
    sources = [logs] if isinstance(logs, (str, os.PathLike)) else list(logs)
    if not sources:
        raise ValueError("logs is empty; name at least one log")
    with Progress(progress, unit="B", scale=True) as shown:
        return AuditReport(
            _botaudit.audit([os.fspath(source) for source in sources], settings, shown.bytes)
        )


def _toml(name: str, value: Any, is_joined: bool) -> str:
    """The value of the argument `name` as TOML. Several values can be joined by commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, datetime.date):
        value = value.isoformat()
    if isinstance(value, Mapping):
        value = [f"{key}={of}" for key, of in value.items()]
    if isinstance(value, (str, os.PathLike)):
        return _text(name, os.fspath(value))
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        texts = [_text(name, os.fspath(text)) for text in value]
        if is_joined:
            return _text(name, ",".join(map(str, value)))
        return f"[{', '.join(texts)}]"
    raise TypeError(f"{name} is of the type {type(value).__name__}; give text")


def _text(name: str, text: str | bytes) -> str:
    """A string of TOML."""
    decoded = os.fsdecode(text)
    try:
        decoded.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is not UTF-8; rename the file") from None
    # JSON's strings are those of TOML, but for one control character.
    return json.dumps(decoded, ensure_ascii=False).replace("\x7f", "\\u007f")
