"""read(), decode(), pages() and info(): the program's pixels, modes, lists, damage."""
import collections
import dataclasses
import gc
import io
import pickle
import resource
import subprocess
import warnings

import imgpipe
import numpy as np
import PIL.Image
import PIL.ImageOps
import PIL.TiffImagePlugin
import pytest

from image_files import CHANNELS, SEEDS, attempt, files, frames, pil, saved, smooth, stack, with_orientation
from made import noise, read_netpbm


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


def read_in_any_mode(source, **options):
    try:
        imgpipe.read(source, **options)
    except ValueError as error:
        if not str(error).startswith("mode: floats"):
            raise


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
            accepted[attempt(read_in_any_mode, variant, mode=mode, lenient=lenient, max_pixels=10**6)] += 1
            attempt(imgpipe.info, variant)
            attempt(lambda source: list(imgpipe.pages(source, max_pixels=10**5)), variant)
            attempt(imgpipe.encode, noise((37, 53, 3)), "png", metadata=variant)
    assert accepted[True] > 100 and accepted[False] > 300, accepted


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
    with pytest.raises(ValueError, match="bands: 'all' is only for the program"):
        imgpipe.read(data, bands="all")
    for bands in ((1, 2), [], (1, 2, 3, 4)):
        with pytest.raises(ValueError, match="bands: expected 'color', one number or three"):
            imgpipe.read(data, bands=bands)
    for bands in ("red", (1, "g", 3), 1.5):
        with pytest.raises(TypeError, match="bands: expected int"):
            imgpipe.read(data, bands=bands)
    with pytest.raises(imgpipe.DecodeError, match="bands: .*5"):
        imgpipe.read(data, bands=5)


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
