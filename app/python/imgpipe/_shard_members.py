"""The members of tar shards, listed ahead by threads."""
import threading
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import partial

from . import _core
from ._errors import DamageWarning, DecodeError

__all__ = ["SHARD_THREADS", "Data", "Member", "members_of_shards"]

SHARD_THREADS = 4       # the present shard and the next ones
MEMBERS_AHEAD = 16_384  # of each next shard: about 0.3 KB each
LISTED_MEMBERS = 512    # per call that releases the interpreter's lock

# Of a member: its bytes, or offset and size in a shard that is not compressed, or why it cannot be read.
Data = bytes | tuple[int, int] | Exception
Member = tuple[str, Data]


class ShardIndex:
    """Lists the members of a shard. Opens it in the first take()."""

    def __init__(self, shard: bytes) -> None:
        self._shard = shard
        self._reader: _core.ShardReader | None = None
        self._error: Exception | None = None

    def take(self, count: int, stop: threading.Event) -> list[Member]:
        """Return about `count` members, fewer if they hold data or `stop` is set; none at the end or an error."""
        members: list[Member] = []
        try:
            if self._reader is None and self._error is None:
                self._reader = _core.ShardReader(self._shard)
            while self._reader and len(members) < count and (listed := self._reader.next(LISTED_MEMBERS)):
                members += listed
                if stop.is_set() or any(not isinstance(data, tuple) for _, data in listed):
                    break
        except Exception as error:  # raised by end(), after the members that precede it
            self._error = error
        return members

    def end(self, tolerant: bool) -> None:
        """Raise the error that ended the shard. `tolerant`: warn if the shard is damaged."""
        if self._error is None:
            return
        if not tolerant or self._reader is None or not isinstance(self._error, DecodeError):
            raise self._error
        warnings.warn(DamageWarning(f"{self._error}; the rest of the shard was skipped"))


def members_of_shards(shards: list[bytes], tolerant: bool, threads: int,
                      stop: threading.Event) -> Generator[Iterator[Member], None, None]:
    """Yield the members of each shard in order, while threads list those of the next shards.

    Each iterator is to be used up before the next one. `tolerant`: the rest of a damaged shard is skipped. `threads`:
    0 lists the members when they are asked for. Soon after `stop` is set the threads end.
    """
    from concurrent.futures import ThreadPoolExecutor  # takes a while

    pool = ThreadPoolExecutor(max(threads, 1))
    begun: deque[tuple[ShardIndex, Callable[[], list[Member]]]] = deque()

    def begin(index: ShardIndex, count: int) -> Callable[[], list[Member]]:
        take = partial(index.take, count, stop)
        return pool.submit(take).result if threads else take

    def members(index: ShardIndex, taken: Callable[[], list[Member]]) -> Iterator[Member]:
        while found := taken():
            taken = begin(index, LISTED_MEMBERS)
            yield from found
        index.end(tolerant)

    try:
        for number in range(len(shards)):
            for shard in shards[number + len(begun):number + max(threads, 1)]:
                index = ShardIndex(shard)
                begun.append((index, begin(index, MEMBERS_AHEAD if begun else LISTED_MEMBERS)))
            yield members(*begun.popleft())
    finally:
        pool.shutdown(cancel_futures=True)
