"""Loader: order, parts, positions, threads, tar shards."""
import gzip
import io
import itertools
import json
import pickle
import random
import shutil
import subprocess
import tarfile
import threading
import time
import warnings

import numpy as np
import PIL.Image
import pytest

import imgpipe
from imgpipe import Batch, DamageWarning, DecodeError, Loader, MissingFileError, Pipeline
from made import noise
from shards import write_shard, write_shards


class Names:
    """Instead of a Pipeline: the "images" of a batch are its sources."""

    def __init__(self, on_error="raise"):
        self.on_error = on_error
        self.calls = []

    def batch(self, sources, *, boxes=None, flips=None):
        self.calls.append((boxes, flips))
        images = [source.read().decode() if hasattr(source, "read") else source for source in sources]
        return images if self.on_error == "raise" else Batch(images, [None] * len(images), range(len(images)))


class Raw(Names):
    def batch(self, sources, *, boxes=None, flips=None):
        images = [source.read() for source in sources]
        return images if self.on_error == "raise" else Batch(images, [None] * len(images), range(len(images)))


def keys_of(loader):
    return [key for batch in loader for key in batch.keys]


def numbers(count):
    return [f"{number}.png" for number in range(count)]


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
    for prefetch in (1, 3):
        pipeline = Slow()
        loader = Loader(numbers(40), pipeline, 1, prefetch=prefetch)
        for number, batch in enumerate(loader):
            assert batch.keys == [f"{number}.png"]
            assert len(pipeline.calls) <= number + 1 + prefetch
        assert pipeline.most == prefetch


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
    assert threading.active_count() == before + 6
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


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_data_of_every_size_and_name(tmp_path, format):
    chance = random.Random(format)
    names = [f"{'d' * chance.choice([1, 90])}/{number}" for number in range(60)]
    if format != tarfile.USTAR_FORMAT:
        names += ["é" * 80, "l" * 300, "\udcff"]
    members = [(f"{name}.png", chance.randbytes(chance.choice([0, 1, 511, 512, 513, 4096, 5000, 200_000])))
               for name in names]
    shard = tmp_path / "a.tar"
    write_shard(shard, members, format=format)
    batches = list(Loader(shard, Raw(), 7))
    assert [key for batch in batches for key in batch.keys] == names
    assert [image for batch in batches for image in batch.images] == [data for _, data in members]


def test_members_are_grouped_by_the_rule(tmp_path):
    members = [("a.json", b"0"), ("a.jpg", b"1"), ("a.seg.png", b"2"), ("b.jpg", b"3"), ("c.json", b"4"),
               (".hidden", b"5"), ("a.jpg", b"6"), ("a.jpg", b"7"), ("x.y/d.JPG", b"8"), ("x.y/d.cls", b"9"),
               ("README", b""), ("f.depth.png", b"10"), ("f.jpeg", b"11"), ("g.json", b"12"), ("g.left.Png", b"13")]
    write_shard(tmp_path / "a.tar", members)
    with tarfile.open(tmp_path / "a.tar", "a") as archive:
        for kind in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE):
            header = tarfile.TarInfo("e.jpg")
            header.type, header.linkname = kind, "a.jpg"
            archive.addfile(header)
    batch, = Loader(tmp_path / "a.tar", Names(), 100)
    assert list(zip(batch.keys, batch.images)) == [("a", "1"), ("b", "3"), ("a", "6"), ("a", "7"), ("x.y/d", "8"),
                                                  ("f", "11"), ("g", "13")]
    assert batch.members == [{"json": b"0", "seg.png": b"2"}, {}, {}, {}, {"cls": b"9"}, {"depth.png": b"10"},
                             {"json": b"12"}]


@pytest.mark.skipif(not shutil.which("tar"), reason="the program tar is missing")
@pytest.mark.parametrize("format", ["gnu", "posix"])
def test_sparse_members(tmp_path, format):
    with open(tmp_path / "a.png", "wb") as file:
        for at in (0, 3_000_000, 7_000_001):
            file.seek(at)
            file.write(b"data")
    (tmp_path / "b.png").write_bytes(b"b")
    subprocess.run(["tar", "-S", f"--format={format}", "-cf", "a.tar", "a.png", "b.png"], cwd=tmp_path, check=True)
    batch, = Loader(tmp_path / "a.tar", Raw(), 2)
    assert batch.images == [(tmp_path / name).read_bytes() for name in ("a.png", "b.png")]


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_damaged_shard(tmp_path, mode):
    names = [str(tmp_path / f"{number}.tar") for number in range(2)]
    for number, name in enumerate(names):
        members = [(f"{number}/{sample}.jpg", random.Random(sample).randbytes(100_000)) for sample in range(5)]
        write_shard(name, members, mode)
    with open(names[0], "r+b") as shard:
        shard.truncate(330_000)  # in the fourth image
    for pipeline, on_error in ((Raw(), "raise"), (Raw("skip"), "skip")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if on_error == "raise":
                with pytest.raises(DecodeError, match="damaged archive") as raised:
                    keys_of(Loader(names, pipeline, 2))
                assert raised.value.path == names[0]
            else:
                keys = keys_of(Loader(names, pipeline, 2))
                assert keys == ["0/0", "0/1", "0/2"] + [f"1/{sample}" for sample in range(5)]
                assert [warning.category for warning in caught] == [DamageWarning]
                assert str(caught[0].message).startswith(f"{names[0]}: damaged archive")


def test_a_member_that_expands_too_far_fails_alone(tmp_path):
    """An image is limited by the size in its header."""
    image = io.BytesIO()
    PIL.Image.fromarray(noise((9, 9))).save(image, "png")
    good, mebibytes = image.getvalue().ljust(512, b"\0"), 260
    header = tarfile.TarInfo("b.png")
    header.size = len(good) + (mebibytes << 20)
    write_shard(tmp_path / "c.tar", [("c.png", good)])
    write_shard(tmp_path / "a.tar", [("a.png", good)])
    first, last = (tmp_path / "a.tar").read_bytes()[:1024], (tmp_path / "c.tar").read_bytes()
    zeros = gzip.compress(bytes(1 << 20))
    (tmp_path / "a.tar.gz").write_bytes(
        gzip.compress(first + header.tobuf() + good) + zeros * mebibytes + gzip.compress(last))
    pipe = Pipeline("gray", on_error="skip")
    assert keys_of(Loader(tmp_path / "a.tar.gz", pipe, 2)) == ["a", "c"]
    with pytest.raises(DecodeError, match="a.tar.gz/b.png: too long: more than"):
        keys_of(Loader(tmp_path / "a.tar.gz", Pipeline("gray"), 2))


def test_a_missing_shard(tmp_path):
    for on_error in ("raise", "skip"):
        for name in ("no.tar", "no-{0..3}.tar"):
            with pytest.raises(MissingFileError, match=r"no(-0)?.tar: cannot open: ") as raised:
                Loader(tmp_path / name, Names(on_error), 2)
            assert raised.value.path == str(tmp_path / name.replace("{0..3}", "0"))


def test_an_error_of_a_shard_comes_in_its_turn(tmp_path):
    before = threading.active_count()
    names = [tmp_path / f"{number}.tar" for number in range(7)]
    for number in (0, 1, 2, 3, 4, 6):
        write_shard(names[number], [(f"{number}/{sample}.jpg", b"") for sample in range(1100)])
    for prefetch in (0, 1, 3):
        seen = []
        with pytest.raises(DecodeError, match="5.tar: "):
            for batch in Loader(names, Names(), 100, prefetch=prefetch):
                seen += batch.keys
        whole = [f"{number}/{sample}" for number in range(5) for sample in range(1100)]
        assert seen == whole[:5300], prefetch  # the batches of complete blocks of 256
        assert threading.active_count() == before
        iterator = iter(Loader(names, Names(), 100, prefetch=prefetch))
        next(iterator)
        iterator.close()
        assert threading.active_count() == before


def test_images_that_are_kept_do_not_change(tmp_path):
    """Their memory is used again only after them."""
    class Keeping(Names):
        def batch(self, sources, **choices):
            return list(sources)

    data = [random.Random(sample).randbytes(1000 * sample) for sample in range(50)]
    write_shard(tmp_path / "a.tar", [(f"{sample}.jpg", data[sample]) for sample in range(50)])
    name = str(tmp_path / "a.tar")
    loader = Loader([name, name], Keeping(), 7, shuffle=True)
    for _ in range(2):
        batches = list(loader)
        for batch in batches:
            for key, image in zip(batch.keys, batch.images):
                assert image.read() == data[int(key)], key
        assert sum(len(batch.keys) for batch in batches) == 100


def test_patterns_of_shards(tmp_path):
    for name in ("a-8", "a-9", "a-10", "b-10"):
        write_shard(tmp_path / f"{name}.tar", [(f"{name}.png", b"")])

    def keys(pattern):
        return keys_of(Loader(str(tmp_path / pattern), Names(), 9))

    assert keys("a-{8..10}.tar") == ["a-8", "a-9", "a-10"]
    assert keys("{a,b}-{10..10}.tar") == ["a-10", "b-10"]
    assert keys("a-*.tar") == ["a-10", "a-8", "a-9"]
    assert keys("a-{9..8}.tar") == ["a-9", "a-8"]
    with pytest.raises(DecodeError, match="a-08.tar: "):
        keys("a-{08..10}.tar")
    write_shard(tmp_path / "{1..2}.tar", [("braces.png", b"")])
    assert keys("{1..2}.tar") == ["braces"]
    with pytest.raises(ValueError, match=r"c-\*.tar': no match"):
        keys("c-*.tar")


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


def test_wrong_arguments(tmp_path):
    good = {"sources": ["a"], "pipeline": Names(), "batch_size": 1}
    wrong = {
        "sources: expected a directory.*got bytes": (TypeError, {"sources": b"x"}),
        "sources: expected a directory.*got set": (TypeError, {"sources": {"x"}}),
        "sources: .*neither a directory nor": (ValueError, {"sources": str(tmp_path / "no")}),
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


IMAGES = [noise((50 + number, 60, 3), seed=number) for number in range(10)]
STAGES = "gray,resize:16:16"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A directory with images and, as the fourth, a damaged one; and a shard with the same."""
    directory = tmp_path_factory.mktemp("files")
    members = []
    for number, image in enumerate(IMAGES):
        data = imgpipe.encode(image)
        if number == 3:
            data = data[:2000]
        (directory / f"{number}.png").write_bytes(data)
        members += [(f"{number}.png", data), (f"{number}.cls", b"%d" % number)]
    shard = tmp_path_factory.mktemp("shard") / "a.tar"
    write_shard(shard, members)
    return directory, shard


@pytest.mark.parametrize("source", [0, 1])
def test_batches_are_those_of_the_pipeline(files, source):
    good = [number for number in range(10) if number != 3]
    wanted = Pipeline(STAGES).batch([IMAGES[number] for number in good])
    where = str(files[source])

    def loader(on_error):
        return Loader(files[source], Pipeline(STAGES, on_error=on_error), 4)

    names = [f"{number}.png" if source == 0 else str(number) for number in range(10)]
    with pytest.raises(DecodeError, match="3.png: ") as raised:
        list(loader("raise"))
    assert raised.value.path == f"{where}/3.png"

    first, *others = batches = list(loader("return"))
    assert [key for batch in batches for key in batch.keys] == names
    assert [type(error) for error in first.errors] == [type(None)] * 3 + [DecodeError]
    assert first.errors[3].path == f"{where}/3.png" and not first.images[3].any()
    assert all(batch.errors == [None] * len(batch.keys) for batch in others)
    np.testing.assert_array_equal(np.concatenate([batch.images for batch in batches])[good], wanted)

    batches = list(loader("skip"))
    assert [len(batch.images) for batch in batches] == [3, 4, 2]
    assert [key for batch in batches for key in batch.keys] == [names[number] for number in good]
    assert [[error.path for error in batch.errors] for batch in batches] == [[f"{where}/3.png"], [], []]
    np.testing.assert_array_equal(np.concatenate([batch.images for batch in batches]), wanted)
    if source == 1:
        assert [members["cls"] for batch in batches for members in batch.members] == [b"%d" % number for number in good]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_errors_of_a_batch_without_good_images(files, prefetch):
    pipeline = Pipeline(STAGES, on_error="skip")
    batches = list(Loader(files[0], pipeline, 1, prefetch=prefetch))
    assert [[error.path for error in batch.errors] for batch in batches] == (
        [[]] * 3 + [[f"{files[0]}/3.png"]] + [[]] * 5)

    good, bad = imgpipe.encode(IMAGES[0]), [b"bad", b"worse"]
    loader = Loader([good, *bad], pipeline, 1, prefetch=prefetch)
    batches = iter(loader)
    assert next(batches).errors == []
    position = loader.state_dict()
    with pytest.warns(UserWarning, match=r"^Loader: the last 2 samples failed; the first: not an image") as caught:
        assert list(batches) == []
    assert caught[0].filename == __file__
    assert loader.state_dict()["epoch"] == 1
    loader.load_state_dict(position)
    with pytest.warns(UserWarning, match="^Loader: the last 2 samples failed"):
        assert list(loader) == []

    loader = Loader(bad, pipeline, 1, prefetch=prefetch)
    with pytest.raises(DecodeError, match="not an image"):
        list(loader)


def test_boxes_and_flips_depend_on_the_sample_only(files):
    sizes = {}

    def box(height, width, chance):
        sizes[height] = width
        top, left = chance.randrange(height // 2), chance.randrange(width // 2)
        return top, left, chance.randint(1, height - top), chance.randint(1, width - left)

    def flip(height, width, chance):
        return int(chance.random() < 0.5)

    def images(sources, epoch=0, **arguments):
        loader = Loader(sources, Pipeline(STAGES, on_error="skip"), boxes=box, flips=flip, **arguments)
        loader.set_epoch(epoch)
        return {key.removesuffix(".png"): image.tobytes() for batch in loader
                for key, image in zip(batch.keys, batch.images)}

    wanted = {}
    for number, image in enumerate(IMAGES):
        if number == 3:
            continue
        chance = random.Random(f"5:0:{number}.png")
        top, left, height, width = box(*image.shape[:2], chance)
        cut = image[top:top + height, left:left + width]
        result = Pipeline(STAGES)(np.ascontiguousarray(cut))
        wanted[str(number)] = (result[:, ::-1] if flip(0, 0, chance) else result).tobytes()
    assert images(files[0], batch_size=4, seed=5) == wanted
    assert images(files[0], batch_size=3, seed=5, shuffle=True, prefetch=0) == wanted
    parts = [images(files[0], batch_size=3, seed=5, shard=(rank, 2)) for rank in range(2)]
    assert parts[0] | parts[1] == wanted
    assert images(files[0], batch_size=4, seed=6) != wanted
    assert images(files[0], 1, batch_size=4, seed=5) != wanted
    assert sizes == {50 + number: 60 for number in range(10)}
    arrays = images(IMAGES, batch_size=4, seed=5)
    assert arrays.keys() == {str(number) for number in range(10)}
    assert images(files[1], batch_size=4, seed=5, shuffle=True) == images(files[1], batch_size=9, seed=5)
