"""Batches for training and inference, read ahead by threads."""
import contextlib
import operator
import os
import random
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, SupportsIndex, TypedDict

from . import _core
from ._ahead import ahead, read_ahead
from ._arguments import acceptance, bounded, function_of
from ._arrays import image_array, is_image
from ._batch import Batch
from ._errors import DecodeError
from ._io import Lenient, info
from ._sample_random import SampleRandom
from ._samples import ListedSamples, Loaded, Order, samples_of

__all__ = ["Loader", "LoaderBatch", "LoaderState"]


class LoaderBatch(NamedTuple):
    """A batch of a Loader.

    images:  as Pipeline.batch() returns them: an array (N, ...), or a list if the shapes differ.
    keys:    N names: the path of an image below the directory, a listed or matching path, the number of another listed
             source, or the key of a shard's sample.
    members: N dictionaries with the other members of each sample of a shard, by extension: {"cls": b"7"}.
    errors:  N entries, each None or, with on_error="return", the exception of a failed sample. With on_error="skip",
             the exceptions of the samples that were skipped since the previous batch.
    """

    images: Any
    keys: list[str]
    members: list[dict[str, bytes]]
    errors: list[Exception | None]


class LoaderState(TypedDict):
    """A position between two batches of a Loader, as JSON values."""

    sources: int
    shuffle: bool
    shuffle_buffer: int
    seed: int
    shard: list[int]
    epoch: int
    start: list[int]
    within: int


class Position(NamedTuple):
    epoch: int
    start: list[int]  # of a block (_samples.py)
    within: int       # the block's samples before the position


class Chunk(NamedTuple):
    samples: list[Any]
    end: Position


class BatchPipeline(Protocol):
    """The part of Pipeline that a Loader uses."""

    @property
    def on_error(self) -> str: ...

    def batch(self, sources: Sequence[Any], *, boxes: Sequence[Any] | None = None,
              flips: Sequence[bool] | None = None) -> Any: ...


class Loader:
    """Iterates over batches of images that a pipeline makes, one epoch per iteration.

    sources:    a directory, whose images are found in all its subdirectories and sorted by the bytes of their names; a
                pattern of images such as "photos/*/*.jpg" or "photo-{000..099}.png", as on the command line; a sequence
                of sources (paths, bytes, ...); or tar shards: a name or pattern such as "shard-{0000..0099}.tar" or
                "train/*.tar", or a sequence of them. Consecutive members of a shard belong to one sample if their names
                are equal up to the first dot of the last component; the rest is the extension. The first member whose
                extension is that of an image format, or else ends with one ("left.png"), is the image; samples without
                an image are skipped.
    pipeline:   a Pipeline. Its on_error determines what happens to samples that fail; its device holds the batches.
    batch_size: the number of samples in a batch. The last batch may have fewer; on_error="skip" omits some.
    shuffle:    permute the samples, differently in every epoch. A list or directory is permuted as a whole. For shards,
                first their order is permuted, then each `shuffle_buffer` consecutive samples of the stream.
    shuffle_buffer: see `shuffle`. Up to twice this many samples are in memory: about 0.4 KB each, and for compressed
                shards also their data. With prefetch also the names in the next three shards: up to 16,384 members of
                each (3 MB), or 16 MB of a compressed one. Memory for the files of a batch is kept for later batches.
    seed:       determines the order, `boxes` and `flips`. An int from 0.
    shard:      (rank, world): this loader yields one of `world` disjoint parts, which together are the data set: every
                world-th sample of the order, or every world-th shard. If there are fewer shards than ranks, some ranks
                share one.
    prefetch:   the number of batches that threads make, at the same time, while the caller uses the current one, at
                most those of an epoch, or 64 for shards. None: 4 with a CUDA device, which one batch alone does not
                keep busy, otherwise 2. 0: the calling thread makes each batch on request.
    drop_last:  skip the last batch if it is not full.
    boxes:      None, or a function of (height, width, random) that returns the box (top, left, height, width) to crop
                from the image before the first stage. `random` is a random.Random, valid during the call. Its numbers
                depend only on the seed, the epoch and the sample, not on the order, threads or ranks.
    flips:      None, or a function of (height, width, random) that returns whether to mirror the image, called after
                `boxes` for each sample.

    The batches depend only on the arguments and the epoch, not on threads. A Loader is pickled by its arguments and its
    position. Leaving an iteration early ends its threads; the next iteration begins the epoch again, unless
    load_state_dict() moved the position.

    Raises TypeError and ValueError for wrong arguments, and OSError for directories and shards that cannot be opened.
    The iteration raises errors of samples as Pipeline.batch() does. With on_error="skip", batches without a good sample
    are left out, and the next batch has their errors; without a next batch, a UserWarning has them. If all samples of
    an epoch fail, the iteration raises the first error at its end. A damaged shard raises DecodeError; with
    on_error="skip" or "return", the rest of the shard is skipped with a DamageWarning.
    """

    def __init__(self, sources: str | os.PathLike[str] | Sequence[Any], pipeline: BatchPipeline,
                 batch_size: SupportsIndex, *, shuffle: bool = False, shuffle_buffer: SupportsIndex = 10_000,
                 seed: SupportsIndex = 0, shard: tuple[int, int] = (0, 1), prefetch: SupportsIndex | None = None,
                 drop_last: bool = False, boxes: Callable[[int, int, random.Random], Sequence[int]] | None = None,
                 flips: Callable[[int, int, random.Random], bool] | None = None) -> None:
        if not callable(getattr(pipeline, "batch", None)):
            raise TypeError(f"pipeline: expected an imgpipe.Pipeline, got {type(pipeline).__name__}")
        self._pipeline = pipeline
        self._batch_size = _at_least("batch_size", batch_size, 1)
        self._shuffle = bool(shuffle)
        self._shuffle_buffer = _at_least("shuffle_buffer", shuffle_buffer, 1)
        self._seed = _at_least("seed", seed, 0)
        self._rank, self._world = _part(shard)
        if prefetch is None:
            prefetch = 4 if str(getattr(pipeline, "device", "cpu")).startswith("cuda") else 2
        self._prefetch = _at_least("prefetch", prefetch, 0)
        self._drop_last = bool(drop_last)
        self._choices = {name: function_of(name, function, "height, width, random")
                         for name, function in (("boxes", boxes), ("flips", flips)) if function is not None}
        self._samples = samples_of(sources, pipeline.on_error != "raise", self._prefetch > 0)
        self._prefetch = min(self._prefetch, len(self) if isinstance(self._samples, ListedSamples) else 64)
        self._position = Position(0, self._samples.first, 0)
        self._continues = False  # whether the next iteration begins at the position

    def __repr__(self) -> str:
        return (f"Loader({self._samples}, {self._pipeline!r}, {self._batch_size}, shuffle={self._shuffle}, "
                f"seed={self._seed}, shard={(self._rank, self._world)})")

    def __len__(self) -> int:
        """Return the number of batches in an epoch; with on_error="skip" there may be fewer.

        Raises TypeError for shards, whose samples are not counted in advance.
        """
        samples = len(range(self._rank, len(self._samples), self._world))
        return samples // self._batch_size if self._drop_last else -(-samples // self._batch_size)

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Select the epoch of the next iteration, from 0. A complete iteration selects the following one.

        A position set by load_state_dict() remains if it is in this epoch.
        """
        number = _at_least("epoch", epoch, 0)
        if number != self._position.epoch:
            self._position = Position(number, self._samples.first, 0)
            self._continues = False

    def state_dict(self) -> LoaderState:
        """Return the position after the last batch that was yielded, as JSON values."""
        epoch, start, within = self._position
        return {"sources": self._samples.count, "shuffle": self._shuffle, "shuffle_buffer": self._shuffle_buffer,
                "seed": self._seed, "shard": [self._rank, self._world], "epoch": epoch, "start": list(start),
                "within": within}

    def load_state_dict(self, state: LoaderState) -> None:
        """Set the position of the next iteration to the one that another Loader's state_dict() returned.

        The samples that follow are those that were not yet yielded, in the same order. batch_size, prefetch and the
        pipeline may differ. Raises ValueError if the sources, shuffle, shuffle_buffer, seed or shard differ, and
        TypeError or ValueError for a damaged state.
        """
        if not isinstance(state, Mapping):
            raise TypeError(f"state: expected the dict of state_dict(), got {type(state).__name__}")
        given: dict[str, Any] = dict(state)
        present: dict[str, Any] = dict(self.state_dict())
        for name in ("sources", "shuffle", "shuffle_buffer", "seed", "shard"):
            if given.get(name) != present[name]:
                raise ValueError(f"state: {name} is {given.get(name)!r}, but this Loader has {present[name]!r}; "
                                 "make it with the same arguments")
        epoch = _at_least("state: epoch", given.get("epoch"), 0)
        start, limits = given.get("start"), self._samples.limits(self._order(epoch))
        if not isinstance(start, (list, tuple)) or len(start) != len(limits) - 1:
            raise ValueError(f"state: start: expected a list of {len(limits) - 1} ints, got {start!r:.80}")
        *start, within = (bounded(f"state: {name}", number, 0, most) for name, number, most in
                          zip([*["start"] * len(start), "within"], [*start, given.get("within")], limits))
        self._position = Position(epoch, start, within)
        self._continues = True

    def __iter__(self) -> Iterator[LoaderBatch]:
        if not self._continues:
            self._position = Position(self._position.epoch, self._samples.first, 0)
        self._continues = False
        return self._batches(self._position)

    def _batches(self, position: Position) -> Iterator[LoaderBatch]:
        process = os.getpid()
        order = self._order(position.epoch)
        has_images = position != (position.epoch, self._samples.first, 0)
        unseen: list[Exception | None] = []  # errors that no batch has

        def made(chunk: Chunk) -> tuple[LoaderBatch, Position]:
            return self._batch(order, chunk.samples), chunk.end

        stop = threading.Event()
        with (contextlib.closing(self._chunks(order, position, stop)) as chunks,
              contextlib.closing(ahead(made, chunks, self._prefetch) if self._prefetch
                                 else (made(chunk) for chunk in chunks)) as batches):
            try:
                for batch, self._position in batches:
                    unseen += batch.errors
                    if batch.keys:
                        batch, unseen, has_images = batch._replace(errors=unseen), [], True
                        yield batch
                    if os.getpid() != process:
                        raise RuntimeError("the iteration began before a fork, which ended its threads; iterate again")
            finally:
                stop.set()
        self._position = Position(position.epoch + 1, self._samples.first, 0)
        if unseen:
            if unseen[0] and not has_images:
                raise unseen[0]
            warnings.warn(f"Loader: the last {len(unseen)} samples failed; the first: {unseen[0]}", stacklevel=2)

    def _order(self, epoch: int) -> Order:
        return Order(self._seed, epoch, self._shuffle, self._shuffle_buffer, self._rank, self._world)

    def _chunks(self, order: Order, position: Position, stop: threading.Event) -> Generator[Chunk, None, None]:
        """Yield the samples of each batch, or end soon after `stop` is set."""
        chunk: list[Any] = []
        at = position.within
        blocks = self._samples.blocks(order, position.start, stop)
        for block in read_ahead(blocks) if self._prefetch else blocks:
            if at > len(block.samples):
                break
            while at < len(block.samples):
                taken = block.samples[at:at + self._batch_size - len(chunk)]
                chunk.extend(taken)
                at += len(taken)
                position = Position(order.epoch, block.start, at)
                if len(chunk) == self._batch_size:
                    yield Chunk(chunk, position)
                    chunk = []
            at = 0
        if at:
            raise ValueError("state: its position is beyond the last sample; use it with the same sources")
        if chunk and not self._drop_last:
            yield Chunk(chunk, position)

    def _batch(self, order: Order, samples: list[Any]) -> LoaderBatch:
        loaded = self._samples.load(samples)
        result = self._pipeline.batch(loaded.sources, **self._chosen(order, loaded))
        if not isinstance(result, Batch):
            return LoaderBatch(result, loaded.keys, loaded.members, [None] * len(loaded.keys))
        errors = [error for error in result.errors if error is not None or self._pipeline.on_error == "return"]
        return LoaderBatch(result.images, [loaded.keys[i] for i in result.indices],
                           [loaded.members[i] for i in result.indices], errors)

    def _chosen(self, order: Order, loaded: Loaded) -> dict[str, list[Any]]:
        """Return the boxes and flips of a batch, if there are functions for them."""
        chosen: dict[str, list[Any]] = {name: [] for name in self._choices}
        if chosen:
            chance = SampleRandom()
            for seed, size in zip(loaded.seeds, _sizes_of(loaded.sources, getattr(self._pipeline, "lenient", False))):
                chance.seed(f"{order.seed}:{order.epoch}:{seed}")
                for name, function in self._choices.items():
                    # A source that cannot be read fails in the batch.
                    chosen[name].append(function(*size, chance) if size else (0, 0, 1, 1) if name == "boxes" else False)
        return chosen


def _sizes_of(sources: list[Any], lenient: Lenient) -> list[tuple[int, int] | None]:
    """Return the height and width of each image."""
    files = (_core.ShardImage, str, bytes, bytearray, memoryview, os.PathLike)
    if all(isinstance(source, files) for source in sources):
        return _core.image_sizes(sources, acceptance(lenient))
    return [_size_of(source, lenient) for source in sources]


def _size_of(source: Any, lenient: Lenient) -> tuple[int, int] | None:
    try:
        shape = image_array(source).shape if is_image(source) else info(source, lenient=lenient).shape
    except (DecodeError, OSError):
        return None
    return shape[0], shape[1]


def _at_least(name: str, value: Any, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected int, got {type(value).__name__}") from None
    if number < least:
        raise ValueError(f"{name}: expected an int from {least}, got {number}")
    return number


def _part(shard: tuple[int, int]) -> tuple[int, int]:
    try:
        rank, world = map(operator.index, shard)
    except (TypeError, ValueError):
        raise TypeError(f"shard: expected (rank, world), two ints, got {shard!r:.80}") from None
    if not 0 <= rank < world:
        raise ValueError(f"shard: expected (rank, world) with 0 <= rank < world, got ({rank}, {world})")
    return rank, world
