"""imgpipe stats."""
import json

from . import verbosity
from .row import Row


def inputs_of(outcome, name="o.ndjson"):
    """The inputs that were counted, from --per-image o.ndjson."""
    return sorted(line["input"] for line in map(json.loads, outcome.lines(name)) if line["status"] == "counted")


TREE = ["in/a.png", "in/b.jpg", "in/sub/c.png"]
EACH = "-q --per-image o.ndjson"

ROWS = [
    Row("--stages", "imgpipe stats a.png --stages gray --json -", "one channel instead of three",
        lambda r: len(r.json()["groups"][0]["channels"]) == 1),
    Row("--percentiles", "imgpipe stats a.png --percentiles 10,90", "only columns 10 and 90",
        lambda r: any(line.split() == ["percent", "10", "90"] for line in r.out.splitlines())),
    Row("--json", "imgpipe stats in --json o.json", "all statistics, with the histograms",
        lambda r: r.json("o.json")["schema"] == "imgpipe/stats/1" and r.json("o.json")["histograms"]),
    Row("--per-image", "imgpipe stats in --per-image o.csv", "one line for each of the two images",
        lambda r: "in/a.png" in r.text("o.csv") and "in/b.jpg" in r.text("o.csv")),
    Row("--range", "imgpipe stats a.png --stages depth:float --range 0:1 --json -",
        "histograms of 256 bins",
        lambda r: all(len(c["histogram"]["counts"]) == 256 and sum(c["histogram"]["counts"]) == 3072
                      for c in r.json()["float_groups"][0]["channels"].values())),
    Row("--bins", "imgpipe stats a.png --stages depth:float --range 2:3 --bins 4 --json -",
        "4 empty bins: all are below",
        lambda r: all(c["histogram"]["counts"] == [0] * 4 and c["histogram"]["below"] == 3072
                      for c in r.json()["float_groups"][0]["channels"].values())),
    Row("--overwrite", "imgpipe stats in --json foreign.json --overwrite", "replaced; without it, exit 2",
        lambda r: r.json("foreign.json")["schema"] == "imgpipe/stats/1" and
        r.run("echo x >o.json; imgpipe stats in --json o.json").code == 2),
    Row("--no-clobber", "imgpipe stats in --json mine.json --no-clobber", "exit 2, though imgpipe wrote it",
        lambda r: "mine.json" in r.err, code=2),
    Row("-r --recursive", f"imgpipe stats in {{}} {EACH}", "three images, including `in/sub`",
        lambda r: inputs_of(r) == TREE),
    Row("--threads", "imgpipe stats in --threads 1 --json -", "the same statistics with one thread",
        lambda r: r.out == r.run("imgpipe stats in --threads 2 --json - -q").out),
    Row("--pages", "imgpipe stats stack.tif --pages 2-3 --json -", "pages of value 100 and 150",
        lambda r: [(c["min"], c["max"]) for c in r.json()["groups"][0]["channels"].values()] == [(100, 150)]),
    Row("--bands", "imgpipe stats bands.tif --bands 4 --json -", "one channel, of value 200",
        lambda r: [(c["min"], c["max"]) for c in r.json()["groups"][0]["channels"].values()] == [(200, 200)]),
    Row("--integers", "imgpipe stats signed.npy --integers range --json -", "one channel, of value 32766",
        lambda r: [(c["min"], c["max"]) for c in r.json()["groups"][0]["channels"].values()] == [(32766, 32766)]),
    Row("--max-pixels", "imgpipe stats a.png --max-pixels 3071", "refused: 64x48 are 3072 pixels",
        lambda r: "--max-pixels" in r.err, code=1),
    Row("--accept", "head -c -12 a.png >u.png; imgpipe stats u.png --accept pillow",
        "counted; strict: exit 1",
        lambda r: "1 counted" in r.out and "damaged" in r.err and r.run("imgpipe stats u.png").code == 1),
    Row("--lenient", "imgpipe stats cut.jpg --lenient", "counted, with a warning; without it, exit 1",
        lambda r: "1 counted" in r.out and "damaged" in r.err and r.run("imgpipe stats cut.jpg").code == 1),
    Row("--no-orient", f"imgpipe stats turned.jpg --no-orient {EACH}", "96 pixels wide; without it, 64",
        lambda r: '"width_pixels":96' in r.text("o.ndjson").replace(": ", ":") and
        r.run(f"imgpipe stats turned.jpg {EACH}").code == 0 and
        '"width_pixels":64' in r.text("o.ndjson").replace(": ", ":")),
    Row("--codec", "imgpipe stats b.jpg --codec turbo --json -", "the same statistics with only libjpeg-turbo",
        lambda r: r.out == r.run("imgpipe stats b.jpg --json - -q").out),
    Row("--include", f"imgpipe stats in -r --include '*.jpg' {EACH}", "only `b.jpg`",
        lambda r: inputs_of(r) == TREE[1:2]),
    Row("--exclude", f"imgpipe stats in -r --exclude sub {EACH}", "all except the directory `sub`",
        lambda r: inputs_of(r) == TREE[:2]),
    Row("--files-from", f"echo sub/c.png | imgpipe stats in --files-from - {EACH}", "the one listed file",
        lambda r: inputs_of(r) == TREE[2:]),
    Row("-j --jobs", "imgpipe stats in -r {} 1 --json -", "the same statistics one image at a time",
        lambda r: r.out == r.run("imgpipe stats in -r --jobs 3 --json - -q").out),
    Row("--memory", "imgpipe stats in -r --memory 256M --json -", "the same statistics within 256 MiB; 1K is refused",
        lambda r: r.out == r.run("imgpipe stats in -r --json - -q").out and
        r.run("imgpipe stats in --memory 1K").code == 2),
    Row("--fail-fast", "imgpipe stats mixed --include 'c*' --fail-fast", "the table states why it ended",
        lambda r: "stopped early: an image failed (--fail-fast)" in r.out, code=1),
    Row("--shard", "imgpipe stats in -r --shard 1/2", "stderr states the shard",
        lambda r: "shard 1 of 2" in r.err),
    Row("--balance", "imgpipe stats in -r --shard 1/3 --balance count", "one of three images",
        lambda r: r.out.startswith("1 image: 1 counted")),
    Row("-n --dry-run", "imgpipe stats in -r {}", "names the inputs that would be counted",
        lambda r: r.out == "\n".join(TREE) + "\n3 to count\n"),
] + verbosity.rows("stats", "in", "", "skipped files: 1 other", "cut.jpg")
