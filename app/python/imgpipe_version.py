"""Provides the package version to scikit-build-core: the PEP 440 version of app/build_id.cmake."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).parents[2]


def dynamic_metadata(field, settings=None):
    """Return the version; in an unpacked sdist, the one in PKG-INFO."""
    assert field == "version" and not settings
    stated = ROOT / "PKG-INFO"
    if stated.exists():
        return re.search(r"^Version: (.+)$", stated.read_text(), re.MULTILINE)[1]
    base = re.search(r"project\(imgpipe VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    command = ["cmake", f"-DSOURCE={ROOT}", f"-DBASE={base}", "-P", str(ROOT / "app" / "build_id.cmake")]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
