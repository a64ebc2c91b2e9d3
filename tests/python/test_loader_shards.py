"""Loader over tar shards: samples, data, damage, names."""
import gzip
import io
import random
import shutil
import subprocess
import tarfile
import threading
import warnings

import PIL.Image
import pytest

from imgpipe import DamageWarning, DecodeError, Loader, MissingFileError, Pipeline
from loading import Names, Raw, keys_of
from made import noise
from shards import write_shard


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


def samples_by_the_rule(names):
    """(key, extension of the image, other extensions) of each sample."""
    images = {"jpg", "png", "tif"}
    samples = [("", [])]
    for name in names:
        directory, slash, base = name.rpartition("/")
        stem, _, extension = base.partition(".")
        if not stem or not extension:
            continue
        key, extensions = samples[-1]
        if key != directory + slash + stem or extension in extensions:
            samples.append((directory + slash + stem, []))
        samples[-1][1].append(extension)
    for key, extensions in samples:
        image = next((each for each in extensions if each.lower() in images),
                     next((each for each in extensions if each.lower().rpartition(".")[2] in images), None))
        if image:
            yield key, image, [each.lower() for each in extensions if each != image]


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("seed", range(4))
def test_random_members_are_grouped_by_the_rule(tmp_path, mode, seed):
    chance = random.Random(seed)
    names = []
    for _ in range(chance.choice([3, 500, 1500])):
        stem = chance.choice(["", "a/", "b.c/", "é/"]) + chance.choice(["", "1", "2", "x-y", " "])
        extensions = chance.choices(["jpg", "PNG", "tif", "cls", "txt", "left.png", "a.b", "É", ""], k=3)
        names += [f"{stem}.{extension}" if extension else f"{stem}n" for extension in extensions]
    names += ["n.cls"] + [f"m{number}.txt" for number in range(1200)] + ["z.jpg"]
    members = [(name, b"%d" % number) for number, name in enumerate(names)]
    write_shard(tmp_path / "a.tar", members, mode)
    samples = list(samples_by_the_rule(names))
    for prefetch in (0, 1):
        batches = list(Loader(tmp_path / "a.tar", Raw(), 50, prefetch=prefetch))
        found = [sample for batch in batches for sample in zip(batch.keys, batch.images, batch.members)]
        assert [key for key, _, _ in found] == [key for key, _, _ in samples]
        for (_, image, others), (key, extension, extensions) in zip(found, samples):
            assert names[int(image)] == f"{key}.{extension}"
            assert sorted(others) == sorted(set(extensions)), key
            assert all(names[int(data)].lower() == f"{key}.{other}" for other, data in others.items()), key


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_the_sample_before_the_damage(tmp_path, mode):
    shard = tmp_path / "a.tar"
    write_shard(shard, [(f"{sample}.{extension}", random.Random(sample).randbytes(50_000))
                        for sample in range(3) for extension in ("jpg", "cls")], mode)
    with open(shard, "r+b") as file:
        file.truncate(50_000 * 4 // 1024 * 1024 + 512)  # in 1.cls
    with pytest.warns(DamageWarning, match="a.tar: damaged archive"):
        batch, = Loader(shard, Raw("skip"), 9)
    assert [(key, sorted(members)) for key, members in zip(batch.keys, batch.members)] == [("0", ["cls"]), ("1", [])]


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
