"""Builds the static libraries of libraries.toml."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tomllib
import urllib.request

TABLE = pathlib.Path(__file__).with_name("libraries.toml")
FLAGS = "-O2 -fPIC -fvisibility=hidden -ffp-contract=off -fstack-protector-strong -D_FORTIFY_SOURCE=2"
CMAKE = ("BUILD_SHARED_LIBS=OFF", "CMAKE_BUILD_TYPE=None", "CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
         "CMAKE_INSTALL_LIBDIR=lib", "CMAKE_POLICY_VERSION_MINIMUM=3.5")


def table():
    """Return the rows of libraries.toml."""
    return tomllib.loads(TABLE.read_text())["library"]


def archive_of(library, given, downloads):
    """Return the path of the library's archive: in the directory `given`, found by its checksum, or downloaded."""
    def is_it(path):
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == library["sha256"]
    if given:
        for path in sorted(given.iterdir()):
            if ".tar." in path.name and is_it(path):
                return path
        raise SystemExit(f"{given}: no archive of {library['name']} {library['version']} has the checksum "
                         f"{library['sha256']}; download {library['url']} there")
    path = downloads / (f"{library['name']}-{library['version']}" + "".join(pathlib.Path(library["url"]).suffixes[-2:]))
    if not path.exists():
        downloads.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        with urllib.request.urlopen(library["url"]) as source, open(part, "wb") as target:
            shutil.copyfileobj(source, target)
        part.rename(path)
    if not is_it(path):
        raise SystemExit(f"{path}: the checksum is not {library['sha256']}; delete the file to download it again")
    return path


def commands_of(library, prefix):
    """Return the shell commands that build and install the library, in its source directory."""
    if "build" in library:
        return library["build"]
    options = " ".join(f"-D{option}" for option in (*CMAKE, *library["cmake"]))
    return [f"cmake -S {library.get('source', '.')} -B build-wheel -G Ninja {options} "
            f"-DCMAKE_INSTALL_PREFIX={prefix} -DCMAKE_PREFIX_PATH={prefix} >/dev/null",
            "cmake --build build-wheel", "cmake --install build-wheel"]


def build(work, environment, given=None):
    """Build what is missing in work/prefix, and return that directory. Licence files are in work/licenses/NAME."""
    prefix = work / "prefix"
    for directory in ("include", "lib"):
        (prefix / directory).mkdir(parents=True, exist_ok=True)
    flags = f"{FLAGS} -ffile-prefix-map={work}/source/="  # the module must not name the build's directory
    environment = {**environment, "CFLAGS": flags, "CXXFLAGS": flags, "PREFIX": str(prefix),
                   "JOBS": str(len(os.sched_getaffinity(0)))}
    for library in table():
        commands = commands_of(library, prefix)
        recipe = "\n".join([library["sha256"], flags, *commands])
        stamp = work / "built" / library["name"]
        if stamp.exists() and stamp.read_text() == recipe:
            continue
        print(f"building {library['name']} {library['version']}", flush=True)
        source = work / "source" / library["name"]
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir(parents=True)
        subprocess.run(["tar", "-xf", archive_of(library, given, work / "downloads"), "-C", source], check=True)
        (top,) = source.iterdir()
        log = work / f"{library['name']}.log"
        with open(log, "w") as said:
            for command in commands:
                if subprocess.run(command, shell=True, cwd=top, env=environment, stdout=said, stderr=said).returncode:
                    raise SystemExit(f"{library['name']}: {command}: failed; see {log}")
        licenses = work / "licenses" / library["name"]
        shutil.rmtree(licenses, ignore_errors=True)
        licenses.mkdir(parents=True)
        for file in library["license_files"]:
            shutil.copy(top / file, licenses)
        shutil.rmtree(source)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(recipe)
    if shared := sorted(prefix.glob("lib/*.so*")):
        raise SystemExit(f"{shared[0]}: expected static libraries only; delete {prefix} to build them again")
    return prefix
