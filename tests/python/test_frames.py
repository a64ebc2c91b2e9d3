"""Frames of GIF, WebP and APNG as pages, against a player in numpy, and Pillow where it follows the standards."""
import dataclasses
import io
import struct
import subprocess
import warnings
import zlib

import imgpipe
import numpy as np
import PIL.Image
import pytest

import animations
from animations import CLEAR, KEEP, RESTORE, Frame

SIZES = [(1, 1), (1, 7), (7, 1), (2, 3), (13, 11)]


def rgba(page):
    """A page with alpha, without the colours of transparent pixels."""
    page = animations.with_alpha(page.reshape(*page.shape[:2], -1), np.iinfo(page.dtype).max)
    return np.where(page[..., -1:] == 0, 0, page)


def pillow_frames(data):
    with PIL.Image.open(io.BytesIO(data)) as image:
        for i in range(image.n_frames):
            image.seek(i)
            yield np.asarray(image.convert("RGBA"))


def placed(random, width, height, count, step=1):
    """Random rectangles, disposals, blendings and durations; every third frame covers the canvas."""
    for i in range(count):
        x, y = (int(random.integers(0, (size + step - 1) // step)) * step for size in (width, height))
        columns, rows = int(random.integers(1, width - x + 1)), int(random.integers(1, height - y + 1))
        if i == 0 or random.integers(3) == 0:
            x, y, columns, rows = 0, 0, width, height
        yield Frame(np.empty((rows, columns)), x, y, int(random.integers(3)), bool(random.integers(2)),
                    10 * int(random.integers(0, 500)))


def check_pages(data, wanted, frames, what):
    pages = imgpipe.pages(data)
    got = list(pages)
    assert len(got) == len(wanted) == imgpipe.info(data).pages, what
    assert len({page.shape for page in got}) == 1, what
    for i, (page, canvas) in enumerate(zip(got, wanted)):
        assert page.dtype == canvas.dtype and np.array_equal(rgba(page), rgba(canvas)), f"{what}, frame {i}"
    assert np.array_equal(rgba(got[0]), rgba(imgpipe.read(data))), what
    for i in np.random.default_rng(len(data)).permutation(len(wanted)):
        np.testing.assert_array_equal(pages[int(i)], got[i], f"{what}, frame {i} out of order")
    durations = imgpipe.info(data).durations_ms
    assert durations == tuple(frame.duration_ms for frame in frames), what


@pytest.mark.parametrize("seed", range(40))
def test_gif(seed):
    random = np.random.default_rng(seed)
    width, height = SIZES[seed % len(SIZES)]
    frames = [dataclasses.replace(frame, pixels=random.choice([*range(8), 7, 7], frame.pixels.shape))
              for frame in placed(random, width, height, 9)]
    check_pages(animations.gif(width, height, frames), animations.gif_played(width, height, frames), frames, seed)
    # Pillow fills what it disposes of with the background colour if no transparent colour is declared.
    declared = [dataclasses.replace(frame, blends=True) for frame in frames]
    data = animations.gif(width, height, declared)
    for i, (page, theirs) in enumerate(zip(imgpipe.pages(data), pillow_frames(data))):
        assert np.array_equal(rgba(page), rgba(theirs)), f"seed {seed}, frame {i}"


@pytest.mark.parametrize("seed", range(40))
def test_apng(seed):
    random = np.random.default_rng(seed)
    width, height = SIZES[seed % len(SIZES)]
    channels, dtype = seed % 4 + 1, np.uint16 if seed % 3 == 0 else np.uint8
    most = np.iinfo(dtype).max
    def noise(shape):
        pixels = random.integers(0, most + 1, (*shape, channels)).astype(dtype)
        if channels % 2 == 0:
            pixels[..., -1] = np.where(random.integers(2, size=shape), random.choice([0, most], shape), pixels[..., -1])
        return pixels
    frames = [dataclasses.replace(frame, pixels=noise(frame.pixels.shape))
              for frame in placed(random, width, height, 9)]
    check_pages(animations.apng(width, height, frames), animations.played(width, height, frames), frames, seed)
    default = noise((height, width))
    data = animations.apng(width, height, frames, default)
    wanted = [animations.with_alpha(default, most), *animations.played(width, height, frames)]
    still = Frame(default, duration_ms=None)
    check_pages(data, wanted, [still, *frames], seed)


@pytest.mark.parametrize("seed", range(20))
def test_apng_of_pillow(seed):
    """Without half-transparent pixels and undone frames, which Pillow composes by other rules."""
    random = np.random.default_rng(seed)
    frames = []
    for frame in placed(random, 13, 11, 9):
        pixels = random.integers(0, 256, (*frame.pixels.shape, 4)).astype(np.uint8)
        pixels[..., 3] = random.choice([0, 255], frame.pixels.shape)
        frames.append(dataclasses.replace(frame, pixels=pixels, disposal=frame.disposal % RESTORE))
    data = animations.apng(13, 11, frames)
    for i, (page, theirs) in enumerate(zip(imgpipe.pages(data), pillow_frames(data))):
        assert np.array_equal(rgba(page), rgba(theirs)), f"seed {seed}, frame {i}"


@pytest.mark.parametrize("seed", range(40))
def test_webp(seed):
    """Equal to libwebp's WebPAnimDecoder, which Pillow calls: also the colours of transparent pixels."""
    random = np.random.default_rng(seed)
    width, height = SIZES[seed % len(SIZES)]
    frames = []
    for frame in placed(random, width, height, 9, step=2):
        pixels = random.integers(0, 256, (*frame.pixels.shape, 3 if random.integers(3) == 0 else 4)).astype(np.uint8)
        if pixels.shape[2] == 4:
            pixels[..., 3] = np.where(random.integers(2, size=frame.pixels.shape), pixels[..., 3],
                                      random.choice([0, 255], frame.pixels.shape))
        disposal = CLEAR if frame.disposal == RESTORE else frame.disposal
        frames.append(dataclasses.replace(frame, pixels=pixels, disposal=disposal))
    data = animations.webp(width, height, frames, lossless=seed % 4 != 0)
    theirs = list(pillow_frames(data))
    check_pages(data, theirs, frames, seed)
    for i, (page, canvas) in enumerate(zip(imgpipe.pages(data), theirs)):
        np.testing.assert_array_equal(animations.with_alpha(page, 255), canvas, f"seed {seed}, frame {i}")


def test_every_page_has_the_same_channels():
    opaque = np.full((4, 4, 3), 7, np.uint8)
    part = Frame(opaque[:2, :2])
    for disposal, channels in ((KEEP, 3), (CLEAR, 4), (RESTORE, 4)):
        data = animations.apng(4, 4, [Frame(opaque, disposal=disposal), part])
        assert [page.shape[2] for page in imgpipe.pages(data)] == [channels] * 2, disposal
    data = animations.apng(4, 4, [Frame(opaque, disposal=CLEAR), Frame(opaque, disposal=CLEAR)])
    assert [page.shape[2] for page in imgpipe.pages(data)] == [3, 3], "the second frame covers the canvas"


# ---- damage and hostile files ----------------------------------------------------------------------------

def noise_frames(count=6, size=8, opaque=False, **changes):
    random = np.random.default_rng(count)
    made = [Frame(random.integers(0, 256, (size, size, 4)).astype(np.uint8), **changes) for _ in range(count)]
    for frame in made:
        frame.pixels[..., 3] = 255 if opaque else frame.pixels[..., 3]
    return made


def failing(data, **options):
    """The pages that fail, with their reasons."""
    pages, reasons = imgpipe.pages(data, **options), {}
    for i in range(len(pages)):
        try:
            pages[i]
        except imgpipe.DecodeError as error:
            reasons[i] = str(error)
    return reasons


def test_a_damaged_frame_fails_with_those_in_which_it_is_visible():
    frames = noise_frames()
    frames[4].blends = False  # replaces the canvas
    for make, cause in ((animations.apng, "CRC error"), (animations.webp, "WebP: the image data is damaged")):
        data = bytearray(make(8, 8, frames))
        start = [i for i in range(len(data)) if data[i:i + 4] in (b"fcTL", b"ANMF")][2]
        data[start + 60:start + 90] = bytes(data[start + 90:start + 120])
        reasons = failing(bytes(data))
        assert sorted(reasons) == [2, 3], reasons
        assert cause in reasons[2] and "an earlier frame is damaged" in reasons[3] and cause in reasons[3], reasons
        with pytest.warns(imgpipe.DamageWarning):
            assert not failing(bytes(data), lenient=True)


def test_a_frame_outside_the_canvas_fails_alone(program, tmp_path):
    parts = noise_frames(4, 4)
    parts[3].blends = False
    parts[2].x = 6
    indices = [dataclasses.replace(part, pixels=part.pixels[..., 0] % 8) for part in parts]
    for name, data in (("a.png", animations.apng(8, 8, [*noise_frames(1), *parts])),
                       ("a.webp", animations.webp(8, 8, [*noise_frames(1), *parts])),
                       ("a.gif", animations.gif(8, 8, [Frame(np.zeros((8, 8), int)), *indices]))):
        reasons = failing(data)
        assert sorted(reasons) == [3, 4] and reasons[3].endswith("the frame exceeds the image"), (name, reasons)
        path = tmp_path / name
        path.write_bytes(data)
        result = subprocess.run([program, path, tmp_path / "o.png", "--pages", "all", "-q"], capture_output=True,
                                text=True, check=False)
        assert result.returncode == 1 and result.stderr.count("\n") == 1, result.stderr
        assert f"{path}, page 4: " in result.stderr and not list(tmp_path.glob("o*")), result.stderr
        subprocess.run([program, path, tmp_path / "o.png", "--pages", "1-3", "-q"], check=True)
        assert len(list(tmp_path.glob("o_*.png"))) == 3
        for made in tmp_path.glob("o_*.png"):
            made.unlink()


def test_hostile_apng():
    frames = noise_frames(3)
    for at, value in ((4, 0), (4, 2**31), (8, 2**32 - 1), (12, 2**32 - 1), (16, 2**31)):
        data = bytearray(animations.apng(8, 8, frames))
        start = data.rindex(b"fcTL")
        data[start + 4 + at:start + 8 + at] = struct.pack(">I", value)
        data[start + 30:start + 34] = struct.pack(">I", zlib.crc32(data[start:start + 30]))
        assert list(failing(bytes(data))) == [2], (at, value)
    for declared in (1, 2, 4, 2**31):
        data = bytearray(animations.apng(8, 8, frames))
        data[41:45] = struct.pack(">I", declared)
        data[49:53] = struct.pack(">I", zlib.crc32(data[37:49]))
        with pytest.raises(imgpipe.DecodeError, match=f"declares {declared} frames, but the file has 3"):
            imgpipe.pages(bytes(data))
        with pytest.warns(imgpipe.DamageWarning, match="the pages before that are used"):
            assert len(imgpipe.pages(bytes(data), lenient=True)) == 3
    data = animations.apng(8, 8, frames)
    start = data.index(b"fdAT") - 4
    length = struct.unpack(">I", data[start:start + 4])[0] + 12
    assert "out of order" in failing(data[:start] + data[start + length:])[1]


def test_truncated_animations():
    indices = [Frame(np.full((8, 8), i), blends=False) for i in range(4)]
    for make, frames in ((animations.apng, noise_frames(4)), (animations.webp, noise_frames(4)),
                         (animations.gif, indices)):
        data = make(8, 8, frames)
        for size in range(0, len(data), 7):
            for lenient in (False, True):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        failing(data[:size], lenient=lenient)
                    except imgpipe.DecodeError as error:
                        assert "\n" not in str(error)


def test_canvas_limits():
    for make in (animations.apng, animations.webp):
        data = make(8, 8, noise_frames(3))
        assert len(imgpipe.pages(data, max_pixels=64)) == 3
        with pytest.raises(imgpipe.DecodeError, match="too large: 8x8 pixels"):
            imgpipe.pages(data, max_pixels=63)


def test_many_frames_take_linear_time():
    pixel = Frame(np.zeros((1, 1), int))
    one, two = (animations.gif(4, 4, [Frame(np.ones((4, 4), int)), *[pixel] * count]) for count in (1, 2))
    block = two[len(one) - 1:-1]
    pages = imgpipe.pages(one[:-1] + block * 100_000 + b";")
    assert len(pages) == 100_002
    np.testing.assert_array_equal(pages[100_001], pages[1])
    assert len(list(pages[99_000:100_000])) == 1000
    data = one[:-1] + block * 2**20 + b";"
    with pytest.raises(imgpipe.DecodeError, match="more than 1048576 frames"):
        imgpipe.pages(data)


def test_metadata_and_orientation_of_every_frame(program, tmp_path):
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "maker"
    data = animations.apng(8, 4, [Frame(frame.pixels[:4]) for frame in noise_frames(3)],
                           extra=animations.chunk(b"eXIf", exif.tobytes()[6:]))
    assert [page.shape for page in imgpipe.pages(data)] == [(8, 4, 4)] * 3
    assert [page.shape for page in imgpipe.pages(data, orient=False)] == [(4, 8, 4)] * 3
    path = tmp_path / "a.png"
    path.write_bytes(data)
    subprocess.run([program, path, tmp_path / "o.png", "--pages", "2-", "--stages", "invert", "-q"], check=True)
    for number in (2, 3):
        with PIL.Image.open(tmp_path / f"o_000{number}.png") as image:
            assert image.size == (4, 8) and image.getexif()[0x010F] == "maker" and image.getexif()[0x0112] == 1
