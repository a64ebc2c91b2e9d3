"""Completes a wheel: licences and an SBOM of the libraries inside it; and checks its module."""
import importlib.metadata
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import uuid

from elftools.elf.elffile import ELFFile

import libraries

# Part of every Linux system with glibc; libgcc_s has the unwinder, which a process must have once.
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libgcc_s|ld-linux-[a-z0-9-]+)\.so\.\d")


def components(compiler, cuda):
    """Return name, version, licence and origin of everything that is linked into the module.

    compiler: the path of g++; cuda: the version of the CUDA toolkit, or None.
    """
    found = [{"name": library["name"], "version": library["version"], "license": library["license"],
              "purl": f"pkg:generic/{library['name']}@{library['version']}?checksum=sha256:{library['sha256']}&"
                      f"download_url={urllib.parse.quote(library['url'], safe='')}",
              "sha256": library["sha256"]} for library in libraries.table()]
    nanobind = importlib.metadata.version("nanobind")
    found.append({"name": "nanobind", "version": nanobind, "license": "BSD-3-Clause AND MIT",
                  "purl": f"pkg:pypi/nanobind@{nanobind}"})
    gcc = subprocess.run([compiler, "-dumpfullversion"], check=True, capture_output=True, text=True).stdout
    found.append({"name": "libstdc++", "version": gcc.strip(), "license": "GPL-3.0-or-later WITH GCC-exception-3.1",
                  "terms": "https://www.gnu.org/licenses/gcc-exception-3.1", "purl": f"pkg:generic/gcc@{gcc.strip()}"})
    if cuda:
        found.append({"name": "CUDA runtime", "version": cuda, "license": "LicenseRef-NVIDIA-CUDA-EULA",
                      "terms": "https://docs.nvidia.com/cuda/eula", "purl": f"pkg:generic/cuda-cudart@{cuda}"})
    return found


def sbom(name, version, parts):
    """Return the CycloneDX document of the wheel."""
    def component(kind, part):
        document = {"type": kind, "bom-ref": part["purl"], "name": part["name"], "version": part["version"],
                    "purl": part["purl"], "licenses": [{"expression": part["license"]}]}
        if "sha256" in part:
            document["externalReferences"] = [{
                "type": "source-distribution", "hashes": [{"alg": "SHA-256", "content": part["sha256"]}],
                "url": urllib.parse.unquote(part["purl"].split("download_url=")[1])}]
        return document
    product = {"name": name, "version": version, "license": "MIT", "purl": f"pkg:pypi/{name}@{version}"}
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX",
            "specVersion": "1.6", "version": 1,
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(parts) + product['purl'])}",
            "metadata": {"component": component("library", product)},
            "components": [component("library", part) for part in parts],
            "dependencies": [{"ref": product["purl"], "dependsOn": [part["purl"] for part in parts]}]}


def add_licenses(info, licenses, parts):
    """Copy licence files into the directory .dist-info, and declare them in METADATA (PEP 639)."""
    target = info / "licenses"
    for directory in licenses.iterdir():
        shutil.copytree(directory, target / directory.name)
    (text,) = (file for file in importlib.metadata.files("nanobind") if file.name == "LICENSE")
    (target / "nanobind").mkdir()
    shutil.copy(text.locate(), target / "nanobind")
    notices = [f"{part['name']} {part['version']}: {part['license']}\n{part['terms']}\n" for part in parts
               if "terms" in part]
    (target / "NOTICE").write_text("The module also contains parts of these libraries:\n\n" + "\n".join(notices))
    expressions = {"MIT"} | {one for part in parts for one in part["license"].split(" AND ")}
    head, body = (info / "METADATA").read_text().split("\n\n", 1)
    lines = [line for line in head.splitlines() if not line.startswith(("License-Expression:", "License-File:"))]
    lines.append("License-Expression: " + " AND ".join(sorted(expressions, key=str.lower)))
    lines += [f"License-File: {file.relative_to(target)}" for file in sorted(target.rglob("*")) if file.is_file()]
    (info / "METADATA").write_text("\n".join(lines) + "\n\n" + body)


def check_module(path):
    """Exit with a message unless the module needs only the system's libraries and exports only its entry point."""
    with open(path, "rb") as file:
        elf = ELFFile(file)
        needed = [tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")]
        versions = elf.get_section_by_name(".gnu.version")
        exported, unversioned = [], []
        for number, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
            defined = symbol["st_shndx"] != "SHN_UNDEF"
            if defined:
                exported.append(symbol.name)
            elif symbol["st_info"]["bind"] == "STB_GLOBAL" and versions.get_symbol(number)["ndx"] == "VER_NDX_GLOBAL":
                unversioned.append(symbol.name)
    built_in = str(pathlib.Path(__file__).resolve().parents[3]) + "/"
    problems = ["contains the path of its build"] if built_in.encode() in path.read_bytes() else []
    problems += [f"needs {name}" for name in needed if not SYSTEM.fullmatch(name)]
    problems += [f"exports {name}" for name in exported if name != "PyInit__core"]
    problems += [f"does not define {name}" for name in unversioned if not re.match("_?Py", name)]
    if problems:
        raise SystemExit(f"{path}: {'; '.join(problems)}")


def complete(wheel, licenses, parts, output):
    """Write the completed wheel to the directory `output`, and return one line about it."""
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "-d", work, wheel], check=True, capture_output=True)
        (tree,) = pathlib.Path(work).iterdir()
        (info,) = tree.glob("*.dist-info")
        (module,) = tree.glob("imgpipe/_core.*.so")
        check_module(module)
        add_licenses(info, licenses, parts)
        name, version = info.stem.split("-", 1)
        (info / "sboms").mkdir()
        (info / "sboms" / f"{name}.cdx.json").write_text(json.dumps(sbom(name, version, parts), indent=1) + "\n")
        subprocess.run([sys.executable, "-m", "wheel", "pack", "-d", output, tree], check=True, capture_output=True)
    path = output / wheel.name
    return f"{path}: {path.stat().st_size / 1e6:.1f} MB"
