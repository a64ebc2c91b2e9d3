#!/usr/bin/env python3
"""Checks imgpipe's JSON output against docs/schemas/.

    schemas.py IMGPIPE            exit 1 and a line for each problem; 77: jsonschema is missing
    schemas.py IMGPIPE --write    rewrites docs/schemas/

docs/schemas/ holds the output of "imgpipe docs schema". Every schema is valid, and validates at least one real output.
To show that the schemas can fail, an output of every kind is changed in many ways (a key removed, a key added, a value
of another type, at every position), and each change must be rejected. The digest in a report must match the report's
options. Needs python3-jsonschema.
"""
import copy
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is missing")
    sys.exit(77)

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "schemas")


def path_of(name):
    return os.path.join(SCHEMAS, f"{name}.schema.json")


def schema_files():
    """{name: path} of every file."""
    return {name: path_of(name) for name in sorted(file.removesuffix(".schema.json") for file in os.listdir(SCHEMAS))}


def printed_names(program):
    """The names that the program prints, from the message that lists them."""
    message = subprocess.run([program, "docs", "schema"], capture_output=True, text=True).stderr
    return re.search("one of (.*)", message)[1].replace(" or ", ", ").split(", ")


def schemas():
    """{name: validator} of every file."""
    found = {}
    for name, path in schema_files().items():
        with open(path, encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        found[name] = jsonschema.Draft202012Validator(schema)
    return found


def stale_schemas(program, imgpipe):
    for name in sorted(set(printed_names(program)) ^ set(schema_files())):
        yield f"docs/schemas/{name}.schema.json and imgpipe docs schema {name}: one of them is missing"
    for name, path in schema_files().items():
        with open(path, encoding="utf-8") as file:
            if file.read() != imgpipe("docs", "schema", name):
                yield f"docs/schemas/{name}.schema.json is not what imgpipe docs schema {name} prints: --write"


def write_schemas(program, imgpipe):
    for name in printed_names(program):
        with open(path_of(name), "w", encoding="utf-8") as file:
            file.write(imgpipe("docs", "schema", name))


def digest_of(report):
    """The digest of the options in the report, as docs/presets.md describes it."""
    options = report["options"]
    output = report["output"]
    own = options["format"] or "own"
    written = output["format"] if isinstance(output, dict) else own

    def writes(name):
        return written in (name, "own")

    # hist only counts: its limits change no output.
    steps = ",".join(":".join([step["stage"]] + [f"{key}={value}" for key, value in step["parameters"].items()
                                                 if step["stage"] != "hist"]) for step in options["steps"])
    values = [("stages", steps), ("pages", options["pages"] or ""), ("bands", options["bands"] or ""),
              ("decode-scale", options["decode_scale"]), ("lenient", str(options["lenient"]).lower())]
    if options["decode_scale"] == "1":
        values.remove(("decode-scale", "1"))
    if options["accept"] == "pillow":
        values.append(("accept", "pillow"))
    values += [("orient", str(options["orient"]).lower()), ("codec", options["codec"]), ("format", written)]
    if writes("jpeg") or (writes("webp") and options["webp"] == "lossy"):
        values.append(("quality", options["quality"]))
    if writes("png") or (writes("tiff") and options["tiff_compression"] == "deflate"):
        level = str(options["png_level"])
        values.append(("png-level", level + {"0": " stored", "1": ""}.get(level, " libdeflate")))
    if writes("webp"):
        values += [("webp", options["webp"]), ("webp-level", options["webp_level"])]
    if writes("tiff"):
        values += [("tiff-compression", options["tiff_compression"]), ("tiff-tile", options["tiff_tile"])]
    values.append(("metadata", options["metadata"]))
    return hashlib.sha256("".join(f"{key}={value}\n" for key, value in values).encode()).hexdigest()


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = os.path.abspath(path), folder

    def run(self, *arguments, codes=(0,)):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        run = subprocess.run([self.path, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True,
                             check=False)
        if run.returncode not in codes:
            raise SystemExit(f"schemas: imgpipe {' '.join(arguments)} ended with {run.returncode}: {run.stderr}")
        return run

    def __call__(self, *arguments, codes=(0,)):
        return self.run(*arguments, codes=codes).stdout

    def log(self, *arguments, codes=(0,)):
        """The lines on its stderr, with --log-format json."""
        return self.run(*arguments, "--log-format", "json", codes=codes).stderr.splitlines()

    def file(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()


def make_inputs(imgpipe):
    os.mkdir(os.path.join(imgpipe.folder, "in"))
    for name, more in (("a.png", ["--channels", "4"]), ("b.jpg", []), ("c.png", ["--depth", "16"]),
                       ("d.pgm", []), ("e.tif", [])):
        imgpipe("synth", f"in/{name}", "--pattern", "photo", "--size", "37x23", *more)
    with open(os.path.join(imgpipe.folder, "in", "broken.png"), "w", encoding="utf-8") as file:
        file.write("no image")


def outputs(imgpipe):
    """(schema's name, text) of every kind of output."""
    make_inputs(imgpipe)
    cpu = ("--device", "cpu")
    imgpipe("in/b.jpg", "one.png", *cpu, "--cpu", "--report", "one.json", "--histogram", "counts.json", "--trace",
            "trace.json")
    yield "image", imgpipe.file("one.json")
    yield "histogram", imgpipe.file("counts.json")
    yield "trace", imgpipe.file("trace.json")
    yield "image", imgpipe("in/a.png", "two.jpg", *cpu, "--threads", "1", "--stages", "gray", "--report", "-")
    yield "image", imgpipe("in/a.png", "three.tif", *cpu, "--metadata", "strip", "--tiff-compression", "deflate",
                           "--tiff-tile", "64", "--png-level", "3", "--clip", "2", "--report", "-")
    yield "image", imgpipe("in/a.png", "four.webp", *cpu, "--webp", "lossy", "--quality", "60", "--report", "-")
    imgpipe("in/e.tif", "pages.tif", *cpu, "--pages", "all", "--report", "pages.json")
    yield "pages", imgpipe.file("pages.json")
    imgpipe("in", "out", *cpu, "--report", "all.json", "--report", "all.ndjson", codes=(1,))
    yield "batch", imgpipe.file("all.json")
    yield "batch", imgpipe("in", "out2", *cpu, "--shard", "1/2", "--report", "-", "--overwrite", codes=(0, 1))
    imgpipe("in", "out", *cpu, "--skip-existing", "--report", "more.ndjson", codes=(1,))
    for line in (imgpipe.file("all.ndjson") + imgpipe.file("more.ndjson")).splitlines():
        yield "batch-line", line
    imgpipe("in", "out3", *cpu, "--update", "-q", codes=(1,))
    for line in imgpipe.file("out3/.imgpipe-update.ndjson").splitlines():
        yield "update-line", line
    yield "report", imgpipe("report", "all.ndjson", "more.ndjson", "--json", "-", codes=(1,))
    yield "stats", imgpipe("stats", "in", "--json", "-", "--percentiles", "5,99.9", "--per-image", "each.json",
                           codes=(1,))
    yield "stats-images", imgpipe.file("each.json")
    imgpipe("stats", "in", "-q", "--per-image", "each.ndjson", codes=(1,))
    for line in imgpipe.file("each.ndjson").splitlines():
        yield "stats-line", line
    yield "devices", imgpipe("devices", "--json")
    yield "contract", imgpipe("contract", "--write", "-", "-q")
    yield "info", imgpipe("info", "in", "pages.tif", "--json", "-", codes=(1,))
    yield "diff", imgpipe("diff", "in/a.png", "in/d.pgm", "--json", "-", codes=(5,))
    yield "diff", imgpipe("diff", "one.png", "two.jpg", "--json", "-", codes=(5,))
    yield "image", imgpipe("in/b.jpg", "hashed.png", *cpu, "--hash", "--report", "-")
    imgpipe("in/e.tif", "pages.png", *cpu, "--pages", "all", "--hash", "--report", "hashed.json")
    yield "pages", imgpipe.file("hashed.json")
    imgpipe("in", "out4", *cpu, "--also", "g=gray", "--hash", "--report", "hashed.ndjson", codes=(1,))
    for line in imgpipe.file("hashed.ndjson").splitlines():
        yield "batch-line", line
    yield "bench", imgpipe("bench", "--list", "--format", "json")
    for line in logs(imgpipe):
        yield "log", line


def logs(imgpipe):
    """Log lines of every command: messages about images and without one, and a batch's summary."""
    cpu = ("--device", "cpu")
    yield from imgpipe.log("in", "out3", *cpu, "-v", codes=(1,))
    yield from imgpipe.log("in/broken.png", "x.png", *cpu, codes=(1,))
    yield from imgpipe.log("in/a.png", "x.jpg", *cpu, "-v")
    yield from imgpipe.log("in/a.png", "x.png", "--stages", "blur", codes=(2,))
    yield from imgpipe.log("stats", "in", "-v", codes=(1,))
    yield from imgpipe.log("info", "in", codes=(1,))
    yield from imgpipe.log("report", "all.ndjson", "missing.ndjson", "-v", codes=(1,))
    yield from imgpipe.log("synth", "y.png", "--pattern", "ramp", "--size", "5x5", "-v")
    yield from imgpipe.log("bench", "--stage", "gray", "--size", "64x64", "--device", "reference", "-v")
    yield from imgpipe.log("devices", "-v")


def places(value, path=()):
    """The position of every object, as a path of keys."""
    if isinstance(value, dict):
        yield path
        for key, below in value.items():
            yield from places(below, path + (key,))
    elif isinstance(value, list) and value:
        yield from places(value[0], path + (0,))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def shortened(value):
    """The value with shortened lists, to save time."""
    if isinstance(value, dict):
        return {key: shortened(below) for key, below in value.items()}
    return [shortened(one) for one in value[:3]] if isinstance(value, list) else value


def kind_of(name, value):
    """Outputs of one kind have the same status or event, and nulls at the same keys."""
    return name, value.get("status"), value.get("event"), *(key for key in value if value[key] is None)


def changed(value, path, change):
    copied = copy.deepcopy(value)
    change(at(copied, path))
    return copied


def unnoticed(validator, value):
    """The changes that the schema does not reject. Where keys are names, any of them may be removed."""
    for path in places(value):
        one_more = changed(value, path, lambda place: place.update({"no such key": [[[]]]}))
        if validator.is_valid(one_more):
            yield f"a key too many in {path}"
        names_of_things = any(validator.is_valid(changed(value, path, lambda place, other=other: place.update(other)))
                              for other in ({"no such key": "text"}, {"no such key": 1}, {"no such key": [1]},
                                            {"no such key": []})) or path[-1:] == ("channels",)
        for key in at(value, path):
            if not names_of_things and validator.is_valid(changed(value, path, lambda place, key=key: place.pop(key))):
                yield f"{path} without {key}"
            if validator.is_valid(changed(value, path, lambda place, key=key: place.update({key: [[[]]]}))):
                yield f"{path}: {key} of another type"


def check(imgpipe_path):
    complaints, kinds, validators = [], set(), schemas()
    with tempfile.TemporaryDirectory() as folder:
        imgpipe = Program(imgpipe_path, folder)
        complaints += stale_schemas(imgpipe_path, imgpipe)
        for name, text in outputs(imgpipe):
            value = json.loads(text)
            if "options" in value and digest_of(value) != value["options_digest"]:
                complaints.append(f"{name}: its options are not those of its digest")
            errors = list(validators[name].iter_errors(value))
            complaints += [f"{name}: {list(error.absolute_path)}: {error.message[:300]}" for error in errors]
            if not errors and kind_of(name, value) not in kinds:
                complaints += [f"{name}: the schema does not notice: {change}" for change in
                               unnoticed(validators[name], shortened(value))]
            if value.get("schema") != f"imgpipe/{name}/1":
                complaints.append(f"{name}: says that it is {value.get('schema')}")
            kinds.add(kind_of(name, value))
    seen = {name for name, *_ in kinds}
    complaints += [f"{name}: no output is held against it" for name in validators if name not in seen]
    return complaints


def main():
    if sys.argv[2:] == ["--write"]:
        write_schemas(sys.argv[1], Program(sys.argv[1], "."))
        return 0
    complaints = check(sys.argv[1])
    for complaint in complaints:
        print("schemas: " + complaint)
    print(f"schemas: {'wrong' if complaints else 'every output is as its schema says'}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
