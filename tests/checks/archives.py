#!/usr/bin/env python3
"""Random tar archives through imgpipe, with Python's tarfile as the oracle.

    archives.py IMGPIPE [SEED]

Members in are members out: names, order, headers and bytes of other members are equal, and images equal what the
program makes of the files alone. A damaged image is missing and fails alone. Standard library only.
"""
import gzip
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile

STAGES = "resize:shortest=7"
FORMATS = {"": None, "png": "png", "npy": "npy"}
FIELDS = ("name", "type", "mode", "uid", "gid", "uname", "gname", "mtime", "linkname", "devmajor", "devminor")
PREFIXES = ["", "", "a/", "/abs/", "../up/", "x" * 120 + "/" + "y" * 130 + "/", "ünï/", "bad\udcff/", "c\x1b\n/"]
OTHERS = {".cls": b"7", ".json": b'{"a": 1}\n', ".txt": b"", ".bin": bytes(range(256)) * 9000, ".jpg.bak": b"x"}


class Failure(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Failure(text)


def run(program, *arguments, stdin=b"", directory=None):
    return subprocess.run([program, *arguments], input=stdin, capture_output=True, cwd=directory, timeout=120,
                          check=False)


def stages(kind):
    arguments = ["--stages", STAGES + (",rgb,normalize:imagenet" if kind == "npy" else "")]
    return arguments + (["--format", FORMATS[kind]] if FORMATS[kind] else [])


class Images:
    """Small files, some of them damaged, and what the program makes of each alone."""

    def __init__(self, program, directory):
        self.files, self.alone = {}, {}
        source = os.path.join(directory, "images")
        os.mkdir(source)
        sizes = ["1x1", "1x31", "37x1", "19x23", "211x97"]
        for number, (size, ending) in enumerate(zip(sizes, ["png", "jpg", "ppm", "bmp", "jpeg"])):
            made = run(program, "synth", f"i{number}.{ending}", "--pattern", "photo", "--size", size, "-q",
                       directory=source)
            check(made.returncode == 0, made.stderr)
        with open(os.path.join(source, "i4.jpeg"), "rb") as file:
            whole = file.read()
        for name, content in (("cut.jpg", whole[:300]), ("none.png", b""), ("text.jpg", b"no image")):
            with open(os.path.join(source, name), "wb") as file:
                file.write(content)
        for name in sorted(os.listdir(source)):
            with open(os.path.join(source, name), "rb") as file:
                self.files[name] = file.read()
        for kind in FORMATS:
            output = os.path.join(directory, "alone_" + kind)
            run(program, source, output + "/", *stages(kind), "-q")
            self.alone[kind] = {}
            for name in os.listdir(output):
                with open(os.path.join(output, name), "rb") as file:
                    self.alone[kind][name] = file.read()

    def made_of(self, name, kind):
        """(name, content) of the output; (name, None) if the file is damaged."""
        stem, ending = name.rsplit(".", 1)
        made = stem + "." + (FORMATS[kind] or ending)
        return made, self.alone[kind].get(made)


def random_members(rng, images, tar_format):
    """[(TarInfo, content)]; content is None for members without data."""
    members = []
    for number in range(rng.randrange(1, 14)):
        info = tarfile.TarInfo()
        info.mode, info.mtime = rng.choice([0o644, 0o444, 0o4755]), rng.choice([0, 1700000000])
        info.uid, info.gid = rng.choice([0, 1000]), 7
        info.uname, info.gname = rng.choice(["", "bigdata"]), "group"
        if tar_format == tarfile.PAX_FORMAT:
            info.mtime += rng.randrange(8) / 8
            info.uid = rng.choice([0, 3_000_000])
        prefix = rng.choice(PREFIXES[:5] if tar_format == tarfile.USTAR_FORMAT else PREFIXES)
        kind = rng.random()
        content = None
        if kind < 0.5:
            base = rng.choice(sorted(images.files))
            # Numbered, so that names differ with --format too; sometimes a name repeats.
            prefix += f"{number}/" if rng.random() < 0.9 else ""
            info.name, content = prefix + base, images.files[base]
        elif kind < 0.8:
            ending = rng.choice(sorted(OTHERS))
            info.name, content = f"{prefix}{number}{ending}", OTHERS[ending]
        else:
            info.name = f"{prefix}{number}"
            info.type = rng.choice([tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE,
                                    tarfile.LNKTYPE])
            if info.type == tarfile.DIRTYPE:
                info.name += "/"
            if info.type == tarfile.SYMTYPE:
                info.linkname = "../somewhere/else.png"
            if info.type == tarfile.CHRTYPE:
                info.devmajor, info.devminor = 1, 3
            if info.type == tarfile.LNKTYPE:
                files = [m for m, c in members if c is not None]
                if not files:
                    continue
                info.linkname = rng.choice(files).name
        info.size = len(content or b"")
        members.append((info, content))
    return members


def archive_of(members, tar_format):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tar_format, errors="surrogateescape") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content) if content is not None else None)
    return file.getvalue()


def read(archive):
    """[(fields, content)]"""
    found = []
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:", errors="surrogateescape") as opened:
        for info in opened:
            content = opened.extractfile(info).read() if info.isreg() else None
            found.append((tuple(getattr(info, field) for field in FIELDS), content))
    return found


def is_image(images, name):
    return name.rsplit("/", 1)[-1] in images.files


def expected(images, archive, kind):
    """The members of the output, and the names of those that fail."""
    def renamed(name):
        directory, slash, base = name.rpartition("/")
        return directory + slash + images.made_of(base, kind)[0]

    found, failed, names, new_names, lost = [], [], set(), set(), set()
    for fields, content in read(archive):
        values = dict(zip(FIELDS, fields))
        name = values["name"]
        if values["type"] == tarfile.LNKTYPE and is_image(images, values["linkname"]):
            values["linkname"] = renamed(values["linkname"])
            if is_image(images, name):
                values["name"] = renamed(name)
        elif content is not None and is_image(images, name):
            values["name"] = renamed(name)
            content = images.made_of(name.rsplit("/", 1)[-1], kind)[1]
        new = values["name"]
        if new in new_names or (new != name and new in names):
            failed.append(name)
            if is_image(images, name):
                lost.add(new)
            continue
        names.add(new)
        if new != name:
            new_names.add(new)
        is_damaged = values["type"] == tarfile.REGTYPE and content is None
        if is_damaged:
            lost.add(new)
        if is_damaged or values["linkname"] in lost and values["type"] == tarfile.LNKTYPE:
            failed.append(name)
            continue
        found.append((tuple(values[field] for field in FIELDS), content))
    return found, failed


def printable(name):
    raw = name.encode("utf-8", "surrogateescape")
    return raw.replace(b"\xff", b"\\xFF").replace(b"\x1b", b"\\x1B").replace(b"\n", b"\\x0A").decode()


def compare(text, found, wanted):
    check([f[0] for f in found] == [w[0] for w in wanted],
          f"{text}: members differ:\n  got  {[f[0] for f in found]}\n  want {[w[0] for w in wanted]}")
    for (fields, content), (_, want) in zip(found, wanted):
        check(content == want, f"{text}: {fields[0]!r} differs")


def random_archives(program, images, rng, directory):
    tar_format = rng.choice([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
    kind = rng.choice(sorted(FORMATS))
    archives = [archive_of(random_members(rng, images, tar_format), tar_format) for _ in range(3)]
    for number, archive in enumerate(archives):
        with open(os.path.join(directory, f"s-{number:02}.tar"), "wb") as file:
            file.write(archive)
    options = [*stages(kind), "-j", str(rng.randrange(1, 4))]
    if rng.random() < 0.5:
        options += ["--memory", "64M"]
    made = run(program, "s-{00..02}.tar", "out/", *options, "--report", "r.ndjson", "--failed-out", "f.txt",
               directory=directory)
    wanted = [expected(images, archive, kind) for archive in archives]
    failed = [(number, name) for number, (_, names) in enumerate(wanted) for name in names]
    check(made.returncode == (1 if failed else 0), f"exit code {made.returncode}: {made.stderr.decode()}")
    errors = made.stderr.decode()
    for number, name in failed:
        check(f"s-{number:02}.tar/{printable(name)}: " in errors, f"no line for {name!r} in:\n{errors}")
    with open(os.path.join(directory, "f.txt"), encoding="utf-8") as file:
        check(file.read().split() == sorted({f"s-{number:02}.tar" for number, _ in failed}), "--failed-out")
    with open(os.path.join(directory, "r.ndjson"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    bad = sorted(line["input"] for line in lines if line["status"] == "failed")
    check(bad == sorted(f"s-{number:02}.tar/{printable(name)}" for number, name in failed), f"report: {bad}")
    for number, archive in enumerate(archives):
        with open(os.path.join(directory, "out", f"s-{number:02}.tar"), "rb") as file:
            output = file.read()
        compare(f"archive {number}", read(output), wanted[number][0])
        piped = run(program, "-", "-", *options, "-q",
                    stdin=gzip.compress(archive) if number == 1 else archive)
        check(piped.stdout == output, f"archive {number}: a pipe makes other bytes: {piped.stderr.decode()}")
        cut = rng.randrange(1, max(2, len(archive.rstrip(b"\0")) - 600))
        cut -= cut % 512 == 0
        check_cut(program, archive[:cut], output, options, directory)
    os.remove(os.path.join(directory, "r.ndjson"))


def check_cut(program, archive, whole_output, options, directory):
    """The output of a truncated archive is the beginning of that of the whole one, or there is none."""
    made = run(program, "-", "cut.tar", *options, stdin=archive, directory=directory)
    check(made.returncode == 1, f"truncated archive: exit code {made.returncode}")
    check("cut.tar was not written" in made.stderr.decode(), made.stderr.decode())
    check("cut.tar" not in os.listdir(directory), "a partial archive was left")
    if len(archive) < 512:
        return
    piped = run(program, "-", "-", *options, stdin=archive)
    check(piped.returncode == 1 and whole_output.startswith(piped.stdout), "truncated archive in a pipe")


def main():
    program = os.path.abspath(sys.argv[1])
    seeds = [int(sys.argv[2])] if len(sys.argv) > 2 else range(10)
    with tempfile.TemporaryDirectory() as directory:
        images = Images(program, directory)
        for seed in seeds:
            with tempfile.TemporaryDirectory() as work:
                try:
                    random_archives(program, images, random.Random(seed), work)
                except Failure as failure:
                    sys.exit(f"archives: seed {seed}: {failure}")
    print(f"archives: {len(seeds)} seeds are as tarfile reads them")


if __name__ == "__main__":
    main()
