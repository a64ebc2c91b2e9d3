"""--stack and --montage: projections and sheets of pages and of files, against numpy."""
import json
import os
import subprocess

import numpy as np
import PIL.Image
import PIL.PngImagePlugin
import pytest

import imgpipe

PROGRAM = os.environ["IMGPIPE_PROGRAM"]
PROJECTIONS = ["max", "min", "mean", "sum", "median"]
TYPES = [np.uint8, np.uint16, np.float32]


def run(*arguments, code=0, **more):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, **more)
    assert done.returncode == code, done.stderr
    return done.stderr


def stack(path, pages):
    """Writes the pages as the files of a directory."""
    path.mkdir()
    for number, page in enumerate(pages):
        np.save(path / f"{number:04}.npy", page)
    return path


def random_pages(random, dtype, shape=None, count=None):
    count = count or int(random.choice([1, 2, 3, 4, 7, 20]))
    channels = int(random.choice([1, 1, 2, 3, 4]))
    shape = shape or (int(random.integers(1, 20)), int(random.integers(1, 40)), channels)
    if shape[2] == 1:
        shape = shape[:2]
    if dtype == np.float32:
        pages = (random.integers(-1000, 1000, (count, *shape)) / 7).astype(np.float32)
        pages[random.random(pages.shape) < 0.01] = np.inf
        pages[random.random(pages.shape) < 0.01] = np.nan
        return pages
    # Few distinct values make ties.
    most = int(random.choice([1, np.iinfo(dtype).max]))
    return random.integers(0, most, (count, *shape), dtype, endpoint=True)


def projected(name, pages):
    """docs/pixels.md, in numpy."""
    dtype, count = pages.dtype, pages.shape[0]
    if name in ("max", "min"):
        return getattr(pages, name)(axis=0)
    if dtype == np.float32:
        with np.errstate(invalid="ignore", over="ignore"):
            if name == "median":
                return np.median(pages.astype(np.float64), axis=0).astype(np.float32)
            total = pages.astype(np.float64).sum(axis=0)  # page by page, in order
            return (total / count if name == "mean" else total).astype(np.float32)
    if name == "median":
        return np.floor(np.median(pages.astype(np.float64), axis=0) + 0.5).astype(dtype)
    total = pages.astype(np.uint64).sum(axis=0)
    if name == "sum":
        return np.minimum(total, np.iinfo(dtype).max).astype(dtype)
    return ((2 * total + count) // (2 * count)).astype(dtype)


def expect_equal(got, expected):
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert np.array_equal(got, expected, equal_nan=got.dtype == np.float32)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", PROJECTIONS)
def test_equals_numpy(tmp_path, name, dtype):
    random = np.random.default_rng([PROJECTIONS.index(name), TYPES.index(dtype)])
    for trial in range(6):
        pages = random_pages(random, dtype)
        files = stack(tmp_path / str(trial), pages)
        for device in ("cpu", "reference"):
            out = tmp_path / f"{trial}-{device}.npy"
            run(files, out, "--stack", name, "--device", device, "--threads", random.integers(1, 4), "-q")
            expect_equal(np.load(out), projected(name, pages))


def pages_of(path, pages):
    """Writes a TIFF with these grey pages."""
    images = [PIL.Image.fromarray(page) for page in pages]
    images[0].save(path, save_all=True, append_images=images[1:])
    return path


@pytest.mark.parametrize("name", PROJECTIONS)
def test_pages_and_selections(tmp_path, name):
    pages = random_pages(np.random.default_rng(5), np.uint16, (13, 17, 1), 9)
    source, out = pages_of(tmp_path / "z.tif", pages), tmp_path / "out.npy"
    for chosen, expected in ((None, pages), ("all", pages), ("3-7", pages[2:7]), ("8-", pages[7:]), ("4", pages[3:4])):
        run(source, out, "--stack", name, *([] if chosen is None else ["--pages", chosen]), "--overwrite", "-q")
        expect_equal(np.load(out), projected(name, expected))


def test_pages_of_several_files(tmp_path):
    random = np.random.default_rng(6)
    files = tmp_path / "in"
    files.mkdir()
    a, b = (random_pages(random, np.uint16, (5, 6, 1), count) for count in (3, 4))
    pages_of(files / "a.tif", a)
    pages_of(files / "b.tif", b)
    run(files, tmp_path / "out.npy", "--stack", "median", "-q")
    expect_equal(np.load(tmp_path / "out.npy"), projected("median", np.concatenate([a, b])))


def test_bands_of_rows(tmp_path):
    """Several passes, with and without stages, make what one pass makes."""
    pages = random_pages(np.random.default_rng(7), np.uint16, (700, 900, 1), 60)
    files = stack(tmp_path / "in", pages)
    for name in ("mean", "median"):
        for stages, source in (("none", pages), ("invert", 65535 - pages)):
            out, report = tmp_path / f"{name}-{stages}.npy", tmp_path / "report.json"
            run(files, out, "--stack", name, "--stages", stages, "--memory", "64M", "--report", report, "--overwrite",
                "-q")
            expect_equal(np.load(out), projected(name, source))
            facts = json.loads(report.read_text())["stack"]
            assert facts["images"] == facts["files"] == 60 and facts["projection"] == name
            assert facts["passes"] > 1 or name != "median"


def test_stages_before_and_after(tmp_path):
    pages = random_pages(np.random.default_rng(8), np.uint8, (12, 10, 1), 5)
    files, out = stack(tmp_path / "in", pages), tmp_path / "out.npy"
    run(files, out, "--stack", "max", "--stages", "invert,flip", "--then", "posterize:4", "-q")
    before = np.stack([imgpipe.run(page, "invert,flip")[0] for page in pages])
    expect_equal(np.load(out), np.asarray(imgpipe.run(before.max(axis=0), "posterize:4")[0]))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_sum_of_floats_is_not_limited(tmp_path, dtype):
    pages = random_pages(np.random.default_rng(9), dtype, (6, 9, 1), 300)
    files, white = stack(tmp_path / "in", pages), np.iinfo(dtype).max
    exact = (pages.sum(axis=0, dtype=np.uint64).astype(np.float64) / white).astype(np.float32)
    run(files, tmp_path / "out.npy", "--stack", "sum", "--then", "depth:float", "-q")
    expect_equal(np.load(tmp_path / "out.npy"), exact)
    run(files, tmp_path / "out.pfm", "--stack", "sum", "-q")
    expect_equal(np.asarray(imgpipe.read(tmp_path / "out.pfm")), exact)
    run(files, tmp_path / "half.npy", "--stack", "sum", "--then", "multiply:0.5,depth:float", "-q")
    limited = projected("sum", pages)
    expect_equal(np.load(tmp_path / "half.npy"), np.asarray(imgpipe.run(limited, "multiply:0.5,depth:float")[0]))


def test_stream(tmp_path):
    pages = random_pages(np.random.default_rng(10), np.uint8, (6, 9, 1), 7)
    images = b"".join(b"P5 9 6 255\n" + page.tobytes() for page in pages)
    for name in PROJECTIONS[:-1]:
        done = subprocess.run([PROGRAM, "-", tmp_path / f"{name}.npy", "--stack", name, "-q"], input=images)
        assert done.returncode == 0
        expect_equal(np.load(tmp_path / f"{name}.npy"), projected(name, pages))
    done = subprocess.run([PROGRAM, "-", tmp_path / "median.npy", "--stack", "median"], input=images,
                          capture_output=True)
    assert done.returncode == 2 and b"a stream can be read only once; save the images to files" in done.stderr


@pytest.mark.parametrize("dtype", TYPES)
def test_montage(tmp_path, dtype):
    random = np.random.default_rng([11, TYPES.index(dtype)])
    for trial in range(4):
        pages = np.nan_to_num(random_pages(random, dtype), posinf=1, neginf=0)
        files, out = stack(tmp_path / str(trial), pages), tmp_path / f"{trial}.npy"
        height, width = (int(random.integers(1, 30)) for _ in range(2))
        columns = int(random.integers(1, 5))
        run(files, out, "--montage", f"{columns}x", "--cell", f"{width}x{height}", "--background", "black", "-q")
        rows = -(-len(pages) // columns)
        cells = [np.asarray(imgpipe.run(page, f"resize:{width}x{height}:fit=contain:background=black")[0])
                 for page in pages]
        expected = np.zeros((rows * height, columns * width, *cells[0].shape[2:]), dtype)
        if cells[0].shape[2:] in ((2,), (4,)):
            expected[..., -1] = 1 if dtype == np.float32 else np.iinfo(dtype).max
        for number, cell in enumerate(cells):
            y, x = number // columns * height, number % columns * width
            expected[y:y + height, x:x + width] = cell
        expect_equal(np.load(out), expected)


def test_only_a_projection_keeps_metadata(tmp_path):
    pages = tmp_path / "pages"
    pages.mkdir()
    text = PIL.PngImagePlugin.PngInfo()
    text.add_text("Comment", "of one page")
    for number in range(2):
        PIL.Image.new("L", (8, 6)).save(pages / f"{number}.png", pnginfo=text)
    run(pages, tmp_path / "max.png", "--stack", "max", "-q")
    run(pages, tmp_path / "sheet.png", "--montage", "2x", "--cell", "8x6", "-q")
    assert PIL.Image.open(tmp_path / "max.png").info.get("Comment") == "of one page"
    assert "Comment" not in PIL.Image.open(tmp_path / "sheet.png").info
