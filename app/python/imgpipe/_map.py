"""Pipeline.map(): images decoded and run by threads."""
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from ._batch import Result
from ._engine import Engine, Opened

__all__ = ["map_sources"]


class _Item:
    """A source in progress."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.opened: Opened | None = None
        self.needed = 0  # bytes
        self.result: Future[Result] = Future()


class _Run:
    """Opens images when threads are free, and runs them in order when the memory suffices. No thread ever waits."""

    def __init__(self, engine: Engine, workers: int, memory: int | None) -> None:
        self._engine, self._memory = engine, memory
        self._threads_each = max(1, engine.threads // workers)
        self._pool = ThreadPoolExecutor(workers, "imgpipe")
        self._lock = threading.Lock()
        self._held = 0
        self._waiting: deque[_Item] = deque()  # for memory, in order
        self._is_closed = False

    def begin(self, source: Any) -> _Item:
        item = _Item(source)
        if self._memory is not None:
            with self._lock:
                self._waiting.append(item)
        self._pool.submit(self._open, item)
        return item

    def take(self, item: _Item) -> Result:
        """Wait for the result, whose memory then belongs to the caller."""
        result = item.result.result()
        self._admit(item.needed)
        return result

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _open(self, item: _Item) -> None:
        try:
            opened = self._engine.open(item.source)
            if self._memory is not None:
                item.needed = opened.needed_bytes(self._threads_each)
                if item.needed > self._memory:
                    needed, item.needed = item.needed, 0
                    raise MemoryError(f"memory: the image needs {needed} bytes, but the limit is {self._memory}")
            item.opened = opened
        except Exception as error:
            item.result.set_result(Result(item.source, None, error))
        except BaseException as error:  # SystemExit of a file object's read(): take() raises it
            item.result.set_exception(error)
        if self._memory is not None:
            self._admit(0)
        elif item.opened:
            self._run(item)

    def _run(self, item: _Item) -> None:
        opened, item.opened = item.opened, None
        assert opened is not None
        try:
            item.result.set_result(Result(item.source, opened.run(self._threads_each), None))
        except Exception as error:
            item.result.set_result(Result(item.source, None, error))
        except BaseException as error:
            item.result.set_exception(error)

    def _admit(self, freed: int) -> None:
        """Free memory, and begin the images that now fit."""
        if self._memory is None:
            return
        with self._lock:
            self._held -= freed
            while self._waiting and not self._is_closed:
                item = self._waiting[0]
                if not item.opened and not item.result.done():
                    return
                if self._held + item.needed > self._memory:
                    return
                self._waiting.popleft()
                self._held += item.needed
                if item.opened:
                    self._pool.submit(self._run, item)


def map_sources(engine: Engine, sources: Iterable[Any], workers: int, ordered: bool, prefetch: int | None,
                memory: int | None) -> Iterator[Result]:
    """Check the arguments and return the iterator."""
    if isinstance(sources, (str, bytes, bytearray, memoryview)) or not isinstance(sources, Iterable):
        raise TypeError(f"sources: expected an iterable of sources, got {type(sources).__name__}")
    if workers < 0:
        raise ValueError(f"workers: expected 1 or more (0: one per thread), got {workers}")
    if prefetch is not None and prefetch < 1:
        raise ValueError(f"prefetch: expected 1 or more, got {prefetch}")
    count = workers or engine.threads
    return _results(engine, iter(sources), count, ordered, prefetch or 2 * count, memory)


def _results(engine: Engine, sources: Iterator[Any], workers: int, ordered: bool, prefetch: int, memory: int | None
             ) -> Iterator[Result]:
    run = _Run(engine, min(workers, prefetch), memory)
    items: deque[_Item] = deque()
    try:
        are_left = True
        while True:
            # One source for each result, and more as long as no result is ready: a slow source delays no result.
            while are_left and len(items) < prefetch:
                try:
                    items.append(run.begin(next(sources)))
                except StopIteration:
                    are_left = False
                if items and items[0].result.done():
                    break
            if not items:
                return
            if not ordered:
                wait([item.result for item in items], return_when=FIRST_COMPLETED)
                items.rotate(-next(i for i, item in enumerate(items) if item.result.done()))
            yield run.take(items.popleft())
    finally:
        run.close()
