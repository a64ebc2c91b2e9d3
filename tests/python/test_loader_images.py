"""Loader with images: those of the pipeline, errors, boxes and flips."""
import io
import pickle
import random

import numpy as np
import PIL.Image
import pytest

import imgpipe
from imgpipe import DecodeError, Loader, Pipeline
from imgpipe._sample_random import SampleRandom
from loading import Raw
from made import encoded, noise
from shards import write_shard

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
        chance = SampleRandom(f"5:0:{number}.png")
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


def test_functions_get_the_size_of_each_kind_of_source(tmp_path):
    tags = PIL.Image.Exif()
    tags[0x112] = 6  # rotate by 90 degrees
    turned = encoded(noise((30, 20, 3)), "JPEG", exif=tags)
    (tmp_path / "a.jpg").write_bytes(turned)
    plain = [turned, str(tmp_path / "a.jpg"), turned[:100], str(tmp_path / "no.jpg"), tmp_path / "a.jpg",
             bytearray(turned), memoryview(turned)]
    others = [io.BytesIO(turned), noise((7, 5)), PIL.Image.new("L", (9, 8))]
    of_plain, of_others = [(20, 30)] * 5, [(20, 30), (7, 5), (8, 9)]
    for sources, sizes in ((plain, of_plain), (others, of_others), (plain + others, of_plain + of_others)):
        seen = []
        sources = [io.BytesIO(turned) if isinstance(source, io.BytesIO) else source for source in sources]
        pipeline = Pipeline("gray,resize:4:4", on_error="skip")
        batches = list(Loader(sources, pipeline, 99, boxes=lambda *size: seen.append(size[:2]) or (0, 0, 1, 1)))
        assert seen == sizes
        assert len(batches[0].images) == len(sizes)


def test_flips_of_names_that_are_not_text(tmp_path):
    write_shard(tmp_path / "a.tar", [("\udcff.png", encoded(noise((2, 2))))])
    batch, = Loader(tmp_path / "a.tar", Raw(), 1, flips=lambda height, width, chance: chance.random() < 2)
    assert batch.keys == ["\udcff"]


def test_random_numbers_depend_on_the_seed_alone():
    chance = SampleRandom()
    chance.setstate((1234567, None))
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]  # by the authors' C program
    assert [chance.getrandbits(64) for _ in range(3)] == published
    chance.setstate((1234567, None))
    assert chance.getrandbits(130) == sum(word << 64 * i for i, word in enumerate(published)) % 2**130
    chance.setstate((1234567, None))
    assert chance.random() == (published[0] >> 11) / 2**53

    def drawn():
        return (chance.random(), chance.gauss(0, 1), chance.randint(1, 6), chance.uniform(-1, 1), chance.choice("abc"),
                chance.sample(range(100), 3), chance.randbytes(9))

    seeds = [f"0:0:{number}" for number in range(500)]
    first = []
    for seed in seeds:
        chance.seed(seed)
        first.append(drawn())
    assert len(set(map(repr, first))) == len(seeds)
    assert abs(sum(values[0] for values in first) / len(seeds) - 0.5) < 0.05
    for seed, values in zip(reversed(seeds), reversed(first)):
        chance.seed(seed)
        assert drawn() == values, seed
    copy = pickle.loads(pickle.dumps(chance))
    assert [copy.gauss(0, 1) for _ in range(3)] == [chance.gauss(0, 1) for _ in range(3)]
