"""Hashes in reports (--hash), `imgpipe verify` and `imgpipe diff` against hashlib and numpy."""
import csv
import hashlib
import io
import json
import math
import os
import random
import subprocess
import tarfile

import numpy as np
import PIL.Image
import pytest


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def sha256_of(path):
    with open(path, "rb") as file:
        return sha256(file.read())


def noise(shape, dtype=np.uint8, seed=0):
    bits = np.random.default_rng(seed).bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize)
    return np.frombuffer(bits, dtype).reshape(shape).copy()


@pytest.fixture
def run(program, tmp_path):
    """Runs imgpipe in tmp_path; returns the ended process, whose exit code must be `code`."""
    def call(*arguments, code=0):
        ended = subprocess.run([program, *arguments], cwd=tmp_path, capture_output=True, check=False,
                               env={**os.environ, "IMGPIPE_SIMD": ""})
        assert ended.returncode == code, ended.stderr.decode(errors="replace")
        ended.lines = ended.stderr.decode(errors="replace").splitlines()
        return ended
    return call


def save(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, array)
    else:
        PIL.Image.fromarray(array).save(path)


def pixels(path):
    array = np.load(path) if path.suffix == ".npy" else np.array(PIL.Image.open(path))
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


CPU = ("--device", "cpu", "-q")


# ---- --hash ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name,array,output", [
    ("a.png", noise((41, 37, 3)), "o.png"), ("a.png", noise((1, 1)), "o.ppm"), ("a.png", noise((53, 7, 4)), "o.webp"),
    ("a.bmp", noise((300, 411, 3)), "o.tga"), ("a.tif", noise((23, 19, 3)), "o.tif"),
    ("a.png", noise((29, 31), np.uint16), "o.png"), ("a.npy", noise((13, 17, 3), np.uint16), "o.tif"),
    ("a.npy", np.float32([[1, np.nan, -0.0], [np.inf, 0.1, -3]]), "o.pfm"),
    ("a.ppm", noise((700, 901, 3)), "o.png"),  # is read row by row
    ("a.ppm", noise((1500, 1100, 3)), "o.ppm"),  # and written so
], ids=str)
def test_hashes_of_an_image(run, tmp_path, name, array, output):
    save(tmp_path / name, array)
    run(name, output, "--stages", "none", "--hash", "--report", "r.json", *CPU)
    report = json.loads((tmp_path / "r.json").read_text())
    expected = array.astype(array.dtype.newbyteorder("<")).tobytes()
    assert report["input"]["sha256"] == sha256_of(tmp_path / name)
    assert report["output"]["sha256"] == sha256_of(tmp_path / output)
    assert report["input"]["pixels_sha256"] == sha256(expected)
    if output == "o.ppm" and array.ndim == 2:  # grey is stored as RGB
        expected = array.repeat(3).tobytes()
    assert report["output"]["pixels_sha256"] == sha256(expected)
    run("verify", "r.json")


def test_the_outputs_are_those_without_hash(run, tmp_path):
    save(tmp_path / "a.png", noise((500, 700, 3)))
    for output in ("o.png", "o.jpg", "o.tif", "o.webp", "o.ppm"):
        run("a.png", output, "--stages", "smooth", "--hash", "--report", "r.json", *CPU)
        hashed = sha256_of(tmp_path / output)
        run("a.png", output, "--stages", "smooth", "--report", "r2.json", *CPU)
        assert sha256_of(tmp_path / output) == hashed
        report = json.loads((tmp_path / "r2.json").read_text())
        assert {report[file][key] for file in ("input", "output") for key in ("sha256", "pixels_sha256")} == {None}


def test_no_hash_without_a_report(run, tmp_path):
    save(tmp_path / "a.png", noise((3, 3)))
    assert len(run("a.png", "o.png", "--hash", code=2).lines) == 1


@pytest.fixture
def batch(run, tmp_path):
    for i in range(7):
        save(tmp_path / "in" / f"{i}.png", noise((20 + i, 31, 3), seed=i))
    PIL.Image.fromarray(noise((64, 80, 3))).save(tmp_path / "in" / "photo.jpg")
    run("in", "out", "--also", "half=resize:50%", "--hash", "--report", "r.ndjson", "--report", "r.csv", *CPU)
    return [json.loads(line) for line in (tmp_path / "r.ndjson").read_text().splitlines()]


def test_hashes_of_a_batch(run, tmp_path, batch):
    rows = {row["input"]: row for row in csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text()))}
    assert len(batch) == len(rows) == 8
    for line in batch:
        assert line["input_sha256"] == sha256_of(tmp_path / line["input"])
        assert line["output_sha256"] == sha256_of(tmp_path / line["output"])
        assert line["also_sha256"] == [sha256_of(tmp_path / path) for path in line["also_outputs"]]
        if line["input"].endswith("png"):
            assert line["input_pixels_sha256"] == sha256(pixels(tmp_path / line["input"]))
            assert line["output_pixels_sha256"] == sha256(pixels(tmp_path / line["output"]))
            assert line["also_pixels_sha256"] == [sha256(pixels(tmp_path / path)) for path in line["also_outputs"]]
        row = rows[line["input"]]
        assert [row[key] for key in ("input_sha256", "output_pixels_sha256", "also_sha256")] == \
            [line["input_sha256"], line["output_pixels_sha256"], "; ".join(line["also_sha256"])]
    for report in ("r.ndjson", "r.csv"):
        assert run("verify", report).stdout == b"24 files: 24 equal, 0 different, 0 not readable\n"


def test_hashes_of_pages(run, tmp_path):
    pages = [noise((15, 21), seed=i) for i in range(5)]
    images = [PIL.Image.fromarray(page) for page in pages]
    images[0].save(tmp_path / "a.tif", save_all=True, append_images=images[1:])
    run("a.tif", "o.tif", "--pages", "2-4", "--stages", "none", "--also", "n=invert", "--hash", "--report", "r.json",
        *CPU)
    report = json.loads((tmp_path / "r.json").read_text())
    middle = b"".join(page.tobytes() for page in pages[1:4])
    assert report["input"]["sha256"] == sha256_of(tmp_path / "a.tif")
    assert report["input"]["pixels_sha256"] == report["output"]["pixels_sha256"] == sha256(middle)
    assert report["output"]["sha256"] == sha256_of(tmp_path / "o.tif")
    assert report["also"][0]["sha256"] == sha256_of(tmp_path / "o.n.tif")
    assert report["also"][0]["pixels_sha256"] == sha256(bytes(255 - value for value in middle))
    run("verify", "r.json")
    run("a.tif", "p.png", "--pages", "all", "--stages", "none", "--hash", "--report", "p.json", *CPU)
    report = json.loads((tmp_path / "p.json").read_text())
    assert report["output"]["sha256"] is None
    for page, array in zip(report["pages"]["each"], pages):
        assert page["output_sha256"] == sha256_of(tmp_path / page["output"])
        assert page["output_pixels_sha256"] == sha256(array.tobytes())
    assert run("verify", "p.json").stdout.startswith(b"6 files: 6 equal")
    run("a.tif", "one.png", "--pages", "3", "--stages", "none", "--hash", "--report", "one.json", *CPU)
    report = json.loads((tmp_path / "one.json").read_text())
    assert report["input"]["sha256"] == sha256_of(tmp_path / "a.tif")
    assert report["input"]["pixels_sha256"] == sha256(pages[2].tobytes())
    run("verify", "one.json")
    (tmp_path / "in").mkdir()
    (tmp_path / "a.tif").rename(tmp_path / "in" / "a.tif")
    run("in", "out", "--pages", "all", "--stages", "none", "--hash", "--report", "r.ndjson", *CPU)
    line = json.loads((tmp_path / "r.ndjson").read_text())
    whole = b"".join(page.tobytes() for page in pages)
    assert line["input_pixels_sha256"] == line["output_pixels_sha256"] == sha256(whole)
    assert line["output_sha256"] == sha256_of(tmp_path / line["output"])
    run("verify", "r.ndjson")


def test_hashes_in_archives(run, tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for i in range(5):
            save(tmp_path / f"{i}.png", noise((9 + i, 8), seed=i))
            archive.add(tmp_path / f"{i}.png", f"d/{i}.png")
    run("a.tar", "b.tar", "--stages", "invert", "--hash", "--report", "r.ndjson", *CPU)
    lines = [json.loads(line) for line in (tmp_path / "r.ndjson").read_text().splitlines()]
    with tarfile.open(tmp_path / "b.tar") as archive:
        for line in lines:
            member = line["output"].removeprefix("b.tar/")
            assert line["output_sha256"] == sha256(archive.extractfile(member).read())
            assert line["input_sha256"] == sha256_of(tmp_path / os.path.basename(member))
    assert run("verify", "r.ndjson").stdout.startswith(b"10 files: 10 equal")
    data = bytearray((tmp_path / "b.tar").read_bytes())
    data[data.index(b"IDAT") + 9] ^= 1
    (tmp_path / "b.tar").write_bytes(data)
    assert len(run("verify", "r.ndjson", code=5).lines) == 1


@pytest.mark.parametrize("options", [["--no-orient"], ["--accept", "pillow"], ["--decode-scale", "2"],
                                     ["--codec", "turbo"]], ids=str)
def test_input_pixels_are_decoded_with_the_options_of_the_run(run, tmp_path, options):
    exif = PIL.Image.Exif()
    exif[0x112] = 6
    PIL.Image.fromarray(noise((64, 48, 3))).save(tmp_path / "a.jpg", exif=exif)
    run("a.jpg", "o.ppm", "--stages", "none", *options, "--hash", "--report", "r.json", *CPU)
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["input"]["pixels_sha256"] == report["output"]["pixels_sha256"]
    run("verify", "r.json")


# ---- verify ------------------------------------------------------------------------------------------------

def test_every_changed_file_is_found(run, tmp_path, batch):
    changed = 0
    for path in [line[key] for line in batch for key in ("input", "output")]:
        data = (tmp_path / path).read_bytes()
        flipped = bytearray(data)
        flipped[len(flipped) // 2] ^= 4
        (tmp_path / path).write_bytes(flipped)
        ended = run("verify", "r.ndjson", code=5)
        assert ended.stdout == b"24 files: 23 equal, 1 different, 0 not readable\n"
        assert all(path in line for line in ended.lines) and 1 <= len(ended.lines) <= 2
        (tmp_path / path).write_bytes(data)
        changed += 1
    assert changed == 16


def test_metadata_changes_only_the_bytes(run, tmp_path, batch):
    image = PIL.Image.open(tmp_path / "out" / "3.png")
    image.save(tmp_path / "out" / "3.png", compress_level=9)
    assert [" bytes differ" in line for line in run("verify", "r.ndjson", code=5).lines] == [True]


def test_files_that_cannot_be_read(run, tmp_path, batch):
    (tmp_path / "out" / "2.png").unlink()
    assert [line.split(": ")[1:] for line in run("verify", "r.ndjson", code=1).lines] == \
        [["out/2.png", "no such file"]]
    (tmp_path / "out" / "2.png").mkdir()
    assert len(run("verify", "r.ndjson", code=1).lines) == 1
    assert len(run("verify", "gone.json", code=1).lines) == 1


def test_relative_paths(run, tmp_path, batch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "in").rename(tmp_path / "elsewhere" / "in")
    (tmp_path / "out").rename(tmp_path / "elsewhere" / "out")
    run("verify", "r.ndjson", code=1)
    run("verify", "r.ndjson", "--base", "elsewhere")


def test_the_last_line_of_an_output_counts(run, tmp_path, batch):
    report = tmp_path / "r.ndjson"
    old = report.read_text()
    run("in", "out", "--also", "half=resize:50%", "--stages", "invert", "--hash", "--report", "new.ndjson",
        "--overwrite", *CPU)
    report.write_text(old + (tmp_path / "new.ndjson").read_text() + '{"imgpipe":"0.1.0","sche')
    ended = run("verify", "r.ndjson")
    assert ended.stdout.startswith(b"24 files: 24 equal")
    assert len(ended.lines) == 1  # about the line that is not complete


def test_paths_with_any_bytes(run, tmp_path):
    names = [b"new\nline.png", b"lat\xe9.png", b"back\\x41.png", b"semi; colon.png", 'quote"d,.png'.encode()]
    for seed, name in enumerate(names):
        image = io.BytesIO()
        PIL.Image.fromarray(noise((5, 6), seed=seed)).save(image, "png")
        os.makedirs(tmp_path / "in", exist_ok=True)
        with open(os.path.join(os.fsencode(tmp_path), b"in", name), "wb") as file:
            file.write(image.getvalue())
    run("in", "out", "--hash", "--report", "r.ndjson", "--report", "r.csv", *CPU)
    for report in ("r.ndjson", "r.csv"):
        assert run("verify", report).stdout.startswith(b"10 files: 10 equal")
    with open(os.path.join(os.fsencode(tmp_path), b"out", names[0]), "ab") as file:
        file.write(b"x")
    assert len(run("verify", "r.ndjson", code=5).lines) == 1


def test_reports_without_hashes(run, tmp_path):
    save(tmp_path / "in" / "a.png", noise((5, 6)))
    run("in/a.png", "o.png", "--report", "r.json", *CPU)
    run("in", "out", "--hash", "--report", "r.ndjson", "--report", "all.json", *CPU)
    run("in", "out2", "--report", "none.ndjson", *CPU)
    for report in ("r.json", "none.ndjson", "all.json"):
        assert len(run("verify", report, code=2).lines) == 1


def hostile_reports(batch_line, image):
    for text in ("", "\n", "{", "[]", "nonsense", "imgpipe,\n", "[" * 200000, '{"a":' * 5000, "\0" * 100,
                 '{"schema":5}', '{"schema":"imgpipe/image/1"}', "imgpipe,input,status\nx,done\n", "9" * 3_000_000):
        yield text
    for key in ("input_sha256", "output_sha256", "also_outputs", "also_sha256", "decoding", "input_bytes_hex",
                "output_pixels_sha256"):
        for value in (5, {}, [[]], "abc", "../../etc/passwd\n", ["x"], True, 1e300, "accept=lenient pages=0",
                      "ee" * 32):
            yield json.dumps({**batch_line, key: value}) + "\n"
    for outer, key in (("input", "sha256"), ("output", "pixels_sha256"), ("input", "path"), ("input", "decoding")):
        for value in (5, {}, [], "x", "bands=1,2,3,4", "scale=auto"):
            yield json.dumps({**image, outer: {**image[outer], key: value}}, indent=2)
    for key in ("input", "output", "also", "pages"):
        for value in (5, [5], "x", {"each": 5}, {"each": [5]}):
            yield json.dumps({**image, key: value}, indent=2)


def test_hostile_reports_end_in_one_line(run, tmp_path, batch):
    run("in/1.png", "one.png", "--hash", "--report", "one.json", *CPU)
    image = json.loads((tmp_path / "one.json").read_text())
    trials = 0
    for text in hostile_reports(batch[0], image):
        (tmp_path / "hostile").write_text(text)
        ended = subprocess.run([os.environ["IMGPIPE_PROGRAM"], "verify", "hostile", "-q"], cwd=tmp_path,
                               capture_output=True, check=False, timeout=60)
        lines = ended.stderr.splitlines()
        assert ended.returncode in (0, 1, 2, 5), text[:300]
        assert len(lines) == (0 if ended.returncode == 0 else 1) or \
            (ended.returncode == 5 and len(lines) == 2), (text[:300], lines)
        trials += 1
    assert trials > 100


# ---- diff --------------------------------------------------------------------------------------------------

def numbers(ended):
    result = json.loads(ended.stdout)
    return result["different"][0] if result["different"] else None


@pytest.mark.parametrize("trial", range(60))
def test_differences_against_numpy(run, tmp_path, trial):
    draw = random.Random(trial)
    dtype = draw.choice([np.uint8, np.uint16, np.float32])
    shape = (draw.randint(1, 40), draw.randint(1, 40)) + draw.choice([(), (3,), (4,)])
    a = noise(shape, dtype, trial) if dtype != np.float32 else \
        np.random.default_rng(trial).normal(size=shape).astype(np.float32)
    b = a.copy()
    for _ in range(draw.choice([0, 1, 2, 100])):
        b.flat[draw.randrange(b.size)] = a.flat[draw.randrange(a.size)]
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    found = numbers(run("diff", "a.npy", "b.npy", "--json", "-", "-q", code=5 if (a != b).any() else 0))
    if not (a != b).any():
        assert found is None
        return
    kind = object if dtype != np.float32 else np.float64
    difference = np.abs(a.astype(kind) - b.astype(kind)).reshape(shape[0], shape[1], -1)
    y, x, channel = np.argwhere(difference != 0)[0]
    assert found["different_pixels"] == (difference != 0).any(axis=2).sum()
    assert found["max_difference"] == difference.max()
    assert found["first"] == {"x": x, "y": y, "channel": channel + 1, "a": a.reshape(difference.shape)[y, x, channel],
                              "b": b.reshape(difference.shape)[y, x, channel]}
    peak = {np.uint8: 255, np.uint16: 65535, np.float32: 1}[dtype]
    assert math.isclose(found["psnr_db"], 10 * math.log10(peak ** 2 / ((difference ** 2).sum() / difference.size)),
                        rel_tol=1e-12)


def test_floats_are_compared_by_their_bits(run, tmp_path):
    a = np.float32([[0, np.nan, np.inf, 1, 2]])
    np.save(tmp_path / "a.npy", a)
    for value, at, most, nan in ((-0.0, 0, 0, 0), (7, 1, 0, 1), (1, 2, None, 0), (np.nan, 3, 0, 1),
                                 (-np.inf, 2, None, 0)):
        b = a.copy()
        b[0, at] = value
        np.save(tmp_path / "b.npy", b)
        found = numbers(run("diff", "a.npy", "b.npy", "--json", "-", "-q", code=5))
        assert (found["different_pixels"], found["max_difference"], found["nan_samples"], found["psnr_db"]) == \
            (1, most, nan, None)
        assert (found["first"]["x"], found["first"]["y"]) == (at, 0)
    run("diff", "a.npy", "a.npy")


def test_formats_do_not_matter(run, tmp_path):
    save(tmp_path / "a.png", noise((33, 21, 3)))
    for name in ("o.bmp", "o.tif", "o.ppm", "o.webp", "o.tga"):
        run("a.png", name, "--stages", "none", *CPU)
        assert run("diff", "a.png", name).stdout == b"equal\n"


def test_shapes_and_types_differ(run, tmp_path):
    save(tmp_path / "a.png", noise((33, 21, 3)))
    for other in (noise((33, 22, 3)), noise((32, 21, 3)), noise((33, 21)), noise((33, 21, 4)),
                  noise((33, 21), np.uint16)):
        save(tmp_path / "b.png", other)
        assert len(run("diff", "a.png", "b.png", code=5).stdout.splitlines()) == 1
        assert numbers(run("diff", "a.png", "b.png", "--json", "-", "-q", code=5))["different_pixels"] is None


def test_pages_are_compared_one_by_one(run, tmp_path):
    images = [PIL.Image.fromarray(noise((5, 7), seed=i)) for i in range(4)]
    changed = [image.copy() for image in images]
    changed[2].putpixel((6, 4), images[2].getpixel((6, 4)) ^ 1)
    for name, pages in (("a.tif", images), ("b.tif", changed), ("c.tif", images[:3])):
        pages[0].save(tmp_path / name, save_all=True, append_images=pages[1:])
    assert run("diff", "a.tif", "a.tif").stdout == b"equal: 4 pages\n"
    found = numbers(run("diff", "a.tif", "b.tif", "--json", "-", "-q", code=5))
    assert (found["page"], found["different_pixels"], found["first"]["x"], found["first"]["y"]) == (3, 1, 6, 4)
    result = json.loads(run("diff", "a.tif", "c.tif", "--json", "-", "-q", code=5).stdout)
    assert (result["pages"], result["a_has_more_pages"], result["b_has_more_pages"]) == (3, True, False)


def test_diff_of_files_that_cannot_be_read(run, tmp_path):
    save(tmp_path / "a.png", noise((33, 21, 3)))
    (tmp_path / "cut.png").write_bytes((tmp_path / "a.png").read_bytes()[:900])
    for other in ("gone.png", "cut.png", "."):
        for pair in ((other, "a.png"), ("a.png", other)):
            assert len(run("diff", *pair, code=1).lines) == 1
