"""run_directory() against the program, byte for byte."""
import errno
import json
import os
import signal
import subprocess
import sys
import threading

import imgpipe
import numpy as np
import pytest
from PIL import Image

from imgpipe import DecodeError, MissingFileError, Summary, run_directory
from made import noise

STAGES = "gray,contrast:clip=0.5,resize:31:17"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A directory of images of several formats, a damaged one, hidden ones, other files and a loop of links."""
    top = tmp_path_factory.mktemp("in")
    names = ["a.png", "b.jpg", "sub/c.tif", "sub/deep/d.bmp", "sub/e.webp", "f.JPEG", ".h.png", ".h/x.png"]
    for number, name in enumerate(names):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(noise((40 + number, 50, 3), seed=number)).save(path)
    Image.fromarray(noise((33, 44), np.uint16)).save(top / "deep.png")
    (top / "damaged.png").write_bytes((top / "a.png").read_bytes()[:3000])
    (top / "readme.txt").write_text("no image")
    (top / "sub/loop").symlink_to(top)
    return top


def files_of(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in sorted(directory.rglob("*"))
            if path.is_file()}


def run_program(program, source, target, *options):
    report = target.parent / "report.json"
    ended = subprocess.run([program, source, f"{target}/", "--stages", STAGES, "--report", report, "--overwrite", "-q",
                            *options], capture_output=True, text=True)
    return ended, json.loads(report.read_text()) if report.exists() else None


CASES = [({}, ["--recursive"]),
         ({"recursive": False}, []),
         ({"format": "jpeg", "quality": 71}, ["--recursive", "--format", "jpeg", "--quality", "71"]),
         ({"name": "{n:03}-{stem}_{input_ext}.png"}, ["--recursive", "--name", "{n:03}-{stem}_{input_ext}.png"]),
         ({"include": ["*.jpg", "*.tif"], "exclude": "deep"},
          ["--recursive", "--include", "*.jpg", "--include", "*.tif", "--exclude", "deep"]),
         ({"metadata": False, "jobs": 1, "threads": 1, "memory": "64M"}, ["--recursive", "--metadata", "strip"]),
         ({"lenient": True}, ["--recursive", "--lenient"]),
         ({"lenient": "pillow", "device": "reference"}, ["--recursive", "--accept", "pillow"])]


@pytest.mark.parametrize("arguments, options", CASES)
def test_the_files_are_the_programs(program, tree, tmp_path, arguments, options):
    ended, report = run_program(program, tree, tmp_path / "program", *options)
    summary = run_directory(tree, tmp_path / "module", STAGES, **arguments)
    expected = files_of(tmp_path / "program")
    assert files_of(tmp_path / "module") == expected
    assert summary.done == len(expected) == report["done"]
    assert len(summary.failed) == report["failed"] == (1 if ended.returncode else 0)
    assert [path for path, _ in summary.failed] == [str(tree / "damaged.png")] * len(summary.failed)
    assert all(f"{path}: {reason}" in ended.stderr for path, reason in summary.failed)
    assert summary.pixels > 0 and summary.seconds > 0 and summary.skipped == 0
    for line in summary.warnings[:1]:
        assert f"imgpipe: warning: {line}" in ended.stderr
    again = run_directory(tree, tmp_path / "module", STAGES, skip_existing=True, **arguments)
    assert (again.done, again.skipped, again.failed) == (0, len(expected), summary.failed)


def test_what_may_be_replaced(tree, tmp_path):
    out = tmp_path / "out"
    run_directory(tree, out, "gray", include="a.png")
    before = files_of(out)
    run_directory(tree, out, "gray,invert", include="a.png")  # made of the same input
    assert files_of(out) != before
    (out / "a.png").write_bytes(b"mine")
    with pytest.raises(FileExistsError, match="a.png: already exists.*use overwrite=True to replace it") as raised:
        run_directory(tree, out, "gray", include="a.png")
    assert raised.value.errno == errno.EEXIST
    assert files_of(out) == {"a.png": b"mine"}
    run_directory(tree, out, "gray", include="a.png", overwrite=True)
    assert files_of(out) == before


def test_the_limit_of_pixels(tmp_path):
    (tmp_path / "in").mkdir()
    imgpipe.write(tmp_path / "in" / "a.png", noise((20, 30)))
    for stages, limit in (("gray", 599), ("resize:40:40", 1599)):
        [(path, reason)] = run_directory(tmp_path / "in", tmp_path / "out", stages, max_pixels=limit).failed
        assert path.endswith("a.png") and f"raise max_pixels (now {limit})" in reason
        assert run_directory(tmp_path / "in", tmp_path / "out", stages, max_pixels=limit + 1).done == 1
    with pytest.raises(ValueError, match="max_pixels: expected 1 to 17179869184, got 0"):
        run_directory(tmp_path / "in", tmp_path / "out", "gray", max_pixels=0)


def test_refused_before_any_work(tree, tmp_path):
    out = tmp_path / "out"
    (tmp_path / "empty").mkdir()
    cases = {"no images found": {"input": tmp_path / "empty"},
             "no images found; skipped files: .*9 excluded by": {"include": "*.txt", "exclude": "*.txt"},
             "output of both .*in name to distinguish them": {"name": "{dir}/x.png"},
             "is the input itself": {"output": tree},
             "format: must be one of jpeg, png": {"format": "heic"},
             "quality: expected 1 to 100, got 0": {"quality": 0},
             "stages: .*blur": {"stages": "blur"},
             "device": {"device": "gpu"},
             "on_error: expected": {"on_error": "skip"},
             "jobs: expected an int from 0, got -1": {"jobs": -1},
             "memory: expected": {"memory": "much"}}
    for message, arguments in cases.items():
        with pytest.raises(ValueError, match=message) as raised:
            run_directory(**{"input": tree, "output": out, "stages": "gray", **arguments})
        assert "\n" not in str(raised.value) and "--" not in str(raised.value), str(raised.value)
    for name, value in {"input": 3, "output": b"x", "format": 1, "name": 1, "device": None, "stages": 1}.items():
        with pytest.raises(TypeError, match=f"{name}: expected "):
            run_directory(**{"input": tree, "output": out, "stages": "gray", name: value})
    assert not out.exists()


def test_a_missing_input(tree, tmp_path):
    with pytest.raises(MissingFileError) as raised:
        run_directory(tmp_path / "none", tmp_path / "out", "gray")
    assert raised.value.path == str(tmp_path / "none")
    with pytest.raises(ValueError, match="no images found"):
        run_directory(tmp_path / "*.png", tmp_path / "out", "gray")
    assert not (tmp_path / "out").exists()


def test_results_that_cannot_be_written(many, tmp_path):
    """A limit of the file size stands in for a full disk."""
    code = f"""
import resource, signal, imgpipe
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    print(imgpipe.run_directory({str(many)!r}, {str(tmp_path / "out")!r}, "gray", jobs=1))
except OSError as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("OSError "), done
    assert files_of(tmp_path / "out") == {}


def test_the_first_failure_can_end_it(tree, tmp_path):
    with pytest.raises(DecodeError) as raised:
        run_directory(tree, tmp_path / "out", "gray", on_error="raise", jobs=1)
    assert raised.value.path == str(tree / "damaged.png")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    top = tmp_path_factory.mktemp("many")
    image = Image.fromarray(noise((300, 400, 3)))
    for number in range(60):
        image.save(top / f"{number:03}.png", compress_level=1)
    return top


def test_progress_is_reported_in_this_thread(many, tmp_path):
    calls = []
    summary = run_directory(many, tmp_path / "out", "gray", jobs=2,
                            progress=lambda *counts: calls.append((threading.get_ident(), *counts)))
    assert summary == Summary(60, 0, [], 60 * 300 * 400, summary.seconds, [])
    assert {call[0] for call in calls} == {threading.get_ident()}
    assert [call[1] for call in calls] == sorted(call[1] for call in calls)
    assert calls[-1][1:] == (60, 60)


class Stop(Exception):
    pass


@pytest.mark.parametrize("interrupted", [False, True])
def test_it_ends_between_images(many, tmp_path, interrupted):
    # A process in the background may have inherited that the signal is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def progress(ended, total):
        if ended:
            if interrupted:
                os.kill(os.getpid(), signal.SIGINT)
            else:
                raise Stop

    out = tmp_path / "out"
    try:
        with pytest.raises(KeyboardInterrupt if interrupted else Stop):
            run_directory(many, out, "gray,median:5,median:5", jobs=1, threads=1, progress=progress)
    finally:
        signal.signal(signal.SIGINT, before)
    files = files_of(out)
    assert 0 < len(files) < 60
    for name in files:
        assert not name.startswith(".")
        with Image.open(out / name) as image:
            image.load()
    summary = run_directory(many, out, "gray,median:5,median:5", skip_existing=True)
    assert (summary.done, summary.skipped) == (60 - len(files), len(files))


def test_other_threads_run_meanwhile(many, tmp_path):
    counted = [0]
    ending = threading.Event()

    def count():
        while not ending.wait(0.001):
            counted[0] += 1

    other = threading.Thread(target=count)
    other.start()
    try:
        run_directory(many, tmp_path / "out", "gray,median:5", jobs=1)
    finally:
        ending.set()
        other.join()
    assert counted[0] > 5


def test_second_images(tmp_path):
    (tmp_path / "in").mkdir()
    images = {name: noise((20, 30), seed=seed) for seed, name in enumerate(("a.png", "b.png"))}
    for name, image in images.items():
        imgpipe.write(tmp_path / "in" / name, image)
    run_directory(tmp_path / "in", tmp_path / "out", f"subtract:{tmp_path}/in/a.png")
    assert not imgpipe.read(tmp_path / "out/a.png").any()
    np.testing.assert_array_equal(imgpipe.read(tmp_path / "out/b.png"),
                                  np.maximum(images["b.png"].astype(int) - images["a.png"], 0))


@pytest.mark.parametrize("scale", ["auto", 1, 2, 4, 8])
def test_decode_scale(program, tmp_path, scale):
    (tmp_path / "in").mkdir()
    imgpipe.write(tmp_path / "in/a.jpg", noise((120, 161, 3), seed=3))
    imgpipe.write(tmp_path / "in/b.png", noise((120, 161, 3), seed=4))
    stages = "gray,resize:31x17"
    summary = run_directory(tmp_path / "in", tmp_path / "module", stages, format="png", decode_scale=scale)
    subprocess.run([program, tmp_path / "in", f"{tmp_path}/program/", "--stages", stages, "--format", "png", "-q",
                    "--decode-scale", str(scale)], check=False, capture_output=True)
    assert files_of(tmp_path / "module") == files_of(tmp_path / "program")
    assert [reason for _, reason in summary.failed] == (
        [] if scale in ("auto", 1) else [f"decode_scale={scale}: needs a JPEG, got a png file; use auto"])


def test_decode_scale_is_checked(tmp_path):
    for scale in (0, 3, "2"):
        with pytest.raises((TypeError, ValueError), match="decode_scale: expected 'auto', 1, 2, 4 or 8"):
            run_directory(tmp_path, tmp_path / "out", "gray", decode_scale=scale)
