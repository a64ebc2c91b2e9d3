"""Reading and writing of files: sources, modes, pages, headers, metadata, errors."""
import collections
import concurrent.futures
import dataclasses
import gc
import io
import mmap
import os
import pathlib
import pickle
import resource
import signal
import subprocess
import sys
import threading
import warnings
import zipfile

import imgpipe
import numpy as np
import PIL.Image
import PIL.ImageCms
import PIL.ImageOps
import PIL.TiffImagePlugin
import pytest

from made import noise, read_netpbm

SEEDS = pathlib.Path(__file__).parents[1] / "fuzz" / "seeds"
CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}


def smooth(shape, dtype=np.uint8):
    """A ramp with some noise, so that lossy files keep its look."""
    rows, columns = np.indices(shape[:2])
    ramp = (rows * 3 + columns * 2) % 200
    image = (ramp if len(shape) == 2 else ramp[..., None]) + noise(shape, seed=3) % 40
    return (image.astype(dtype) * (257 if dtype == np.uint16 else 1)).astype(dtype)


def saved(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def pil(array, mode=None):
    return PIL.Image.fromarray(np.ascontiguousarray(array), mode)


def frames(count=3):
    return [pil(noise((17, 23), seed=i)) for i in range(count)]


def stack(count=3, kind="TIFF"):
    first, *others = frames(count)
    return saved(first, kind, save_all=True, append_images=others)


@pytest.fixture(scope="session")
def files():
    """Files of every format that Pillow or imgpipe writes, by name."""
    made = {}
    for mode, channels in CHANNELS.items():
        array = smooth((37, 53) if channels == 1 else (37, 53, channels))
        for kind, extension in (("PNG", "png"), ("TIFF", "tif"), ("TGA", "tga"), ("BMP", "bmp"), ("WEBP", "webp")):
            if (kind, mode) != ("BMP", "LA"):
                made[f"{mode}.{extension}"] = saved(pil(array), kind)
        deep = smooth(array.shape, np.uint16)
        made[f"{mode}16.png"] = imgpipe.encode(deep)
        made[f"{mode}16.tif"] = imgpipe.encode(deep, "tiff")
        if channels in (1, 3):
            made[f"{mode}.pnm"] = saved(pil(array), "PPM")
            made[f"{mode}16.pnm"] = imgpipe.encode(deep, "pnm")
            made[f"{mode}.jpg"] = saved(pil(array), "JPEG", quality=80)
            made[f"{mode}progressive.jpg"] = saved(pil(array), "JPEG", progressive=True)
    colour = pil(smooth((61, 45, 3)))
    made["422.jpg"] = saved(colour, "JPEG", subsampling=1)
    made["cmyk.jpg"] = saved(colour.convert("CMYK"), "JPEG")
    made["cmyk.tif"] = saved(colour.convert("CMYK"), "TIFF")
    made["lossy.webp"] = saved(colour, "WEBP", quality=50)
    made["palette.png"] = saved(colour.quantize(20), "PNG")
    made["palette.gif"] = saved(colour.quantize(20), "GIF")
    made["transparent.png"] = saved(colour.quantize(20), "PNG", transparency=3)
    made["bilevel.png"] = saved(colour.convert("1"), "PNG")
    made["bilevel.tif"] = saved(colour.convert("1"), "TIFF", compression="group4")
    made["turned.jpg"] = with_orientation(colour, 6)
    made["stack.tif"] = stack()
    made["animation.gif"] = stack(kind="GIF")
    return made


def with_orientation(image, orientation, kind="JPEG"):
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    return saved(image, kind, exif=exif)


# ---- sources -------------------------------------------------------------------------------------------

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


# ---- pixels --------------------------------------------------------------------------------------------

def test_pixels_are_the_programs(files, tmp_path, program):
    """One batch of the program per mode; alpha as a grey image, because Netpbm has none."""
    inputs = tmp_path / "in"
    inputs.mkdir()
    for name, data in files.items():
        (inputs / name.replace(".", "_")).write_bytes(data)
    alpha = [name for name, data in files.items() if imgpipe.info(data).channels in (2, 4)]
    assert len(alpha) > 10 and len(files) > 40

    def run(stages, extension, names):
        listed = tmp_path / "names"
        listed.write_text("".join(f"{inputs / name.replace('.', '_')}\n" for name in names))
        out = tmp_path / stages.replace(":", "_")
        subprocess.run([program, "--files-from", listed, out, "--stages", stages, "--format", extension, "-q",
                        "--device", "cpu"], check=True, capture_output=True)
        return {name: read_netpbm(out / f"{name.replace('.', '_')}.{extension}") for name in names}

    colour, grey = run("rgb", "ppm", files), run("gray,channel:1", "pgm", files)
    opacity = run("channel:a", "pgm", alpha)
    for name, data in files.items():
        white = 65535 if colour[name].dtype == np.uint16 else 255
        opaque = opacity.get(name, np.full_like(grey[name], white))
        wanted = {"L": grey[name], "LA": np.dstack([grey[name], opaque]), "RGB": colour[name],
                  "RGBA": np.dstack([colour[name], opaque])}
        for mode, pixels in wanted.items():
            got = imgpipe.read(data, mode=mode)
            assert (got.dtype, got.shape) == (pixels.dtype, pixels.shape), (name, mode)
            assert got.flags.c_contiguous and got.flags.writeable and got.flags.aligned
            np.testing.assert_array_equal(got, pixels, f"{name} {mode}")
        np.testing.assert_array_equal(imgpipe.read(data), wanted[{1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[
            imgpipe.info(data).channels]], name)


def test_modes_are_pillows(files):
    compared = 0
    for name, data in files.items():
        if "16" in name or name in ("lossy.webp", "turned.jpg", "cmyk.jpg", "cmyk.tif"):
            continue  # Pillow reduces or inverts these, or its library decodes them differently
        image = PIL.Image.open(io.BytesIO(data))
        if image.mode == "1" or image.mode == "P":
            image = image.convert("RGBA" if "transparency" in image.info else "L" if image.mode == "1" else "RGB")
        for mode in CHANNELS:
            try:
                wanted = np.asarray(image.convert(mode))
            except ValueError:
                continue  # a conversion that Pillow does not have
            if name.endswith(".jpg") and not np.array_equal(imgpipe.read(data), np.asarray(image)):
                continue
            np.testing.assert_array_equal(imgpipe.read(data, mode=mode.lower()), wanted, f"{name} {mode}")
            compared += 1
    assert compared > 80, compared


@pytest.mark.parametrize("shape", [(1, 1), (1, 613), (613, 1), (7, 1031), (1499, 1), (16, 16), (17, 15), (811, 1009)])
def test_awkward_shapes_and_threads(shape):
    for channels, dtype in ((3, np.uint8), (4, np.uint16), (1, np.uint8)):
        array = smooth(shape if channels == 1 else (*shape, channels), dtype)
        for format in ("png", "tiff"):
            data = imgpipe.encode(array, format, threads=1)
            assert data == imgpipe.encode(array, format, threads=5)
            for threads in (1, 4):
                np.testing.assert_array_equal(imgpipe.decode(data, threads=threads), array)
        jpeg = imgpipe.encode(imgpipe.decode(data, mode="RGB") if dtype == np.uint8 else noise((*shape, 3)), "jpeg")
        for mode in (None, "L", "RGBA"):
            np.testing.assert_array_equal(imgpipe.decode(jpeg, mode=mode, threads=4),
                                          imgpipe.decode(jpeg, mode=mode, threads=1))


def test_results_own_their_memory(files):
    results = [imgpipe.read(files["RGB.png"]) for _ in range(4)]
    wanted = results[0].copy()
    results[1][:] = 0
    part = results[2][3:9]
    del results[2]
    gc.collect()
    [imgpipe.read(files["RGBA.png"]) for _ in range(4)]
    np.testing.assert_array_equal(part, wanted[3:9])
    np.testing.assert_array_equal(results[0], wanted)


def test_orientation():
    pixels = smooth((16, 24, 3))
    for orientation in range(1, 9):
        data = with_orientation(pil(pixels), orientation, "PNG")
        wanted = PIL.ImageOps.exif_transpose(PIL.Image.open(io.BytesIO(data)))
        np.testing.assert_array_equal(imgpipe.read(data), np.asarray(wanted), str(orientation))
        np.testing.assert_array_equal(imgpipe.read(data, orient=False), pixels)
        information = imgpipe.info(data)
        assert (information.orientation, information.shape) == (orientation, np.asarray(wanted).shape)


# ---- lists ---------------------------------------------------------------------------------------------

def test_lists(files, tmp_path):
    path = tmp_path / "one.png"
    path.write_bytes(files["LA.png"])
    sources = [*files.values(), path, io.BytesIO(files["L.tif"])]
    wanted = [imgpipe.read(source) for source in [*files.values(), path, files["L.tif"]]]
    for threads in (0, 1, 7):
        sources[-1].seek(0)
        got = imgpipe.decode(tuple(sources), threads=threads)
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted):
            np.testing.assert_array_equal(one, other)
    assert {image.ndim for image in imgpipe.decode(list(files.values()), mode="RGB")} == {3}
    assert imgpipe.decode([]) == [] and imgpipe.encode([]) == []
    images = [noise((9, 7, 3)), pil(noise((5, 5))), noise((3, 1), np.uint16)]
    assert imgpipe.encode(images, "png") == [imgpipe.encode(image, "png") for image in images]


def test_the_first_failure_of_a_list_is_raised(files, tmp_path):
    good, bad = files["RGB.png"], files["RGB.png"][:-60]
    path = tmp_path / "bad.png"
    path.write_bytes(bad)
    for threads in (1, 2, 8):
        with pytest.raises(imgpipe.DecodeError, match="^item 3: ") as raised:
            imgpipe.decode([good] * 3 + [bad] * 2 + [good] * 20 + [b"x"], threads=threads)
        assert raised.value.path is None
        with pytest.raises(imgpipe.DecodeError) as raised:
            imgpipe.decode([good, str(path), b""], threads=threads)
        assert raised.value.path == str(path) and str(path) not in raised.value.reason
    with pytest.raises(ValueError, match="jpeg stores 8 bits"):
        imgpipe.encode([noise((3, 3)), noise((3, 3), np.uint16)], "jpeg")


# ---- pages ---------------------------------------------------------------------------------------------

def test_pages(files, tmp_path):
    data = stack(5)
    path = tmp_path / "stack.tif"
    path.write_bytes(data)
    wanted = [np.asarray(frame) for frame in frames(5)]
    for source in (data, path, io.BytesIO(data)):
        pages = imgpipe.pages(source)
        assert isinstance(pages, collections.abc.Sequence) and len(pages) == 5
        for got, one in zip(pages, wanted):
            np.testing.assert_array_equal(got, one)
        np.testing.assert_array_equal(pages[-1], wanted[4])
        np.testing.assert_array_equal(pages[1:4], wanted[1:4])
        assert [int(page[0, 0]) for page in reversed(pages)] == [int(page[0, 0]) for page in wanted[::-1]]
        for index in (5, -6):
            with pytest.raises(IndexError, match=f"page {index}: expected -5 to 4"):
                pages[index]
    assert imgpipe.info(path).pages == imgpipe.info(data).pages == 5
    for index in range(5):
        np.testing.assert_array_equal(imgpipe.read(path, page=index), wanted[index])
        np.testing.assert_array_equal(imgpipe.read(data, page=index, mode="RGB")[..., 2], wanted[index])
    with pytest.raises(imgpipe.DecodeError, match="no page 5; it has 5 pages"):
        imgpipe.read(path, page=5)
    for name in ("RGB.png", "palette.gif", "RGB.jpg", "RGB.pnm"):
        pages = imgpipe.pages(files[name])
        assert len(pages) == imgpipe.info(files[name]).pages == 1
        np.testing.assert_array_equal(pages[0], imgpipe.read(files[name]))
        with pytest.raises(imgpipe.DecodeError, match="no page 1; it has 1 page"):
            imgpipe.read(files[name], page=1)
    assert imgpipe.info(files["animation.gif"]).pages == 3
    for source in (b"no image", tmp_path / "missing", b""):
        with pytest.raises(imgpipe.DecodeError):
            imgpipe.pages(source)


def test_a_stack_with_a_damaged_page():
    data = bytearray(stack(3))
    offset = PIL.TiffImagePlugin.STRIPOFFSETS
    with PIL.Image.open(io.BytesIO(data)) as image:
        image.seek(1)
        start = image.tag_v2[offset][0]
    broken = bytes(data[:start])  # ends where the pixels of page 1 begin
    with pytest.raises(imgpipe.DecodeError):
        list(imgpipe.pages(broken))
    np.testing.assert_array_equal(imgpipe.read(data, page=2), np.asarray(frames()[2]))


# ---- info ----------------------------------------------------------------------------------------------

def test_info(files, tmp_path):
    for name, data in files.items():
        information, image = imgpipe.info(data), imgpipe.read(data)
        assert (information.shape, information.dtype) == (image.shape, str(image.dtype)), name
        assert information.images == (3 if name in ("stack.tif", "animation.gif") else 1), name
        assert information.path is None
        path = tmp_path / name
        path.write_bytes(data)
        assert imgpipe.info(path) == dataclasses.replace(information, path=str(path))
        assert pickle.loads(pickle.dumps(information)) == information
    jpeg = imgpipe.info(files["RGBprogressive.jpg"])
    assert (jpeg.format, jpeg.progressive, jpeg.bits_per_sample, jpeg.profile) == ("jpeg", True, 8, None)
    assert imgpipe.info(files["bilevel.png"]).bits_per_sample == 1
    assert imgpipe.info(files["RGB16.png"]).bits_per_sample == 16
    with pytest.raises(AttributeError):
        jpeg.width = 3
    file = io.BytesIO(b"abc" + files["RGB.png"])
    file.seek(3)
    assert imgpipe.info(file).shape == (37, 53, 3) and file.tell() == 3
    assert imgpipe.read(file).shape == (37, 53, 3)
    with pytest.raises(imgpipe.DecodeError):
        imgpipe.info(b"no image")


def test_info_of_damaged_headers(files):
    data = bytearray(files["RGB.bmp"])
    data[26] = 77  # the number of planes
    with pytest.raises(imgpipe.DecodeError, match="planes"):
        imgpipe.info(data)
    assert imgpipe.info(data, lenient=True).shape == (37, 53, 3)
    with pytest.raises(ValueError, match="lenient: expected"):
        imgpipe.info(data, lenient="very")


def test_info_reads_headers_only(tmp_path):
    path = tmp_path / "huge.ppm"
    with open(path, "wb") as file:
        file.write(b"P6 20000 20000 255\n")
        file.truncate(19 + 3 * 20000 * 20000)  # a sparse file of 1.2 GB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert imgpipe.info(path).shape == (20000, 20000, 3)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes
    with pytest.raises(imgpipe.DecodeError, match=r"too large: 20000x20000 pixels; raise max_pixels \(now 268435456\)"):
        imgpipe.read(path)


# ---- damage --------------------------------------------------------------------------------------------

def test_damage(files, tmp_path):
    data = imgpipe.encode(smooth((300, 200, 3)), "jpeg")[:-3000]
    path = tmp_path / "broken.jpg"
    path.write_bytes(data)
    with pytest.raises(imgpipe.DecodeError) as raised:
        imgpipe.read(path)
    assert raised.value.path == str(path) and str(raised.value) == f"{path}: {raised.value.reason}"
    assert isinstance(raised.value, ValueError)
    for call, text in ((lambda: imgpipe.read(path, lenient=True), str(path)),
                       (lambda: imgpipe.decode([files["L.png"], data], lenient=True)[1], "item 1"),
                       (lambda: imgpipe.decode(data, lenient=True), ""),
                       (lambda: imgpipe.pages(data, lenient=True)[0], "page 0"),
                       (lambda: list(imgpipe.pages(data, lenient=True))[0], "page 0")):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            image = call()
        assert image.shape == (300, 200, 3) and (image[-1] == 128).all()
        assert [one.category for one in seen] == [imgpipe.DamageWarning] and seen[0].filename == __file__
        assert str(seen[0].message).startswith(text), text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(imgpipe.DamageWarning):
            imgpipe.read(data, lenient=True)
        imgpipe.read(files["RGB.jpg"], lenient=True)


def test_what_pillow_accepts(files):
    data = files["RGB.jpg"][:20] + b"\0" + files["RGB.jpg"][20:]  # a byte between two segments
    with pytest.raises(imgpipe.DecodeError, match="extraneous"):
        imgpipe.read(data)
    wanted = np.asarray(PIL.Image.open(io.BytesIO(data)))
    with pytest.warns(imgpipe.DamageWarning, match="extraneous"):
        np.testing.assert_array_equal(imgpipe.read(data, lenient="pillow"), wanted)


def attempt(function, *arguments, **options):
    """Calls a function on hostile bytes; returns whether it accepted them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*arguments, **options)
    except (imgpipe.DecodeError, MemoryError) as error:
        text = str(error)
        assert text.isprintable() and len(text) < 400, text
        return False
    return True


def test_hostile_files(files):
    random = np.random.default_rng(11)
    seeds = [path.read_bytes() for kind in ("decode", "info", "stream", "webp") for path in (SEEDS / kind).iterdir()]
    accepted = collections.Counter()
    for data in [*files.values(), *seeds, b"", b"\0", b"\xff\xd8", b"II*\0", b"P6", b"RIFF\0\0\0\0WEBP"]:
        variants = [data, *(data[:cut] for cut in random.integers(0, len(data) + 1, 6))]
        for _ in range(6):
            changed = np.frombuffer(data, np.uint8).copy()
            if changed.size:
                spots = random.integers(0, min(changed.size, int(random.choice([64, 10**6]))), 4)
                changed[spots] = random.integers(0, 256, 4)
            variants.append(changed)
        for variant in variants:
            lenient = (False, True, "pillow")[random.integers(3)]
            mode = (None, *CHANNELS)[random.integers(5)]
            accepted[attempt(imgpipe.read, variant, mode=mode, lenient=lenient, max_pixels=10**6)] += 1
            attempt(imgpipe.info, variant)
            attempt(lambda source: list(imgpipe.pages(source, max_pixels=10**5)), variant)
            attempt(imgpipe.encode, noise((37, 53, 3)), "png", metadata=variant)
    assert accepted[True] > 100 and accepted[False] > 300, accepted


# ---- write and encode ----------------------------------------------------------------------------------

def test_bytes_are_the_programs(program):
    """The program reads from standard input, because its mark names an input that has a name."""
    cases = [("png", {}, []), ("png", {"level": 6}, ["--png-level", "6"]), ("png", {"level": 0}, ["--png-level", "0"]),
             ("tiff", {}, []), ("tiff", {"level": 9}, ["--png-level", "9"]), ("bmp", {}, []), ("tga", {}, []),
             ("webp", {}, []), ("webp", {"level": 5}, ["--webp-level", "5"]),
             ("webp", {"quality": 70}, ["--webp", "lossy", "--quality", "70"]),
             ("jpeg", {}, []), ("jpeg", {"quality": 33}, ["--quality", "33"]), ("pnm", {}, [])]
    for channels, dtype in ((1, np.uint8), (2, np.uint8), (3, np.uint8), (4, np.uint8), (1, np.uint16), (4, np.uint16)):
        array = smooth((45, 67) if channels == 1 else (45, 67, channels), dtype)
        source = imgpipe.encode(array, "png")
        for format, options, arguments in cases:
            is_lossy = channels in (2, 4) and format in ("jpeg", "pnm")
            if is_lossy or (dtype == np.uint16 and format not in ("png", "tiff")):
                continue
            result = subprocess.run([program, "-", "-", "--stages", "none", "--format", format, "-q", *arguments],
                                    input=source, capture_output=True, check=True)
            assert imgpipe.encode(array, format, **options) == result.stdout, (format, channels, dtype, options)


def test_images_of_all_kinds(tmp_path):
    array = noise((20, 30, 3))

    class Tensor:  # pylint: disable=too-few-public-methods
        def __array__(self, dtype=None, copy=None):
            return array

    wanted = imgpipe.encode(array)
    for image in (pil(array), Tensor(), np.asfortranarray(array), array[::-1].copy()[::-1]):
        assert imgpipe.encode(image) == wanted
    deep = noise((20, 30), np.uint16)
    np.testing.assert_array_equal(imgpipe.decode(imgpipe.encode(PIL.Image.fromarray(deep))), deep)
    np.testing.assert_array_equal(imgpipe.decode(imgpipe.encode(array[..., ::-1], "bmp")), array[..., ::-1])
    for extension, format in (("png", "png"), ("PNG", "png"), ("tif", "tiff"), ("jpeg", "jpeg"), ("jpg", "jpeg"),
                              ("ppm", "ppm"), ("pnm", "ppm"), ("webp", "webp"), ("bmp", "bmp"), ("tga", "tga")):
        path = tmp_path / f"out.{extension}"
        imgpipe.write(path, array)
        assert imgpipe.info(path).format == format
        assert path.read_bytes() == imgpipe.encode(array, format)
    imgpipe.write(tmp_path / "noextension", array, format="png", level=9)
    assert (tmp_path / "noextension").read_bytes() == imgpipe.encode(array, level=9)


def test_write_is_atomic(tmp_path):
    path = tmp_path / "out.png"
    old, new = noise((10, 10)), noise((20, 20))
    imgpipe.write(path, old)
    path.chmod(0o640)
    with pytest.raises(FileExistsError) as raised:
        imgpipe.write(path, new)
    assert raised.value.filename == str(path) and "overwrite=True" in str(raised.value)
    np.testing.assert_array_equal(imgpipe.read(path), old)
    inode = path.stat().st_ino
    imgpipe.write(path, new, overwrite=True)
    np.testing.assert_array_equal(imgpipe.read(path), new)
    assert path.stat().st_ino != inode and path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(ValueError):
        imgpipe.write(path, new.astype(np.float32), overwrite=True)
    np.testing.assert_array_equal(imgpipe.read(path), new)
    for path in (tmp_path / "missing" / "x.png", tmp_path):
        with pytest.raises(OSError, match=str(path)):
            imgpipe.write(path, new, format="png")
    assert sorted(os.listdir(tmp_path)) == ["out.png"]


def test_a_null_character_ends_no_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    imgpipe.write("in/x.png", noise((3, 3)))
    for path in ("a\0.png", "a\0b/c.png"):
        with pytest.raises(ValueError, match="^path: embedded null character$"):
            imgpipe.write(path, noise((3, 3)), format="png")
        with pytest.raises(ValueError, match="^path: embedded null character$"):
            imgpipe.Pipeline("gray").convert("in/x.png", path)
    for name, value in {"input": "in\0", "output": "out\0", "name": "{stem}\0.png"}.items():
        with pytest.raises(ValueError, match=f"^{name}: embedded null character$"):
            imgpipe.run_directory(**{"input": "in", "output": "out", "stages": "gray", name: value})
    assert sorted(os.listdir(tmp_path)) == ["in"]


def test_what_a_format_cannot_hold(tmp_path):
    grey, deep, alpha = noise((5, 5)), noise((5, 5), np.uint16), noise((5, 5, 4))
    colour = noise((5, 5, 3))
    cases = [("jpeg stores 8 bits per sample, got uint16; convert.*depth:8.*write png.*tiff", deep, "jpeg", {}),
             ("webp stores 8 bits", deep, "webp", {}), ("jpeg cannot store alpha; remove.*flatten", alpha, "jpeg", {}),
             ("ppm cannot store alpha", alpha, "ppm", {}), ("pgm stores only grey", colour, "pgm", {}),
             ("png cannot store float32", grey.astype(np.float32), "png", {}),
             ("quality: png has none; set level, 0 to 9", grey, "png", {"quality": 90}),
             ("quality: bmp has none$", grey, "bmp", {"quality": 90}),
             ("level: jpeg has none; set quality, 1 to 100", grey, "jpeg", {"level": 3}),
             ("quality: expected 1 to 100, got 101", grey, "jpeg", {"quality": 101}),
             ("quality: expected 1 to 100, got 0", grey, "jpeg", {"quality": 0}),
             ("level: expected 0 to 9, got -1", grey, "png", {"level": -1}),
             ("threads: expected 0 to 1024, got -1", grey, "png", {"threads": -1}),
             ("format: must be one of .*did you mean jpeg", grey, "jpge", {}),
             ("format: must be one of", grey, "gif", {})]
    for part, image, format, options in cases:
        with pytest.raises(ValueError, match=part) as raised:
            imgpipe.encode(image, format, **options)
        assert len(str(raised.value)) < 200 and "--" not in str(raised.value)
        if "threads" not in options:
            with pytest.raises(ValueError):
                imgpipe.write(tmp_path / f"x.{format}", image, **options)
    for part, call in {"quality: expected int, got float": lambda: imgpipe.encode(grey, "jpeg", quality=9.5),
                       "quality: expected int, got str": lambda: imgpipe.encode(grey, "jpeg", quality="high"),
                       "format: expected str.*got int": lambda: imgpipe.encode(grey, 3),
                       "path: expected str or os.PathLike, got BytesIO; .*encode":
                           lambda: imgpipe.write(io.BytesIO(), grey),
                       "image: npy stores tensors; expected 3 dimensions of float": lambda: imgpipe.encode(grey, "npy"),
                       "image: expected numpy.uint8.*got int8": lambda: imgpipe.encode(grey.view(np.int8)),
                       r"image\[1\]: expected numpy.uint8.*got float64":
                           lambda: imgpipe.encode([grey, grey.astype(np.float64)]),
                       "image: unsupported PIL mode P": lambda: imgpipe.encode(PIL.Image.new("P", (3, 3))),
                       "image: expected a numpy array.*got bytes": lambda: imgpipe.encode(b"x" * 10**6)}.items():
        with pytest.raises(TypeError, match=part) as raised:
            call()
        assert len(str(raised.value)) < 250
    for part, path, options in (("cannot write .xyz files", "a.xyz", {}), ("has no extension", "a", {}),
                                ("cannot write .gif files", "a.gif", {}),
                                ("format: jpeg contradicts the extension, which is that of png", "a.png",
                                 {"format": "jpeg"})):
        with pytest.raises(ValueError, match=part):
            imgpipe.write(tmp_path / path, grey, **options)
    assert os.listdir(tmp_path) == []


def test_tensors(tmp_path):
    for dtype in (np.float32, np.float16):
        tensor = np.random.default_rng(5).normal(size=(3, 7, 9)).astype(dtype)
        for array in (tensor, tensor.transpose(1, 2, 0), tensor[:, ::2]):
            imgpipe.write(tmp_path / "a.npy", array, overwrite=True)
            read = np.load(tmp_path / "a.npy")
            assert read.dtype == dtype
            np.testing.assert_array_equal(read, array)
            assert imgpipe.encode(array, "safetensors").endswith(array.tobytes())


def test_bands():
    array = noise((9, 7, 4))
    data = bytearray(saved(pil(array), "TIFF"))
    extra = data.index(b"\x52\x01\x03\0\x01\0\0\0\x02")  # ExtraSamples: one, straight alpha
    data[extra + 8] = 0  # unspecified
    part = "1 of the image's 4 bands.*such as bands 1,2,3.*bands=\"color\""
    with pytest.raises(imgpipe.DecodeError, match=part) as raised:
        imgpipe.read(data)
    assert "--" not in str(raised.value)
    np.testing.assert_array_equal(imgpipe.read(data, bands="color"), array[..., :3])
    np.testing.assert_array_equal(imgpipe.read(data, bands=(4, 1, 2)), array[..., [3, 0, 1]])
    np.testing.assert_array_equal(imgpipe.decode([data], bands=4)[0], array[..., 3])
    np.testing.assert_array_equal(imgpipe.pages(data, bands=[2])[0], array[..., 1])
    for bands in ((1, 2), [], (1, 2, 3, 4)):
        with pytest.raises(ValueError, match="bands: expected 'color', one number or three"):
            imgpipe.read(data, bands=bands)
    for bands in ("red", (1, "g", 3), 1.5):
        with pytest.raises(TypeError, match="bands: expected int"):
            imgpipe.read(data, bands=bands)
    with pytest.raises(imgpipe.DecodeError, match="bands: .*5"):
        imgpipe.read(data, bands=5)


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


def test_devices(files):
    """On a machine without CUDA the error is one line."""
    names = ["RGB.jpg", "L.png", "RGB16.png", "turned.jpg"]
    for mode in (None, "RGB", "l"):
        try:
            got = imgpipe.decode([files[name] for name in names], device="cuda", mode=mode)
            one = imgpipe.read(files[names[0]], device="cuda:0", mode=mode)
        except RuntimeError as error:
            assert "\n" not in str(error) and len(str(error)) < 250
            return
        for name, image in zip([*names, names[0]], [*got, one]):
            np.testing.assert_array_equal(image.numpy(), imgpipe.read(files[name], mode=mode), f"{name} {mode}")
        with pytest.raises(imgpipe.DecodeError):
            imgpipe.decode([files["L.png"], b"bad"], device="cuda")


# ---- metadata ------------------------------------------------------------------------------------------

def test_metadata_is_what_the_program_preserves(tmp_path, program):
    exif = PIL.Image.Exif()
    exif[0x010F], exif[0x0112] = "A camera", 6
    image = pil(smooth((30, 20, 3)))
    profile = PIL.ImageCms.ImageCmsProfile(PIL.ImageCms.createProfile("LAB")).tobytes()
    for kind, format in (("JPEG", "png"), ("JPEG", "jpeg"), ("PNG", "tiff"), ("TIFF", "jpeg"), ("JPEG", "webp")):
        source = tmp_path / f"in.{kind.lower()}"
        image.save(source, kind, exif=exif, dpi=(150, 150))
        out = tmp_path / f"out.{format}"
        with open(source, "rb") as file:
            result = subprocess.run([program, "-", "-", "--stages", "none", "--format", format, "-q"], stdin=file,
                                    capture_output=True, check=True)
        for metadata in (source, source.read_bytes(), imgpipe.info(source)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                imgpipe.write(out, imgpipe.read(source), metadata=metadata, overwrite=True)
            assert out.read_bytes() == result.stdout, (kind, format)
        assert dict(PIL.Image.open(out).getexif())[0x010F] == "A camera"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        imgpipe.write(tmp_path / "small.png", imgpipe.read(source)[::2, ::2], metadata=source)
        imgpipe.write(tmp_path / "small.bmp", imgpipe.read(source), metadata=source)
        source.write_bytes(saved(image, "JPEG", icc_profile=profile))
        imgpipe.encode([image, image], "png", metadata=source)
    assert all(one.filename == __file__ for one in seen)
    assert [str(one.message)[:60] for one in seen] == [
        "dropped metadata: resolution (resized)", "dropped metadata: EXIF (bmp cannot store it)"] + [
        str(one.message)[:60] for one in seen[2:]]
    assert "metadata" in str(seen[1].message)
    with pytest.raises(ValueError, match="metadata: this ImageInfo has no path"):
        imgpipe.encode(image, metadata=imgpipe.info(source.read_bytes()))
    with pytest.raises(TypeError, match="metadata: expected a path"):
        imgpipe.encode(image, metadata=3)
    with pytest.raises(imgpipe.DecodeError):
        imgpipe.encode(image, metadata=b"no image")


# ---- the process ---------------------------------------------------------------------------------------

def test_threads_of_the_caller(files):
    wanted = {name: imgpipe.read(data) for name, data in files.items()}
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for name, got in pool.map(lambda item: (item[0], imgpipe.decode([item[1]] * 3)[2]), [*files.items()] * 3):
            np.testing.assert_array_equal(got, wanted[name])


def test_the_lock_is_released(files):
    """Another thread runs while a large image is decoded and encoded."""
    data = imgpipe.encode(noise((3000, 2000, 3)), threads=1)
    ticks, done = 0, threading.Event()

    def work():
        imgpipe.encode(imgpipe.decode(data, threads=1), level=4, threads=1)
        done.set()

    before = sys.getswitchinterval()
    sys.setswitchinterval(100)  # the interpreter itself does not switch
    try:
        thread = threading.Thread(target=work)
        thread.start()
        while not done.wait(0.001):
            ticks += 1
        thread.join()
    finally:
        sys.setswitchinterval(before)
    assert ticks > 10


def test_interrupts():
    """Ctrl-C ends the decoding of a long list."""
    data = imgpipe.encode(noise((1000, 1000, 3)), threads=1)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            imgpipe.decode([data] * 400, threads=2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_forks(files):
    large = imgpipe.encode(noise((1200, 1200, 3)), "jpeg")
    wanted = imgpipe.decode(large, threads=4)
    for _ in range(3):
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(imgpipe.decode([large] * 2, threads=4)[1], wanted) else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_memory_does_not_grow(files, tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(files["RGB.png"])
    broken = files["RGB.png"][:300]

    def calls(count):
        for _ in range(count):
            imgpipe.encode(imgpipe.read(path), "jpeg", metadata=path)
            imgpipe.decode([memoryview(files["LA.png"])], mode="RGBA", threads=1)
            imgpipe.info(path)
            imgpipe.pages(files["stack.tif"])[1]
            for source in (broken, str(tmp_path / "none")):
                with pytest.raises(imgpipe.DecodeError):
                    imgpipe.read(source)

    def resident():
        gc.collect()
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    calls(200)
    before = resident()
    calls(2000)
    assert resident() - before < 2 << 20
