"""imgpipe report."""
from . import verbosity
from .row import Row

ROWS = [
    Row("--json", "imgpipe report runs/1.ndjson runs/2.ndjson --json o.json",
        "3 images, of which `cut.jpg` failed",
        lambda r: (r.json("o.json")["images"], r.json("o.json")["done"]) == (3, 2) and
        r.json("o.json")["failures"][0]["input"] == "mixed/cut.jpg", code=1),
    Row("--overwrite", "imgpipe report done.ndjson --json foreign.json --overwrite", "replaced; without it, exit 2",
        lambda r: r.json("foreign.json")["schema"] == "imgpipe/report/1" and
        r.run("echo x >o.json; imgpipe report done.ndjson --json o.json").code == 2),
    Row("--no-clobber", "imgpipe report done.ndjson --json mine.json --no-clobber", "exit 2, though imgpipe wrote it",
        lambda r: "mine.json" in r.err, code=2),
] + verbosity.rows("report", "done.ndjson", "", "done.ndjson: 2 images so far", "none.ndjson")
