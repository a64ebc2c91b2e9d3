#!/usr/bin/env python3
"""Runs the commands of README's recipes, of docs/recipes.md and of docs/tar.md unchanged, each page's in its own
directory with small images or archives of the names they use.

    recipes.py IMGPIPE     exit 1 and the command if one fails

A command for cuda may end with 3 without a device, and the lab refuses to run in a debug build. The command for sbatch
is run as the first task of its array. Standard library only.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NO_DEVICE = 3


FOLDERS = {"cells/": ("t00.tif", "t01.tif"), "scans/": ("p0.tif", "p1.jpg")}  # others contain photographs
COMMANDS = ("bench", "stats")


def recipes():
    """Each page with its command lines; in README, those below the heading of the recipes."""
    for page in ("README.md", "docs/recipes.md"):
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            text = file.read()
        if page == "README.md":
            text = text.split("\n## Five recipes\n")[1].split("\n## ")[0]
        blocks = re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        yield page, [line for block in blocks for line in re.sub(r"\\\n\s*", "", block).splitlines()]


def images_of(lines):
    """The inputs that no command writes: files, and directories with images in them and below."""
    calls = [words for words in map(shlex.split, lines) if words[:1] == ["imgpipe"]]
    written = {words[2] for words in calls if words[1] not in COMMANDS}
    names = {words[2 if words[1] == "stats" else 1] for words in calls if words[1] != "bench"} - written
    images = {word.split("=")[1] for words in calls for option, word in zip(words, words[1:]) if option == "--image"}
    return images | {name if not name.endswith("/") else f"{name}{place}" for name in names
            for place in (FOLDERS.get(name, ("1.jpg", "2.png", "below/3.jpg")) if name.endswith("/") else [""])}


def call_of(line, environment):
    """The words to run, and their environment. For sbatch: those of the wrapped command, in the array's first task."""
    words = shlex.split(line)
    if words[0] != "sbatch":
        return words, environment
    first, last = re.search(r"--array=(\d+)-(\d+)", line).groups()
    task = {"SLURM_JOB_ID": "1", "SLURM_ARRAY_JOB_ID": "1", "SLURM_ARRAY_TASK_ID": first, "SLURM_ARRAY_TASK_MIN": first,
            "SLURM_ARRAY_TASK_MAX": last, "SLURM_ARRAY_TASK_COUNT": str(int(last) - int(first) + 1),
            "SLURM_ARRAY_TASK_STEP": "1"}
    return shlex.split(words[words.index("--wrap") + 1]), {**environment, **task}


def run(program, page, lines):
    """Whether all commands end as expected."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    with tempfile.TemporaryDirectory() as folder:
        for image in images_of(lines):
            os.makedirs(os.path.join(folder, os.path.dirname(image)), exist_ok=True)
            is_camera = image.startswith("cells") or os.path.dirname(image) == "" and image.endswith(".tif")
            depth = ["--depth", "16", "--channels", "1"] if is_camera else []
            subprocess.run([program, "synth", image, "--pattern", "photo", "--size", "160x120", "-q", *depth],
                           cwd=folder, check=True)
        for line in lines:
            words, variables = call_of(line, environment)
            assert words[0] == "imgpipe", line
            done = subprocess.run([program, *words[1:]], cwd=folder, env=variables, capture_output=True, text=True)
            refused = words[1] == "bench" and "Debug build" in done.stderr
            if done.returncode not in ((0, NO_DEVICE) if "cuda" in words else (0,)) and not refused:
                print(f"{page}: {line}\nends with {done.returncode}:\n{done.stdout}{done.stderr}")
                return False
    return True


def run_archives(program):
    """Whether the command lines of docs/tar.md succeed, in a shell."""
    with open(os.path.join(ROOT, "docs", "tar.md"), encoding="utf-8") as file:
        lines = re.search(r"^```\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL).group(1)
    with tempfile.TemporaryDirectory() as directory:
        os.symlink(os.path.abspath(program), os.path.join(directory, "imgpipe"))
        environment = {**os.environ, "PATH": directory + ":" + os.environ["PATH"]}
        make = ("for n in 0 1 2 3; do imgpipe synth $n.jpg --pattern photo --size 40x30 -q && echo $n >$n.cls && "
                "tar cf shard-000$n.tar $n.jpg $n.cls; done\n")
        done = subprocess.run(["bash", "-eo", "pipefail"], input=make + lines, cwd=directory, env=environment,
                              capture_output=True, text=True)
        if done.returncode != 0:
            print(f"docs/tar.md ends with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.returncode == 0


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    program, pages = os.path.realpath(arguments[0]), list(recipes())
    for page, lines in pages:
        assert len(lines) >= 5 and images_of(lines), lines
        if not run(program, page, lines):
            return 1
    if not run_archives(program):
        return 1
    print(f"recipes: {sum(len(lines) for _, lines in pages)} commands run")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
