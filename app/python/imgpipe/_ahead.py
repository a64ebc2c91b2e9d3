"""Work that threads do before its results are asked for."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["ahead", "read_ahead"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def ahead(function: Callable[[_Item], _Result], items: Iterator[_Item], count: int) -> Generator[_Result, None, None]:
    """Yield function(item) of each item in order, while threads work on the `count` results that follow.

    Another thread takes the items. Closing the generator ends the threads after the calls in progress.
    """
    from concurrent.futures import ThreadPoolExecutor  # takes a while

    taker, workers = ThreadPoolExecutor(1), ThreadPoolExecutor(count)
    results: deque[Future[_Result | None]] = deque()

    def result_of(taken: Future[_Item | None]) -> _Result | None:
        item = taken.result()
        return None if item is None else function(item)

    def begin() -> None:
        results.append(workers.submit(result_of, taker.submit(next, items, None)))

    try:
        for _ in range(count):
            begin()
        while (result := results.popleft().result()) is not None:
            begin()
            yield result
    finally:
        workers.shutdown(cancel_futures=True)
        taker.shutdown(cancel_futures=True)


def read_ahead(items: Iterator[_Item]) -> Generator[_Item, None, None]:
    """Yield the items, while a thread takes the next one."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as taker:
        upcoming = taker.submit(next, items, None)
        while (item := upcoming.result()) is not None:
            upcoming = taker.submit(next, items, None)
            yield item
