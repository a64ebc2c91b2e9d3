"""imgpipe INPUT... OUTPUT: batches."""
from .row import Row

TREE = ["a.png", "b.jpg", "sub/c.png"]

ROWS = [
    Row("-r --recursive", "imgpipe in out/ {}", "three outputs, in the inputs' tree; without it, two",
        lambda r: r.files("out") == TREE and r.run("imgpipe in two/").code == 0 and r.files("two") == TREE[:2]),
    Row("--include", "imgpipe in out/ -r --include '*.jpg'", "`out` holds only `b.jpg`",
        lambda r: r.files("out") == ["b.jpg"]),
    Row("--exclude", "imgpipe in out/ -r --exclude sub", "all except the directory `sub`",
        lambda r: r.files("out") == TREE[:2]),
    Row("--files-from", "printf 'sub/c.png\\nb.jpg\\n' | imgpipe in out/ -r --files-from -", "the two listed files",
        lambda r: r.files("out") == TREE[1:]),
    Row("-j --jobs", "imgpipe in out/ -r {} 1 --report o.json", "one image at a time",
        lambda r: r.json("o.json")["jobs"] == 1 and "; 1 at a time, using" in r.out),
    Row("--memory", "imgpipe in out/ -r --memory 256M --report o.json", "the budget for images is at most 256 MiB",
        lambda r: 0 < r.json("o.json")["memory_bytes"] <= 256 << 20 and r.files("out") == TREE),
    Row("--skip-existing", "imgpipe in out/ -q && imgpipe in out/ -r --skip-existing", "1 done, 2 skipped",
        lambda r: r.out.startswith("3 images: 1 done, 2 skipped, 0 failed")),
    Row("--fail-fast", "imgpipe mixed out/ --fail-fast", "the table reports the early stop",
        lambda r: "stopped early: an image failed (--fail-fast)" in r.out, code=1),
    Row("--failed-out", "imgpipe mixed out/ --failed-out failed.txt", "`failed.txt` names only `cut.jpg`",
        lambda r: r.text("failed.txt") == "cut.jpg\n", code=1),
    Row("--shard", "imgpipe in out/ -r --shard 1/2 -q && imgpipe in out/ -r --shard 2/2 --overwrite",
        "all outputs",
        lambda r: "shard 1 of 2" in r.err and "shard 2 of 2" in r.err and r.files("out") == TREE),
    Row("--balance", "imgpipe in out/ -r --shard 1/3 --balance count", "one of three files",
        lambda r: len(r.files("out")) == 1),
    Row("-n --dry-run", "imgpipe in out/ -r {}", "names every input and output, and writes nothing",
        lambda r: "in/sub/c.png -> out/sub/c.png\n" in r.out and "3 to do" in r.out and not r.there("out")),
]
