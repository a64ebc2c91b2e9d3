"""imgpipe info."""
from . import verbosity
from .row import Row


def inputs_of(outcome):
    return [image["input"] for image in outcome.json()["images"]]


TREE = ["in/a.png", "in/b.jpg", "in/sub/c.png"]

ROWS = [
    Row("--json", "imgpipe info a.png --json o.json", "format, size and more as JSON",
        lambda r: r.json("o.json")["images"][0]["format"] == "png" and
        r.json("o.json")["images"][0]["width_pixels"] == 64),
    Row("--json", "imgpipe info --json a.png", "without FILE, JSON on stdout",
        lambda r: r.json()["images"][0]["format"] == "png" and r.err.startswith("file:")),
    Row("--overwrite", "imgpipe info a.png --json foreign.json --overwrite", "replaced; without it, exit 2",
        lambda r: r.json("foreign.json")["schema"] == "imgpipe/info/1" and
        r.run("echo x >o.json; imgpipe info a.png --json o.json").code == 2),
    Row("--no-clobber", "imgpipe info a.png --json mine.json --no-clobber", "exit 2, though imgpipe wrote it",
        lambda r: "mine.json" in r.err, code=2),
    Row("-r --recursive", "imgpipe info in {} --json -", "three images, including `in/sub`",
        lambda r: inputs_of(r) == TREE),
    Row("--accept", "imgpipe info a.png --accept pillow --json -", "its properties, read by Pillow's rules",
        lambda r: r.json()["images"][0]["width_pixels"] == 64),
    Row("--lenient", "imgpipe info cut.jpg --lenient", "its properties; the headers are complete",
        lambda r: "96x64 pixels" in r.out),
    Row("--no-orient", "imgpipe info turned.jpg --no-orient --json -", "96x64, as stored; without it, 64x96",
        lambda r: r.json()["images"][0]["width_pixels"] == 96 and r.info("turned.jpg")["width_pixels"] == 64),
    Row("--include", "imgpipe info in -r --include '*.jpg' --json -", "only `b.jpg`",
        lambda r: inputs_of(r) == TREE[1:2]),
    Row("--exclude", "imgpipe info in -r --exclude sub --json -", "all except the directory `sub`",
        lambda r: inputs_of(r) == TREE[:2]),
    Row("--files-from", "echo sub/c.png | imgpipe info in --files-from - --json -", "the one listed file",
        lambda r: inputs_of(r) == TREE[2:]),
] + verbosity.rows("info", "in", "", "skipped files: 1 other", "foreign.png")
