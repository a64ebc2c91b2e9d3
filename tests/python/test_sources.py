"""Sources of images: paths, bytes, file objects; missing files, wrong arguments."""
import gc
import io
import mmap
import os
import pickle
import sys
import zipfile

import imgpipe
import numpy as np
import PIL.Image
import pytest

from image_files import files, pil
from made import noise


def test_every_kind_of_source(files, tmp_path):
    data = files["RGB.png"]
    wanted = np.asarray(PIL.Image.open(io.BytesIO(data)))
    path = tmp_path / "an image.png"
    path.write_bytes(data)
    (tmp_path / "-").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(path, "member.png")

    class Path:  # pylint: disable=too-few-public-methods
        def __fspath__(self):
            return str(path)

    class File:  # pylint: disable=too-few-public-methods
        def read(self):
            return bytearray(data)

    class Tensor:  # pylint: disable=too-few-public-methods
        def __dlpack__(self, **options):
            return np.frombuffer(bytearray(data), np.uint8).__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)

    late = io.BytesIO(b"padding" + data)
    late.seek(7)
    sources = [str(path), path, Path(), data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8),
               np.frombuffer(data, np.int8), io.BytesIO(data), late, File(), Tensor()]
    for source in sources:
        np.testing.assert_array_equal(imgpipe.read(source), wanted, str(type(source)))
        if not hasattr(source, "read"):
            np.testing.assert_array_equal(imgpipe.decode(source), wanted)
            np.testing.assert_array_equal(imgpipe.pages(source)[0], wanted)
            assert imgpipe.info(source).shape == wanted.shape
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        np.testing.assert_array_equal(imgpipe.read(file), wanted)
        np.testing.assert_array_equal(imgpipe.read(mapped), wanted)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive, archive.open("member.png") as member:
        np.testing.assert_array_equal(imgpipe.read(member), wanted)
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        np.testing.assert_array_equal(imgpipe.read("-"), wanted)  # a file, not standard input
    finally:
        os.chdir(before)


def test_names_that_are_not_utf8(files, tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff\xe4.png")
    name = os.fsdecode(path)
    imgpipe.write(name, noise((3, 4)))
    assert imgpipe.read(name).shape == imgpipe.info(name).shape == (3, 4)
    with open(path, "wb") as file:
        file.write(files["RGB.png"][:100])
    with pytest.raises(imgpipe.DecodeError) as raised:
        imgpipe.read(name)
    assert raised.value.path == name


def test_a_source_that_is_not_one(files, tmp_path):
    path = tmp_path / "x.png"
    path.write_bytes(files["RGB.png"])
    image = noise((30, 40, 3))
    with open(path, encoding="latin-1") as latin, open(path, encoding="utf-8") as utf:
        cases = {"int": 3, "NoneType": None, "got object": object(), "dict": {}, "3 dimensions, 8 bits": image,
                 "1 dimension, 32 bits": np.zeros(9, np.float32), "with gaps; copy it with": memoryview(b"abcdef")[::2],
                 "text mode; open it with": latin, "open it with mode": utf, "Image": pil(image),
                 "mode \"rb\"": io.StringIO("x")}
        for part, source in cases.items():
            for function in (imgpipe.read, imgpipe.decode, imgpipe.info, imgpipe.pages):
                with pytest.raises(TypeError, match="(source|data): expected a path.*" + f"({part})") as raised:
                    function(source)
                assert len(str(raised.value)) < 200 and "\n" not in str(raised.value)
    with pytest.raises(TypeError, match=r"data\[1\]: expected a path.*int"):
        imgpipe.decode([files["RGB.png"], 3])
    with pytest.raises(ValueError, match="null"):
        imgpipe.read("a\0b")

    class Broken:  # pylint: disable=too-few-public-methods
        def read(self):
            raise OSError("the network is down")

    with pytest.raises(OSError, match="the network is down"):
        imgpipe.read(Broken())
    with pytest.raises(ValueError, match="closed file"):
        closed = io.BytesIO(b"x")
        closed.close()
        imgpipe.read(closed)


def test_sources_are_released(files):
    data = bytearray(files["RGB.png"])
    broken = bytearray(data[:200])
    view = memoryview(data)
    before = sys.getrefcount(data), sys.getrefcount(view)
    imgpipe.read(view)
    imgpipe.info(data)
    imgpipe.decode([data, view])
    pages = imgpipe.pages(data)
    del pages
    for source in (broken, memoryview(broken), io.BytesIO(broken)):
        with pytest.raises(imgpipe.DecodeError):
            imgpipe.read(source)
        with pytest.raises(imgpipe.DecodeError):
            imgpipe.decode([data, source])
    gc.collect()
    assert (sys.getrefcount(data), sys.getrefcount(view)) == before
    view.release()
    data.append(0)  # fails while a buffer is locked
    broken.append(0)


def test_a_null_character_ends_no_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    imgpipe.write("in/x.png", noise((3, 3)))
    for path in ("a\0.png", "a\0b/c.png"):
        with pytest.raises(ValueError, match="^path: embedded null character$"):
            imgpipe.write(path, noise((3, 3)), format="png")
        with pytest.raises(ValueError, match="^path: embedded null character$"):
            imgpipe.Pipeline("gray").convert("in/x.png", path)
        for call in (imgpipe.read, imgpipe.info, imgpipe.pages, imgpipe.Pipeline("gray").read):
            with pytest.raises(ValueError, match="^source: embedded null character$"):
                call(path)
        with pytest.raises(ValueError, match=r"^data\[1\]: embedded null character$"):
            imgpipe.decode([imgpipe.encode(noise((3, 3))), path])
        batch = imgpipe.Pipeline("gray", on_error="return").batch(["in/x.png", path])
        assert [str(error) for error in batch.errors] == ["None", "sources[1]: embedded null character"]
    for name, value in {"input": "in\0", "output": "out\0", "name": "{stem}\0.png"}.items():
        with pytest.raises(ValueError, match=f"^{name}: embedded null character$"):
            imgpipe.run_directory(**{"input": "in", "output": "out", "stages": "gray", name: value})
    assert sorted(os.listdir(tmp_path)) == ["in"]


def test_missing_files(files, tmp_path):
    path = str(tmp_path / "missing.png")
    for call in (imgpipe.read, imgpipe.info, imgpipe.pages, lambda source: imgpipe.decode([files["L.png"], source]),
                 lambda source: imgpipe.encode(noise((3, 3)), metadata=source)):
        with pytest.raises(FileNotFoundError) as raised:
            call(path)
        assert isinstance(raised.value, imgpipe.MissingFileError) and isinstance(raised.value, imgpipe.DecodeError)
        for error in (raised.value, pickle.loads(pickle.dumps(raised.value))):
            assert (error.path, error.filename, error.errno) == (path, path, 2)
            assert str(error) == f"{path}: {error.reason}"
    with pytest.raises(imgpipe.DecodeError, match="is a directory") as raised:
        imgpipe.read(tmp_path)
    assert not isinstance(raised.value, OSError)
    error = pickle.loads(pickle.dumps(raised.value))
    assert (error.path, error.reason, type(error)) == (str(tmp_path), raised.value.reason, imgpipe.DecodeError)
    (tmp_path / "bad.jpg").write_bytes(b"bad")
    with open(tmp_path / "bad.jpg", "rb") as file, pytest.raises(imgpipe.DecodeError) as raised:
        imgpipe.read(file)
    assert raised.value.path == file.name


def test_arguments(files):
    data = files["RGB.png"]
    for part, options in {"mode: expected None, 'L'.*got 'CMYK'": {"mode": "CMYK"}, "mode: .*got int": {"mode": 3.5},
                          "lenient: expected False, True or 'pillow', got 'yes'": {"lenient": "yes"},
                          "lenient.*got NoneType": {"lenient": None}, "page: expected 0 or more, got -1": {"page": -1},
                          "max_pixels: expected 1 to 17179869184, got 0": {"max_pixels": 0},
                          "device: expected 'cpu', 'cuda'": {"device": "gpu"},
                          "page: expected 0 with device='cuda'": {"device": "cuda", "page": 1},
                          "mode: .*got str": {"mode": "x" * 10**6}}.items():
        part = part.replace("got int", "got 3.5")
        for call in (lambda: imgpipe.read(data, **options), lambda: imgpipe.decode([data], **options)):
            with pytest.raises((TypeError, ValueError), match=part) as raised:
                call()
            assert len(str(raised.value)) < 150
    with pytest.raises(TypeError, match="page: expected int, got str"):
        imgpipe.read(data, page="1")
    with pytest.raises(imgpipe.DecodeError, match="too large: 53x37 pixels; raise max_pixels"):
        imgpipe.read(data, max_pixels=100)
