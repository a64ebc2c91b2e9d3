"""The samples of tar shards, listed ahead by threads."""
import threading
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import partial

from . import _core
from ._errors import DamageWarning, DecodeError

__all__ = ["SHARD_THREADS", "samples_of_shards"]

SHARD_THREADS = 4       # the present shard and the next ones
MEMBERS_AHEAD = 16_384  # of each next shard: about 0.2 KB each
LISTED_MEMBERS = 512    # per call that releases the interpreter's lock


class ShardIndex:
    """Lists the samples of a shard. Opens it in the first take()."""

    def __init__(self, shard: bytes) -> None:
        self._shard = shard
        self._reader: _core.ShardReader | None = None
        self._error: Exception | None = None

    def take(self, members: int, stop: threading.Event) -> list[_core.ShardSample]:
        """Return the samples that end within about `members` members, fewer if they hold data or `stop` is set; none at
        the end or an error.
        """
        samples: list[_core.ShardSample] = []
        try:
            if self._reader is None and self._error is None:
                self._reader = _core.ShardReader(self._shard)
            while self._reader and self._error is None and (members > 0 or not samples):
                listed = self._reader.next(LISTED_MEMBERS)
                if listed is None:
                    break
                samples += listed
                members -= LISTED_MEMBERS
                if stop.is_set() or samples and self._reader.holds_data:
                    break
        except Exception as error:  # raised by end(), after the samples that precede it
            self._error = error
        return samples

    def end(self, tolerant: bool) -> list[_core.ShardSample]:
        """Raise the error that ended the shard. `tolerant`: if the shard is damaged, warn and return the sample before
        the damage.
        """
        if self._error is None:
            return []
        if not tolerant or self._reader is None or not isinstance(self._error, DecodeError):
            raise self._error
        warnings.warn(DamageWarning(f"{self._error}; the rest of the shard was skipped"))
        return self._reader.last()


def samples_of_shards(shards: list[bytes], tolerant: bool, threads: int,
                      stop: threading.Event) -> Generator[Iterator[_core.ShardSample], None, None]:
    """Yield the samples of each shard in order, while threads list those of the next shards.

    Each iterator is to be used up before the next one. `tolerant`: the rest of a damaged shard is skipped. `threads`:
    0 lists the samples when they are asked for. Soon after `stop` is set the threads end.
    """
    from concurrent.futures import ThreadPoolExecutor  # takes a while

    pool = ThreadPoolExecutor(max(threads, 1))
    begun: deque[tuple[ShardIndex, Callable[[], list[_core.ShardSample]]]] = deque()

    def begin(index: ShardIndex, members: int) -> Callable[[], list[_core.ShardSample]]:
        take = partial(index.take, members, stop)
        return pool.submit(take).result if threads else take

    def samples(index: ShardIndex, taken: Callable[[], list[_core.ShardSample]]) -> Iterator[_core.ShardSample]:
        while found := taken():
            taken = begin(index, LISTED_MEMBERS)
            yield from found
        yield from index.end(tolerant)

    try:
        for number in range(len(shards)):
            for shard in shards[number + len(begun):number + max(threads, 1)]:
                index = ShardIndex(shard)
                begun.append((index, begin(index, MEMBERS_AHEAD if begun else LISTED_MEMBERS)))
            yield samples(*begun.popleft())
    finally:
        pool.shutdown(cancel_futures=True)
