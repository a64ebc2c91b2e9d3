"""Work that threads do before its results are asked for."""
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["ahead"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def ahead(function: Callable[[_Item], _Result], items: Iterator[_Item], count: int) -> Iterator[_Result]:
    """Yield function(item) of each item in order. Threads work on the `count` results after the one that was yielded.

    Another thread takes the items. 0: the caller does everything.
    Closing the generator ends the threads after the calls in progress.
    """
    if count == 0:
        yield from map(function, items)
        return
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
