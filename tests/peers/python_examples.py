#!/usr/bin/env python3
"""Runs the programs of examples/python/ and checks their results, each where its packages are installed.

    python_examples.py [--install] [--keep DIRECTORY] IMGPIPE [EXAMPLE...]

The package imgpipe must be importable (PYTHONPATH=BUILD/python). --install installs the other packages from PyPI into a
virtual environment of this interpreter, which takes gigabytes for torch. Exit code 1: an example failed; 77: none could
run. --keep leaves all files in DIRECTORY.
"""
import argparse
import io
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import tempfile

import imgpipe
import numpy as np

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
TIME_LIMIT_S = 400
CLASSES, PHOTOS, SAMPLES = 4, 24, 32


# ---- the data ----------------------------------------------------------------------------------------

def photo(height, width, seed):
    rows, columns = np.mgrid[0:height, 0:width]
    planes = [128 + 90 * np.sin((rows + seed) / 20) * np.cos(columns / (30 + 9 * plane)) for plane in range(3)]
    return np.stack(planes, 2).astype(np.uint8)


def make_data(directory):
    """photos/CLASS/*.jpg, the same with a broken file as damaged/, and shards/train-000{0,1}.tar."""
    for i in range(PHOTOS):
        path = directory / "photos" / f"class{i % CLASSES}" / f"{i:02}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        imgpipe.write(path, photo(240 + i, 320 - i, i))
    shutil.copytree(directory / "photos", directory / "damaged")
    broken = directory / "damaged/class1/01.jpg"
    broken.write_bytes(broken.read_bytes()[:1000])
    (directory / "shards").mkdir()
    for shard in range(2):
        with tarfile.open(directory / f"shards/train-{shard:04}.tar", "w") as archive:
            for i in range(SAMPLES // 2):
                image = imgpipe.encode(photo(200 + i, 260 - i, i), "jpeg", quality=90)
                for extension, contents in {"jpg": image, "cls": b"%d" % (i % CLASSES)}.items():
                    member = tarfile.TarInfo(f"{shard}{i:05}.{extension}")
                    member.size = len(contents)
                    archive.addfile(member, io.BytesIO(contents))


def members_of(directory):
    """{name: bytes} of every tar in the directory."""
    found = {}
    for path in sorted(directory.glob("*.tar")):
        with tarfile.open(path) as archive:
            found.update({member.name: archive.extractfile(member).read() for member in archive})
    return found


# ---- the examples ------------------------------------------------------------------------------------

class Run:
    """The interpreter, the program and the directory that the examples run in."""

    def __init__(self, python, program, directory):
        self.python, self.program, self.directory = python, program, directory
        self.environment = {**os.environ, "IMGPIPE_PROGRAM": program, "PYTHONDONTWRITEBYTECODE": "1",
                            "PATH": f"{directory / 'bin'}:{os.environ['PATH']}", "RAY_USAGE_STATS_ENABLED": "0"}
        if path := os.environ.get("PYTHONPATH"):  # the examples run in another directory
            self.environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, path.split(os.pathsep)))

    def example(self, name, *arguments, code=0):
        """Runs an example and returns what it printed."""
        done = subprocess.run([self.python, EXAMPLES / name, *map(str, arguments)], cwd=self.directory, text=True,
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIME_LIMIT_S)
        if done.returncode != code:
            raise AssertionError(f"{name} {arguments}: exit code {done.returncode}, expected {code}\n{done.stdout}")
        return done.stdout

    def has(self, module):
        return subprocess.run([self.python, "-c", f"import {module}"], env=self.environment,
                              capture_output=True).returncode == 0


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


def torch_loader(run):
    for sources, images in {"photos": PHOTOS, "damaged": PHOTOS - 1, "shards/train-{0000..0001}.tar": SAMPLES}.items():
        for workers in 0, 2:
            printed = run.example("torch_loader.py", sources, workers)
            expect(printed.startswith(f"{images} images"), sources, workers, printed)


def torch_dataset(run):
    for workers in 0, 2:
        printed = run.example("torch_dataset.py", "photos", workers)
        expect(printed.startswith(f"{PHOTOS} images of {CLASSES} classes"), workers, printed)


def torch_training(run):
    """A killed training resumes after its last saved step, and repeats none."""
    command = [run.python, EXAMPLES / "torch_training.py", "shards/train-{0000..0001}.tar"]
    with subprocess.Popen(command, cwd=run.directory, env=run.environment, text=True, stdout=subprocess.PIPE) as first:
        printed = [first.stdout.readline(), first.stdout.readline()]
        first.send_signal(signal.SIGKILL)
        printed += first.stdout.readlines()
    printed += run.example("torch_training.py", "shards/train-{0000..0001}.tar").splitlines()
    found = re.findall(r"epoch (\d+), step (\d+): loss", "\n".join(printed))
    steps = [(int(epoch), int(step)) for epoch, step in found]
    batches = SAMPLES // 8
    wanted = [(step // batches, step + 1) for step in range(2 * batches)]
    lost = [step for step in wanted if step not in steps]  # at most one, saved but killed before it was printed
    expect(sorted(set(steps)) == steps and len(lost) <= 1 and set(steps) <= set(wanted), steps)


def shards(run):
    run.example("shards.py", "shards/train-{0000..0001}.tar", "resized")
    before, after = members_of(run.directory / "shards"), members_of(run.directory / "resized")
    expect(set(before) == set(after) and len(after) == 2 * SAMPLES, sorted(after))
    for name, contents in after.items():
        if name.endswith(".jpg"):
            expect(min(imgpipe.info(contents).shape[:2]) == 128, name, imgpipe.info(contents))
        else:
            expect(contents == before[name], name)
    if run.has("webdataset") and run.has("PIL"):
        check = ("import sys, webdataset; samples = list(webdataset.WebDataset(sys.argv[1:], shardshuffle=False)"
                 ".decode('pil')); print(len(samples), {min(sample['jpg'].size) for sample in samples})")
        read = subprocess.run([run.python, "-c", check, *sorted(map(str, (run.directory / "resized").glob("*.tar")))],
                              check=True, capture_output=True, text=True, env=run.environment).stdout
        expect(read == f"{SAMPLES} {{128}}\n", read)


def engine(run, example):
    """A broken image costs only itself, a killed part is repeated, and a second run does only the rest."""
    output = run.directory / f"{example}-output"
    (run.directory / "killed").unlink(missing_ok=True)
    for attempt, code in (1, 1), (2, 0):
        run.example(f"{example}.py", "damaged", output, 4, code=code)
        expect((run.directory / "killed").exists(), "no part was killed")
        outputs = {path.relative_to(output): path for path in output.rglob("*.png")}
        expect(len(outputs) == PHOTOS - 1 + (attempt == 2), sorted(outputs))
        if attempt == 1:
            first = {path: path.stat().st_mtime_ns for path in outputs.values()}
            shutil.copy(run.directory / "photos/class1/01.jpg", run.directory / "damaged/class1/01.jpg")
    expect(all(path.stat().st_mtime_ns == time for path, time in first.items()), "outputs were made again")
    subprocess.run([run.program, run.directory / "damaged", run.directory / f"{example}-whole", "--recursive",
                    "--format", "png", "--stages", "resize:longest=1024", "--quiet"], check=True)
    for name, path in outputs.items():
        expect(path.read_bytes() == (run.directory / f"{example}-whole" / name).read_bytes(), name, "differs")
    broken = run.directory / "damaged/class1/01.jpg"
    broken.write_bytes(broken.read_bytes()[:1000])


def ray_data(run):
    for directory, images in {"photos": PHOTOS, "damaged": PHOTOS - 1}.items():
        printed = run.example("ray_data.py", run.directory / directory)
        expect(f"\n{images} images" in "\n" + printed, printed)


def lab(run):
    """The notebook runs with the lab, and explains what is missing without it."""
    script = ("import sys, nbformat, nbclient; book = nbformat.read(sys.argv[1], 4); nbformat.validate(book); "
              "assert not any(cell.get('outputs') for cell in book.cells), 'committed with outputs'; "
              "nbclient.NotebookClient(book, timeout=200).execute(); "
              "print(*(output.get('text', '') for cell in book.cells for output in cell.get('outputs', [])))")
    missing = str(run.directory / "none")
    for program, wanted in (run.program, r"\d+ variants of 4 operators"), (missing, "is missing"):
        done = subprocess.run([run.python, "-c", script, EXAMPLES / "lab.ipynb"], text=True, capture_output=True,
                              env={**run.environment, "IMGPIPE_PROGRAM": program, "LAB_SIZE": "640x480"})
        if program == run.program and not shutil.which("imgpipe-bench", path=os.path.dirname(program)):
            wanted = "imgpipe-bench"
        expect(done.returncode == 0 and re.search(wanted, done.stdout), program, done.stdout, done.stderr)


CASES = {  # the modules that each needs, and the packages that have them
    "shards.py": (shards, {}),
    "torch_loader.py": (torch_loader, {"torch": "torch"}),
    "torch_dataset.py": (torch_dataset, {"torch": "torch"}),
    "torch_training.py": (torch_training, {"torch": "torch"}),
    "dask_directory.py": (lambda run: engine(run, "dask_directory"), {"dask": "dask", "distributed": "distributed"}),
    "ray_directory.py": (lambda run: engine(run, "ray_directory"), {"ray": "ray[data]"}),
    "ray_data.py": (ray_data, {"ray": "ray[data]", "pyarrow": "pyarrow"}),
    "lab.ipynb": (lab, {"nbclient": "nbclient", "ipykernel": "ipykernel", "matplotlib": "matplotlib"}),
}
ALSO = ["webdataset", "pillow", "numpy>=1.26"]  # for the checks


def write_program(directory, program):
    """bin/imgpipe: the program, except that the second part of the first run is killed."""
    script = directory / "bin/imgpipe"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\ncase " $* " in *" --shard 2/4 "*)\n  [ -e "{directory}/killed" ] || '
                      f'{{ : >"{directory}/killed"; kill -KILL $$; }} ;;\nesac\nexec "{program}" "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


def install(directory):
    subprocess.run([sys.executable, "-m", "venv", directory / "venv"], check=True)
    python = str(directory / "venv/bin/python3")
    packages = {package for _, needs in CASES.values() for package in needs.values()}
    subprocess.run([python, "-m", "pip", "install", "-q", *ALSO, *sorted(packages)], check=True)
    return python


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("program")
    parser.add_argument("examples", nargs="*", choices=[[], *CASES])
    options = parser.parse_args()
    expect({path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".ipynb")} == set(CASES),
           "CASES and", EXAMPLES, "differ")
    with tempfile.TemporaryDirectory() as temporary:
        directory = (options.keep or pathlib.Path(temporary)).resolve()
        directory.mkdir(exist_ok=True)
        python = install(directory) if options.install else sys.executable
        program = os.path.realpath(options.program)
        write_program(directory, program)
        make_data(directory)
        run = Run(python, program, directory)
        ran, failed = 0, 0
        for name in options.examples or CASES:
            case, needs = CASES[name]
            if missing := [module for module in needs if not run.has(module)]:
                print(f"{name}: SKIPPED, not installed: {', '.join(missing)} (try --install)", flush=True)
                continue
            ran += 1
            try:
                case(run)
                print(f"{name}: ok", flush=True)
            except (AssertionError, subprocess.SubprocessError, OSError) as error:
                failed += 1
                print(f"{name}: {error}", flush=True)
    if not ran:
        print("SKIPPED: the packages of no example are installed")
        return 77
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
