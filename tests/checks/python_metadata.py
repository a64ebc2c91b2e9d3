#!/usr/bin/env python3
"""Checks the Python package's metadata and source archive, without compiling:

    python_metadata.py WORK

Makes both in WORK as pip would, and the metadata once more in the unpacked source archive. Needs scikit-build-core;
without it prints SKIPPED and exits with 77.
"""
import email
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEEDED = ("CMakeLists.txt", "LICENSE", "app/build_id.cmake", "app/python/README.md", "app/python/imgpipe/__init__.py",
          "app/python/core/module.cpp", "app/python/wheel/build.py", "images/libraries.cmake",
          "tests/python/conftest.py")
HOOK = "import sys, scikit_build_core.build as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"


def hook(name, source, target):
    """Call a hook of the build backend in the directory `source`, and return the path of its result."""
    target.mkdir(parents=True)
    ran = subprocess.run([sys.executable, "-c", HOOK, name, str(target)], cwd=source, text=True, capture_output=True)
    assert ran.returncode == 0, ran.stderr
    return target / ran.stdout.splitlines()[-1]


def main(work):
    metadata = email.message_from_bytes((hook("prepare_metadata_for_build_wheel", ROOT, work / "wheel") / "METADATA")
                                        .read_bytes())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert metadata["License-Expression"] == "MIT" and metadata["License-File"] == "LICENSE", metadata.items()
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_all("Classifier") == project["classifiers"]
    assert re.fullmatch(r"[0-9.]+(\.dev0(\+g[0-9a-f]{12}(\.dirty)?)?)?", metadata["Version"]), metadata["Version"]
    # The index shows this text outside the repository.
    relative = re.findall(r"\]\((?!https?://)[^)]*\)", metadata.get_payload())
    assert not relative, f"app/python/README.md: relative links: {relative}"

    archive = hook("build_sdist", ROOT, work / "sdist")
    shutil.unpack_archive(archive, work / "unpacked")
    (source,) = (work / "unpacked").iterdir()
    missing = [name for name in NEEDED if not (source / name).exists()]
    assert not missing, f"{archive.name} lacks {missing}"
    assert not (source / "build").exists(), f"{archive.name} contains the directory build"
    again = hook("prepare_metadata_for_build_wheel", source, work / "again") / "METADATA"
    assert email.message_from_bytes(again.read_bytes()).items() == metadata.items(), again.read_text()
    megabytes = archive.stat().st_size / 1e6
    print(f"python_metadata: {metadata['Name']} {metadata['Version']}, {megabytes:.1f} MB of sources")


if __name__ == "__main__":
    try:
        import scikit_build_core  # noqa: F401
    except ImportError as error:
        print(f"SKIPPED: {error}")
        sys.exit(77)
    directory = pathlib.Path(sys.argv[1], f"python_metadata.{os.getpid()}")
    try:
        main(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
