#!/usr/bin/env python3
"""Checks that every file that uses Highway is built for every instruction set, including plain 128-bit vectors.
Reads the objects, not the settings.

    simd_targets.py NM OBJECTS SOURCES    exit 1 if one is missing
"""
import pathlib
import re
import subprocess
import sys


def targets_of(nm, path):
    symbols = subprocess.run([nm, "-C", str(path)], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"imgpipe::N_([A-Z0-9_]+)::", symbols))


def main():
    nm, folder, root = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    sources = [path.relative_to(root) for layer in ("kernels", "images") for path in (root / layer).rglob("*.cpp")
               if "HWY_EXPORT(" in path.read_text()]
    objects = {path: next(iter(folder.rglob(f"{path}.o")), None) for path in sources}
    targets = {path: targets_of(nm, found) if found else set() for path, found in objects.items()}
    every = set().union(*targets.values())
    wrong = [f"{path}: not built for {', '.join(sorted(every - built))}" for path, built in targets.items()
             if built != every]
    if "EMU128" not in every:
        wrong.append("nothing is built for EMU128")
    print("\n".join(wrong) if wrong else f"{len(sources)} files in Highway, each for {', '.join(sorted(every))}")
    return 1 if wrong or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
