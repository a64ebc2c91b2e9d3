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
from ._shard_members import SHARD_THREADS, Data, Member, members_of_shards

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
        sources = [self._sources[number] for number in samples]
        if self._directory:
            return Loaded(sources, sources, [self._directory + name for name in sources], [{} for _ in sources])
        seeds = [str(number) for number in samples]
        keys = [os.fsdecode(source) if isinstance(source, (str, os.PathLike)) else seed
                for source, seed in zip(sources, seeds)]
        return Loaded(keys, seeds, sources, [{} for _ in sources])


class ShardImage:
    """The image of a sample as a binary file object, whose name appears in errors."""

    __slots__ = ("_shard_view", "name")  # the core takes the data from _shard_view, without a copy

    def __init__(self, name: str, data: bytes | memoryview) -> None:
        self.name = name
        self._shard_view = data

    def read(self) -> bytes:
        return bytes(self._shard_view)


class FailedImage:
    """A ShardImage that cannot be read."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def read(self) -> bytes:
        raise self._error


class ShardSample(NamedTuple):
    shard: bytes  # its path
    key: str
    image: str  # the extension of the image
    members: dict[str, Data]


class ShardSamples:
    """The samples of tar shards by WebDataset's rule: consecutive members whose names are equal up to the first dot of
    their last component.

    Blocks hold consecutive samples. For an uncompressed shard, data is read when a block's samples are loaded.
    """

    first: list[int] = [0, 0]  # a shard, and a sample in it

    def __init__(self, shards: list[bytes], tolerant: bool, threads: int) -> None:
        self._shards = shards
        self._tolerant = tolerant
        self._threads = threads
        self._reader = _core.PartReader()
        self._image_extensions = frozenset(_core.image_extensions())
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
        block: list[ShardSample] = []
        first, skipped = start
        with contextlib.closing(members_of_shards(mine[first:], self._tolerant, self._threads, stop)) as shards_members:
            for number, members in enumerate(shards_members, first):
                for at, sample in enumerate(self._samples_of(mine[number], members)):
                    if stop.is_set():
                        return
                    if number == first and at < skipped or at % parts != part:
                        continue
                    block.append(sample)
                    if len(block) == size:
                        yield self._block(order, start, block)
                        start, block = [number, at + 1], []
        if block:
            yield self._block(order, start, block)

    def load(self, samples: Sequence[Any]) -> Loaded:
        parts = [(sample.shard, *part) for sample in samples for part in sample.members.values()
                 if isinstance(part, tuple)]
        data = iter(self._reader.read(parts))
        keys: list[str] = []
        images: list[ShardImage | FailedImage] = []
        members: list[dict[str, bytes]] = []
        for shard, key, image, stored in samples:
            files = {extension.lower(): next(data) if isinstance(part, tuple) else part
                     for extension, part in stored.items()}
            keys.append(key)
            if failed := [part for part in files.values() if isinstance(part, Exception)]:
                images.append(FailedImage(failed[0]))
                members.append({})
                continue
            images.append(ShardImage(f"{os.fsdecode(shard)}/{key}.{image}", files.pop(image.lower())))
            members.append({extension: bytes(part) for extension, part in files.items()})
        return Loaded(keys, keys, images, members)

    @staticmethod
    def _block(order: Order, start: list[int], block: list[ShardSample]) -> Block:
        return Block(start, [block[number] for number in order.permutation(len(block), *start)])

    def _samples_of(self, shard: bytes, stored: Iterator[Member]) -> Iterator[ShardSample]:
        key = None
        members: dict[str, Data] = {}
        for name, part in stored:
            directory, slash, base = name.rpartition("/")
            stem, _, extension = base.partition(".")
            if not stem or not extension:
                continue
            if key != directory + slash + stem or extension in members:
                yield from self._sample(shard, key, members)
                key, members = directory + slash + stem, {}
            members[extension] = part
        yield from self._sample(shard, key, members)

    def _sample(self, shard: bytes, key: str | None, members: dict[str, Data]) -> Iterator[ShardSample]:
        for ending in (str, lambda extension: extension.rpartition(".")[2]):  # "jpg" rather than "depth.png"
            for extension in members:
                if ending(extension).lower() in self._image_extensions:
                    yield ShardSample(shard, key or "", extension, members)
                    return


def samples_of(sources: object, tolerant: bool, threaded: bool) -> Samples:
    """Return the samples of a Loader's `sources`.

    `tolerant`: the rest of a damaged shard is skipped. `threaded`: threads list the members of the next shards.
    """
    threads = SHARD_THREADS if threaded else 0
    if isinstance(sources, (str, os.PathLike)):
        path = os.fsdecode(sources)
        if not os.path.isdir(path):
            if not _core.is_shard(os.fsencode(path)):
                raise ValueError(f"sources: {path!r} is neither a directory nor the name of tar shards")
            return ShardSamples(_shards([path]), tolerant, threads)
        names, problems = _core.list_images(os.fsencode(path))
        for name, reason in problems:
            raise OSError(f"{name}: {reason}")
        if not names:
            raise ValueError(f"sources: {path!r} contains no images")
        return ListedSamples(names, os.path.join(path, ""))
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
