"""The samples of a Loader in the order of an epoch: listed sources, or members of tar shards."""
from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from . import _core
from ._arguments import LARGEST
from ._errors import MissingFileError
from ._shard_index import SHARD_THREADS, samples_of_shards

if TYPE_CHECKING:
    import numpy.typing as npt

UNSHUFFLED_BLOCK = 256  # samples of shards that are indexed at a time


class Order(NamedTuple):
    """The parameters that determine the order of an epoch's samples in one process."""

    seed: int
    epoch: int
    shuffle: bool
    buffer: int  # samples of shards that are shuffled together
    rank: int
    world: int

    def permutation(self, count: int, *position: int) -> npt.NDArray[np.int64]:
        """Return a permutation of range(count), the same in all versions of numpy (NEP 19)."""
        if not self.shuffle:
            return np.arange(count)
        seed = np.random.SeedSequence((self.seed, self.epoch, *position))
        return np.random.RandomState(np.random.MT19937(seed)).permutation(count)


class Loaded(NamedTuple):
    """Samples with their data, each list with one entry per sample."""

    keys: list[str]
    seeds: list[str]  # identify the samples wherever they are in the order
    sources: list[Any]
    members: list[dict[str, bytes]]


class Block(NamedTuple):
    """Samples in their final order."""

    start: list[int]  # from which blocks() makes it again
    samples: npt.NDArray[np.int64] | list[Any]


class Samples(Protocol):
    """The samples of a Loader. `first` is the start of an epoch's first block, `count` the number of sources."""

    first: list[int]
    count: int

    def __len__(self) -> int: ...
    def limits(self, order: Order) -> list[int]: ...  # the largest numbers of a start and of the samples in its block
    def blocks(self, order: Order, start: list[int], stop: threading.Event) -> Iterator[Block]: ...
    def load(self, samples: Sequence[Any]) -> Loaded: ...


class ListedSamples:
    """The sources of a list, or the images of a directory: one block with all of them."""

    first: list[int] = []

    def __init__(self, sources: list[Any], directory: str = "") -> None:
        self._sources = sources
        self._directory = directory  # of the names in `sources`, with a slash
        self.count = len(sources)

    def __repr__(self) -> str:
        return repr(self._directory) if self._directory else f"<{self.count} sources>"

    def __len__(self) -> int:
        return self.count

    def limits(self, order: Order) -> list[int]:
        return [len(range(order.rank, self.count, order.world))]

    def blocks(self, order: Order, start: list[int], stop: threading.Event) -> Iterator[Block]:
        yield Block(start, order.permutation(self.count)[order.rank::order.world])

    def load(self, samples: Sequence[Any]) -> Loaded:
        numbers = [int(number) for number in samples]
        sources = [self._sources[number] for number in numbers]
        if self._directory:
            return Loaded(sources, sources, [self._directory + name for name in sources], [{} for _ in sources])
        seeds = list(map(str, numbers))
        keys = [os.fsdecode(source) if isinstance(source, (str, os.PathLike)) else seed
                for source, seed in zip(sources, seeds)]
        return Loaded(keys, seeds, sources, [{} for _ in sources])


class ShardSamples:
    """The samples of tar shards. Blocks hold consecutive ones. The data in an uncompressed shard is read when a block's
    samples are loaded.
    """

    first: list[int] = [0, 0]  # a shard, and a sample in it

    def __init__(self, shards: list[bytes], tolerant: bool, threads: int) -> None:
        self._shards = shards
        self._tolerant = tolerant
        self._threads = threads
        self._loader = _core.ShardLoader()
        self.count = len(shards)

    def __repr__(self) -> str:
        return f"<{self.count} tar shards>"

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardSamples, (self._shards, self._tolerant, self._threads)

    def __len__(self) -> int:
        raise TypeError("the number of samples in tar shards is not known before they are read")

    def limits(self, order: Order) -> list[int]:
        shards = len(range(order.rank, self.count, order.world)) or 1
        return [shards - 1, LARGEST, order.buffer if order.shuffle else UNSHUFFLED_BLOCK]

    def blocks(self, order: Order, start: list[int], stop: threading.Event) -> Iterator[Block]:
        shards = [self._shards[number] for number in order.permutation(len(self._shards))]
        if order.world > len(shards):  # several ranks share a shard
            mine = [shards[order.rank % len(shards)]]
            ranks = range(order.rank % len(shards), order.world, len(shards))
        else:
            mine = shards[order.rank::order.world]
            ranks = range(order.rank, order.rank + 1)
        part, parts = ranks.index(order.rank), len(ranks)
        size = order.buffer if order.shuffle else UNSHUFFLED_BLOCK
        block: list[_core.ShardSample] = []
        first, skipped = start
        with contextlib.closing(samples_of_shards(mine[first:], self._tolerant, self._threads, stop)) as listed:
            for number, samples in enumerate(listed, first):
                for at, sample in enumerate(samples):
                    if stop.is_set():
                        return
                    if number == first and at < skipped or at % parts != part:
                        continue
                    block.append(sample)
                    if len(block) == size:
                        yield self._block(order, start, block)
                        start, block = [number, at + 1], []
        if block and not stop.is_set():
            yield self._block(order, start, block)

    def load(self, samples: Sequence[Any]) -> Loaded:
        keys, images, members = self._loader.load(list(samples))
        return Loaded(keys, keys, images, members)

    @staticmethod
    def _block(order: Order, start: list[int], block: list[_core.ShardSample]) -> Block:
        return Block(start, [block[number] for number in order.permutation(len(block), *start).tolist()])


def samples_of(sources: object, tolerant: bool, threaded: bool) -> Samples:
    """Return the samples of a Loader's `sources`.

    `tolerant`: the rest of a damaged shard is skipped. `threaded`: threads list the members of the next shards.
    """
    threads = SHARD_THREADS if threaded else 0
    if isinstance(sources, (str, os.PathLike)):
        path = os.fsdecode(sources)
        is_directory = os.path.isdir(path)
        if not is_directory and _core.is_shard(os.fsencode(path)):
            return ShardSamples(_shards([path]), tolerant, threads)
        if not is_directory and not _core.is_pattern(os.fsencode(path)):
            if not os.path.exists(path):
                raise MissingFileError("no such directory; expected a directory, a pattern of images, or tar shards",
                                       path)
            raise ValueError(f"sources: {path!r} is neither a directory, a pattern nor the name of tar shards; "
                             "put a single image in a list")
        names, problems = _core.list_images(os.fsencode(path))
        for name, reason in problems:
            raise OSError(f"{name}: {reason}")
        if not names:
            raise ValueError(f"sources: {path!r} {'contains' if is_directory else 'matches'} no images")
        return ListedSamples(names, os.path.join(path, "") if is_directory else "")
    if isinstance(sources, (bytes, bytearray, memoryview)) or not isinstance(sources, Sequence):
        raise TypeError("sources: expected a directory, a list of sources, or tar shards, "
                        f"got {type(sources).__name__}")
    listed = list(sources)
    paths = [os.fsdecode(source) for source in listed if isinstance(source, (str, os.PathLike))]
    shards = [path for path in paths if _core.is_shard(os.fsencode(path))]
    if not shards:
        return ListedSamples(listed)
    if len(shards) < len(listed):
        raise ValueError("sources: expected tar shards or images, got a list with both")
    return ShardSamples(_shards(shards), tolerant, threads)


def _shards(patterns: list[str]) -> list[bytes]:
    shards = [shard for pattern in patterns for shard in _core.expand_shards(os.fsencode(pattern))]
    if not any(map(os.path.exists, shards)):
        raise MissingFileError("cannot open: No such file or directory", os.fsdecode(shards[0]))
    return shards
