"""imgpipe diff."""
from . import verbosity
from .row import Row


def differs(outcome, line):
    return outcome.run(line).code == 5


ROWS = [
    Row("--json", "imgpipe diff a.png in/a.png --json o.json", "the images are equal",
        lambda r: r.json("o.json")["equal"]),
    Row("--json", "imgpipe diff a.png alpha.png --json", "without FILE, JSON on stdout",
        lambda r: not r.json()["equal"] and "33x21" in r.err, code=5),
    Row("--overwrite", "imgpipe diff a.png a.png --json foreign.json --overwrite", "replaced; without it, exit 2",
        lambda r: r.json("foreign.json")["schema"] == "imgpipe/diff/1" and
        r.run("echo x >o.json; imgpipe diff a.png a.png --json o.json").code == 2),
    Row("--no-clobber", "imgpipe diff a.png a.png --json mine.json --no-clobber", "exit 2, though imgpipe wrote it",
        lambda r: "mine.json" in r.err, code=2),
    Row("--bands", "imgpipe diff bands.tif bands.tif --bands 4", "equal; without it, the file is rejected",
        lambda r: r.run("imgpipe diff bands.tif bands.tif").code == 1),
    Row("--integers", "imgpipe diff signed.npy signed.npy --integers value", "equal; without it, the file is rejected",
        lambda r: r.run("imgpipe diff signed.npy signed.npy").code == 1),
    Row("--max-pixels", "imgpipe diff a.png a.png --max-pixels 100", "exit 1", lambda r: "a.png" in r.err, code=1),
    Row("--accept", "imgpipe diff cut.jpg cut.jpg --accept lenient", "equal; without it, exit 1",
        lambda r: r.run("imgpipe diff cut.jpg cut.jpg").code == 1),
    Row("--lenient", "imgpipe diff cut.jpg cut.jpg --lenient", "the same", lambda r: r.out == "equal\n"),
    Row("--no-orient", "imgpipe diff turned.jpg b.jpg --no-orient", "equal; without it, the sizes differ",
        lambda r: differs(r, "imgpipe diff turned.jpg b.jpg")),
    Row("--codec", "imgpipe diff b.jpg b.jpg --codec turbo", "equal", lambda r: r.out == "equal\n"),
] + verbosity.rows("diff", "a.png a.png", "", "a.png: 64x48 RGB", "a.png none.png")
