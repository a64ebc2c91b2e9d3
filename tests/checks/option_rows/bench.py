"""imgpipe bench."""
import re

from . import verbosity
from .row import Row

CALL = "imgpipe bench $small"


def column(outcome, name):
    """The values of a column, from every row of every table."""
    return [row[name] for table in outcome.json()["tables"] for row in table["rows"]]


def has_nvcc(outcome):
    return outcome.run("imgpipe --version | grep -q '^cuda: *[0-9]' && "
                       "{ command -v nvcc || test -x /usr/local/cuda/bin/nvcc; }").code == 0


ROWS = [
    Row("--stage", f"{CALL} --stage gray", "only rows of `gray`", lambda r: set(column(r, "stage")) == {"gray"}),
    Row("--variant", f"{CALL} --stage hist --variant cpu-bins", "that variant, and those it is compared with",
        lambda r: "cpu-bins" in column(r, "variant") and "cpu-private" not in column(r, "variant")),
    Row("--study", "imgpipe bench --study pipeline --size 64x64 --repeat 1", "a row per stage, with `identical`",
        lambda r: "the four stages, photo 64x64" in r.out and r.out.count("identical") >= 4),
    Row("--list", "imgpipe bench --list --stage gray", "ideas and origins, without times",
        lambda r: "one thread, pixel by pixel" in r.out and "median us" not in r.out),
    Row("--pattern", f"{CALL} --stage gray --pattern ramp", "the input is `ramp 64x64`",
        lambda r: set(column(r, "input")) == {"ramp 64x64"}),
    Row("--size", "imgpipe bench --device cpu --stage gray --repeat 1 --size 40x30", "the input is `photo 40x30`",
        lambda r: "photo 40x30" in r.out),
    Row("--input", "imgpipe bench --device cpu --stage gray --repeat 1 --input a.png", "the input is `a.png`",
        lambda r: "a.png" in r.out),
    Row("--group", "imgpipe bench --device cpu --stage png --size 64x64 --repeat 1 --group 3", "3 images at once",
        lambda r: "3 x photo 64x64" in r.out),
    Row("--max-pixels", "imgpipe bench --device cpu --stage gray --input a.png --max-pixels 99", "`a.png` is refused",
        lambda r: "a.png" in r.err and "--max-pixels" in r.err, code=1),
    Row("-d --device", "imgpipe bench $small --stage gray {} reference",
        "only the sequential variant", lambda r: column(r, "device") == ["reference"]),
    Row("--threads", f"{CALL} --stage gray --threads 1", "`1 thread`",
        lambda r: set(column(r, "grid")) == {"1 thread"} and r.json()["threads"] == 1),
    Row("--block", "imgpipe bench --list --block 33", "refused: not a multiple of 32",
        lambda r: "--block: must be a multiple of 32, got 33" in r.err, code=2),
    Row("--block --blocks", "imgpipe bench --stage hist -d cuda --block 64 --blocks 7",
        "a grid of 64 x 7", cuda=True,
        check=lambda r: re.search(r"\b64 x 7\b", r.out)),
    Row("--blocks", "imgpipe bench --list --blocks -1", "refused: not a number of blocks",
        lambda r: "--blocks" in r.err, code=2),
    Row("--repeat", "imgpipe bench --device cpu --stage gray --size 64x64 --repeat 3 --format json",
        "3 runs each",
        lambda r: set(column(r, "runs")) == {3}),
    Row("--format", "imgpipe bench --device cpu --stage gray --size 64x64 --repeat 1 --format csv",
        "one line per variant",
        lambda r: r.out.splitlines()[0].startswith("stage,") and len(r.out.splitlines()) == 3),
    Row("--json", f"{CALL} --stage gray --json o.json", "the tables as JSON",
        lambda r: r.json("o.json")["tables"][0]["rows"]),
    Row("--plot", f"{CALL} --stage gray --plot o.svg", "a plot with its title",
        lambda r: r.text("o.svg").startswith("<svg") and "gray" in r.text("o.svg")),
    Row("--html", f"{CALL} --stage gray --html o.html", "a page with the code of the variants",
        lambda r: "</html>" in r.text("o.html") and "sequential" in r.text("o.html")),
    Row("--overwrite", f"{CALL} --stage gray --plot foreign.svg --overwrite", "replaced; without it, exit 2",
        lambda r: r.text("foreign.svg").startswith("<svg") and
        r.run(f"echo x >o.svg; {CALL} --stage gray --plot o.svg").code == 2 and r.text("o.svg") == "x\n"),
    Row("--no-clobber", f"{CALL} --stage gray --plot mine.svg --no-clobber", "exit 2, though imgpipe wrote it",
        lambda r: "mine.svg" in r.err, code=2),
    Row("--template", "imgpipe bench --template hist", "a file with a kernel, to start from",
        lambda r: "IMGPIPE_HIST(" in r.out and "__global__" in r.out),
    Row("--with", "imgpipe bench --list --with ./my.cu", "`mine` is in the list; without nvcc, exit 3", code=None,
        check=lambda r: r.code == 0 and "mine" in r.out if has_nvcc(r) else r.code == 3),
    Row("--nvcc-flags", "imgpipe bench --list --with ./my.cu --nvcc-flags '-std=no'",
        "nvcc's error; without nvcc, exit 3",
        lambda r: r.code == 1 and "std" in r.err if has_nvcc(r) else r.code == 3, code=None),
    Row("--time-limit", "imgpipe bench --list --time-limit -1", "refused: not a number of seconds",
        lambda r: "--time-limit" in r.err, code=2),
    Row("--time-limit", "imgpipe bench --variant mine --with ./endless.cu --time-limit 3", "ended after 3 s",
        lambda r: r.code == 1 and "still running after 3 s" in r.err if has_nvcc(r) else r.code == 3,
        code=None, cuda=True),
] + verbosity.rows("bench", "--stage gray --size 64x64 -d cpu", "", "gray sequential: exact",
              "-d cpu --input cut.jpg")
