"""The progress of a call: a function of the caller, or a bar by tqdm."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any

Asked = bool | Callable[..., object] | None
"""What `progress=` may be."""


class Progress:
    """What `progress=` asks for: nothing, a bar, or a function."""

    def __init__(
        self,
        asked: Asked,
        *,
        unit: str,
        total: int | None = None,
        scale: bool = False,
    ) -> None:
        """`total` is the number of units, if it is known."""
        self._call = asked if callable(asked) else None
        self._bar: Any = None
        if asked is True:
            self._bar = _bar(unit, total, scale)

    def __enter__(self) -> Progress:
        """Shows the bar."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the bar."""
        self.close()

    def close(self) -> None:
        """Ends the bar."""
        if self._bar is not None:
            self._bar.close()

    def rows(self, done: int) -> None:
        """So many rows are done."""
        self._show(done)
        if self._call is not None:
            self._call(done)

    def bytes(self, done: int, total: int | None) -> None:
        """So many bytes are done, of all."""
        if self._bar is not None:
            self._bar.total = total
            if done < self._bar.n:
                self._bar.reset(total)
        self._show(done)
        if self._call is not None:
            self._call(done, total)

    def _show(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(done - self._bar.n)


def _bar(unit: str, total: int | None, scale: bool) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        warnings.warn("progress=True needs tqdm; run: pip install tqdm", stacklevel=4)
        return None
    return tqdm(total=total, unit=unit, unit_scale=scale)
