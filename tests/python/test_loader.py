"""Loader: order, parts, positions, threads, arguments."""
import itertools
import json
import pickle
import random
import threading
import time

import numpy as np
import pytest

from imgpipe import DecodeError, Loader, MissingFileError
from loading import Names, keys_of, numbers
from shards import write_shard, write_shards


@pytest.fixture(scope="module", params=[".tar", ".tar.gz"])
def shards(request, tmp_path_factory):
    """Five shards of different lengths, one of them empty: their pattern and keys."""
    return write_shards(tmp_path_factory.mktemp("shards"), [3, 7, 0, 1, 11], request.param)


@pytest.fixture(params=["list", "shards"])
def sources(request, shards):
    return (numbers(23), numbers(23)) if request.param == "list" else shards


def test_batches_have_the_order_of_the_list():
    for count, size, drop_last, prefetch in itertools.product((0, 1, 5, 6, 7), (1, 3, 7), (False, True), (0, 1, 5)):
        loader = Loader(numbers(count), Names(), size, drop_last=drop_last, prefetch=prefetch)
        batches = list(loader)
        expected = [numbers(count)[at:at + size] for at in range(0, count, size)]
        if drop_last:
            expected = [batch for batch in expected if len(batch) == size]
        assert [batch.keys for batch in batches] == expected, (count, size, drop_last, prefetch)
        assert [batch.images for batch in batches] == expected
        assert all(batch.members == [{}] * len(batch.keys) and batch.errors == [None] * len(batch.keys)
                   for batch in batches)
        assert len(loader) == len(expected)


def test_keys_name_the_sources():
    assert keys_of(Loader(["a.png", b"bytes", np.zeros(3, np.uint8)], Names(), 2, prefetch=0)) == ["a.png", "1", "2"]


def test_shuffling_permutes_every_epoch_differently(sources):
    given, keys = sources
    loader = Loader(given, Names(), 4, shuffle=True, seed=5, shuffle_buffer=6)
    epochs = [keys_of(loader) for _ in range(3)]
    assert all(sorted(epoch) == sorted(keys) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs} | {tuple(keys)}) == 4
    again = Loader(given, Names(), 3, shuffle=True, seed=5, shuffle_buffer=6, prefetch=7)
    again.set_epoch(2)
    assert keys_of(again) == epochs[2]
    assert keys_of(Loader(given, Names(), 4, shuffle=True, seed=6, shuffle_buffer=6)) != epochs[0]


def test_the_order_never_changes():
    """The permutation is a promise: positions are stored, and results reported."""
    loader = Loader(numbers(10), Names(), 10, shuffle=True, seed=3)
    assert next(iter(loader)).keys == [f"{number}.png" for number in (1, 5, 9, 0, 4, 7, 2, 8, 3, 6)]


def test_ranks_are_disjoint_and_complete(sources):
    given, keys = sources
    for world, shuffle in itertools.product((1, 2, 3, 5, 6, 11, 40), (False, True)):
        parts = [keys_of(Loader(given, Names(), 3, shard=(rank, world), shuffle=shuffle, shuffle_buffer=4))
                 for rank in range(world)]
        assert sorted(itertools.chain(*parts)) == sorted(keys), (world, shuffle)
    for count in range(8):
        lengths = [len(keys_of(Loader(numbers(count), Names(), 1, shard=(rank, 3)))) for rank in range(3)]
        assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("shard", [(0, 1), (1, 2), (4, 7)])
def test_a_position_continues_with_the_samples_that_were_not_yielded(sources, shuffle, shard):
    arguments = {"shuffle": shuffle, "shuffle_buffer": 5, "shard": shard, "seed": 9}

    def loader(size=3, prefetch=2):
        return Loader(sources[0], Names(), size, prefetch=prefetch, **arguments)

    first = loader()
    first.set_epoch(4)
    whole = [batch.keys for batch in first]
    for stop in range(len(whole) + 1):
        begun = loader(prefetch=stop % 4)
        begun.set_epoch(4)
        before = [batch.keys for batch in itertools.islice(begun, stop)]
        state = json.loads(json.dumps(begun.state_dict()))
        for size in (3, 5):
            rest = loader(size)
            rest.load_state_dict(state)
            assert rest.state_dict() == state
            rest.set_epoch(4)  # as training loops do
            continued = [batch.keys for batch in rest]
            assert before == whole[:stop]
            assert list(itertools.chain(*continued)) == list(itertools.chain(*whole[stop:])), (stop, size)
            assert size != 3 or continued == whole[stop:]
            assert rest.state_dict()["epoch"] == 5


def test_an_iteration_left_early_begins_again():
    loader = Loader(numbers(9), Names(), 2, shuffle=True)
    first = next(iter(loader)).keys
    assert loader.state_dict()["within"] == 2
    assert next(iter(loader)).keys == first
    loader.set_epoch(1)
    assert loader.state_dict()["within"] == 0
    assert next(iter(loader)).keys != first


def test_a_position_of_other_arguments_is_refused(sources):
    state = Loader(sources[0], Names(), 2, shuffle=True).state_dict()
    others = [{"seed": 1}, {"shuffle": False}, {"shard": (0, 2)}, {"shuffle_buffer": 7}]
    for other in others:
        with pytest.raises(ValueError, match=f"state: {next(iter(other))} is .*same arguments"):
            Loader(sources[0], Names(), 2, **{"shuffle": True, **other}).load_state_dict(state)
    with pytest.raises(ValueError, match="state: sources is"):
        Loader(["a"], Names(), 2, shuffle=True).load_state_dict(state)


def test_a_damaged_position_is_refused(sources):
    loader = Loader(sources[0], Names(), 2, shuffle=True, shuffle_buffer=6)
    list(itertools.islice(loader, 2))
    state = loader.state_dict()
    ends = [[99, 0], [-1, 0], [0, -1], [0, 1.5], [0]] if state["start"] else [[0]]
    wrong = {"epoch": [-1, None, 0.5, "0"], "within": [-5, 10**12, 1.5, None], "start": ["zz", None, 0, *ends]}
    for name, values in wrong.items():
        for damaged in [{**state, name: value} for value in values] + [{k: state[k] for k in state if k != name}]:
            with pytest.raises((TypeError, ValueError), match=f"^state: {name}: expected .*, got ") as raised:
                loader.load_state_dict(damaged)
            assert "\n" not in str(raised.value)
    for damaged in (None, 5, [1], "state"):
        with pytest.raises(TypeError, match="^state: expected the dict of state_dict"):
            loader.load_state_dict(damaged)
    assert loader.state_dict() == state


@pytest.mark.parametrize("prefetch", [0, 2])
def test_a_position_beyond_the_last_sample(shards, prefetch):
    loader = Loader(shards[0], Names(), 2, prefetch=prefetch)
    for start, within in (([0, 0], 23), ([4, 99], 1)):
        loader.load_state_dict({**loader.state_dict(), "start": start, "within": within})
        with pytest.raises(ValueError, match="^state: its position is beyond the last sample"):
            list(loader)


def test_it_is_pickled_with_its_position(sources):
    loader = Loader(sources[0], Names(), 2, shuffle=True, seed=2)
    loader.set_epoch(3)
    copy = pickle.loads(pickle.dumps(loader))
    assert keys_of(copy) == keys_of(loader)
    next(iter(loader))
    copy = pickle.loads(pickle.dumps(loader))
    assert copy.state_dict() == loader.state_dict()


class Slow(Names):
    """Counts the calls in progress, and waits until it may go on."""

    def __init__(self):
        super().__init__()
        self.lock, self.running, self.most = threading.Lock(), 0, 0

    def batch(self, sources, **choices):
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(random.random() / 100)
        with self.lock:
            self.running -= 1
        return super().batch(sources, **choices)


def test_prefetch_bounds_the_batches_in_progress():
    for prefetch, device, most in ((1, "cpu", 1), (3, "cpu", 3), (None, "cpu", 2), (None, "cuda:1", 4)):
        pipeline = Slow()
        pipeline.device = device
        loader = Loader(numbers(40), pipeline, 1, prefetch=prefetch)
        for number, batch in enumerate(loader):
            assert batch.keys == [f"{number}.png"]
            assert len(pipeline.calls) <= number + 1 + most
        assert pipeline.most == most


def test_prefetch_is_at_most_an_epoch(tmp_path):
    pipeline = Slow()
    assert keys_of(Loader(numbers(6), pipeline, 2, prefetch=10**9)) == numbers(6)
    assert pipeline.most <= 3
    write_shard(tmp_path / "a.tar", [(name, b"x") for name in numbers(200)])
    pipeline = Slow()
    assert len(keys_of(Loader(tmp_path / "a.tar", pipeline, 1, prefetch=10**9))) == 200
    assert pipeline.most <= 64


def test_leaving_ends_the_threads():
    before = threading.active_count()
    iterator = iter(Loader(numbers(40), Slow(), 1, prefetch=4))
    next(iterator)
    assert before < threading.active_count() <= before + 6  # an idle thread is reused instead of starting another
    iterator.close()
    assert threading.active_count() == before


class Failing(Names):
    def batch(self, sources, **choices):
        if "7.png" in sources:
            raise DecodeError("damaged", "7.png")
        return super().batch(sources, **choices)


def test_an_error_comes_in_its_turn_and_ends_the_threads():
    before = threading.active_count()
    seen = []
    with pytest.raises(DecodeError, match="7.png: damaged"):
        for batch in Loader(numbers(40), Failing(), 2, prefetch=5):
            seen += batch.keys
    assert seen == numbers(6)
    assert threading.active_count() == before


def test_samples_of_shards_have_their_members(shards):
    pattern, keys = shards
    for shuffle in (False, True):
        batches = list(Loader(pattern, Names(), 4, shuffle=shuffle))
        for batch in batches:
            for key, image, members in zip(batch.keys, batch.images, batch.members):
                assert image == key * 50
                assert members == {"cls": str(int(key.partition("/")[2])).encode()}
        assert sum(len(batch.keys) for batch in batches) == len(keys)
    with pytest.raises(TypeError, match="not known before they are read"):
        len(Loader(pattern, Names(), 4))


def test_directories_are_searched_as_the_program_does(tmp_path):
    names = ["b.png", "a/z.JPG", "a/B.tif", "a-b.webp", "ä.ppm"]
    for name in names + [".hidden.png", "a/.h/x.png", "text.txt"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "loop").symlink_to(tmp_path)
    batch, = Loader(tmp_path, Names(), 99)
    assert batch.keys == sorted(names, key=str.encode)
    assert batch.images == [f"{tmp_path}/{name}" for name in batch.keys]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="empty' contains no images"):
        Loader(tmp_path / "empty", Names(), 1)


def test_patterns_select_images_as_the_program_does(tmp_path):
    names = ["a-8.png", "a-9.png", "a-10.JPG", "b/a-1.png", "b/c/d.ppm", "a.tar", "text.txt", "[x].png"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")

    def keys(pattern):
        loader = Loader(tmp_path / pattern, Names(), 99)
        keys = keys_of(loader)
        assert [image for batch in loader for image in batch.images] == keys and len(loader) == 1
        return [key.removeprefix(f"{tmp_path}/") for key in keys]

    assert keys("*.png") == ["[x].png", "a-8.png", "a-9.png"]
    assert keys("a*") == ["a-10.JPG", "a-8.png", "a-9.png"]
    assert keys("**/*-[19]*") == ["a-10.JPG", "a-9.png", "b/a-1.png"]
    assert keys("{b,c}") == ["b/a-1.png", "b/c/d.ppm"]
    assert keys("a-{8..9}.png") == ["a-8.png", "a-9.png"]
    assert keys("a-{9..7}.png") == ["a-9.png", "a-8.png", "a-7.png"]  # the missing one fails in its batch
    for wrong in ("*.webp", "no/*.png", "*.txt"):
        with pytest.raises(ValueError, match="sources: .* matches no images$"):
            keys(wrong)
    with pytest.raises(ValueError, match="neither a directory, a pattern .*; put a single image in a list$"):
        keys("a-8.png")
    with pytest.raises(MissingFileError, match="no: no such directory; expected a directory, a pattern"):
        keys("no")


def test_wrong_arguments(tmp_path):
    good = {"sources": ["a"], "pipeline": Names(), "batch_size": 1}
    wrong = {
        "sources: expected a directory.*got bytes": (TypeError, {"sources": b"x"}),
        "sources: expected a directory.*got set": (TypeError, {"sources": {"x"}}),
        "sources: .*neither a directory, a pattern nor": (ValueError, {"sources": __file__}),
        "sources: .*with both": (ValueError, {"sources": ["a.tar", "b.png"]}),
        "pipeline: expected an imgpipe.Pipeline, got str": (TypeError, {"pipeline": "gray"}),
        "batch_size: expected an int from 1, got 0": (ValueError, {"batch_size": 0}),
        "batch_size: expected int, got float": (TypeError, {"batch_size": 1.5}),
        "shard: expected .* got \\(2, 2\\)": (ValueError, {"shard": (2, 2)}),
        "shard: expected .* got 3": (TypeError, {"shard": 3}),
        "seed: expected an int from 0, got -1": (ValueError, {"seed": -1}),
        "prefetch: expected an int from 0": (ValueError, {"prefetch": -1}),
        "boxes: expected a function of .height, width, random., got list": (TypeError, {"boxes": [(0, 0, 1, 1)]}),
        "flips: expected a function of .height, width, random., got bool": (TypeError, {"flips": False}),
        "shuffle_buffer: expected an int from 1": (ValueError, {"shuffle_buffer": 0})}
    for message, (kind, arguments) in wrong.items():
        with pytest.raises(kind, match=message) as raised:
            Loader(**{**good, **arguments})
        assert "\n" not in str(raised.value) and len(str(raised.value)) < 250
