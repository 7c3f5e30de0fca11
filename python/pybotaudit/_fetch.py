"""Downloads of robots.txt files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable

from pybotaudit import _botaudit


def fetch(
    origins: str | Iterable[str] = (),
    *,
    archive: str | os.PathLike[str],
    from_log: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    jobs: int = 16,
    delay: float = 0,
    timeout: float = 30,
    user_agent: str | None = None,
    ca_file: str | os.PathLike[str] | None = None,
    allow_private_addresses: bool = False,
    fetch_any_port: bool = False,
    fetch_budget: float = 600,
) -> dict[str, int]:
    """Download robots.txt files over HTTP, HTTPS and FTP into an archive.

    An origin without an answer that says what is allowed gives a warning. Ctrl-C ends the
    downloads; the answers received so far are kept.

    Args:
        origins: An origin, such as "https://example.com", or several.
        archive: The archive, for `robots=`. It is made if it does not exist; downloads are added to
            what it has.
        from_log: Logs; the robots.txt files of all hosts that crawlers requested are downloaded,
            too, by default from public addresses and usual ports only: any client can send any
            Host header.
        jobs: The number of downloads at the same time.
        delay: The pause between two requests to a host, in seconds.
        timeout: The time limit of one download with its redirects, in seconds.
        user_agent: The User-Agent header to send, by default botaudit and a URL.
        ca_file: A PEM file of certificate authorities to trust instead of Mozilla's.
        allow_private_addresses: Whether hosts in logs may have private addresses.
        fetch_any_port: Whether hosts in logs may have any port, not only 80, 443, 8080 and 8443.
        fetch_budget: The time for all downloads from hosts in logs, in seconds. What is not
            downloaded by then is left out, with a warning.

    Returns:
        The number of origins with each outcome: a status such as "200", or a failure such as "dns".

    Raises:
        ValueError: An argument is not valid.
        OSError: The archive or a log cannot be read or written.
    """
    named = [origins] if isinstance(origins, str) else list(origins)
    for row, origin in enumerate(named):
        if not isinstance(origin, str):
            kind = type(origin).__name__
            raise TypeError(f"origins, row {row} (from 0) is of the type {kind}; give text")
    logs = [from_log] if isinstance(from_log, (str, os.PathLike)) else list(from_log)
    if not named and not logs:
        raise ValueError("nothing to fetch; name origins, or logs as from_log=")
    outcomes, problems = _botaudit.fetch(
        {
            "origins": named,
            "archive": archive,
            "from_log": [os.fspath(log) for log in logs],
            "jobs": jobs,
            "delay": delay,
            "timeout": timeout,
            "user_agent": user_agent,
            "ca_file": ca_file,
            "allow_private_addresses": allow_private_addresses,
            "fetch_any_port": fetch_any_port,
            "fetch_budget": fetch_budget,
        }
    )
    for problem in problems:
        warnings.warn(problem, stacklevel=2)
    return outcomes
