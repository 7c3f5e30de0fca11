"""Downloads of robots.txt files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable

from botaudit import _botaudit


def fetch(
    origins: str | Iterable[str] = (),
    *,
    archive: str | os.PathLike[str],
    from_log: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    jobs: int = 16,
    delay: float = 0,
    timeout: float = 30,
    user_agent: str | None = None,
) -> dict[str, int]:
    """Download robots.txt files over HTTP, HTTPS and FTP into an archive.

    An origin without an answer that says what is allowed gives a warning. Ctrl-C ends the
    downloads; the answers received so far are kept.

    Args:
        origins: An origin, such as "https://example.com", or several.
        archive: The archive, for `robots=`. It is made if it does not exist; downloads are added to
            what it has.
        from_log: Logs; the robots.txt files of all hosts that crawlers requested are downloaded,
            too, from public addresses and usual ports only.
        jobs: The number of downloads at the same time.
        delay: The pause between two requests to a host, in seconds.
        timeout: The time limit of one download with its redirects, in seconds.
        user_agent: The User-Agent header to send, by default botaudit and a URL.

    Returns:
        The number of origins with each outcome: a status such as "200", or a failure such as "dns".

    Raises:
        ValueError: An argument is not valid.
        OSError: The archive or a log cannot be read or written.
    """
    named = [origins] if isinstance(origins, str) else list(origins)
    logs = [from_log] if isinstance(from_log, (str, os.PathLike)) else list(from_log)
    if not named and not logs:
        raise ValueError("nothing to fetch; name origins, or logs as from_log=")
    outcomes, problems = _botaudit.fetch(
        named, archive, [os.fspath(log) for log in logs], jobs, delay, timeout, user_agent
    )
    for problem in problems:
        warnings.warn(problem, stacklevel=2)
    return outcomes
