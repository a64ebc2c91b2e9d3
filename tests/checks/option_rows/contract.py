"""imgpipe contract."""
from . import verbosity
from .row import Row

EQUAL = "contract 1: all 20 results on {} are equal\n"

ROWS = [
    Row("--check", "imgpipe contract --check few.json", "every result is equal",
        lambda r: r.out.startswith("contract 1: all 20 results on cpu (")),
    Row("--check", "sed s/7eb2/7eb3/ few.json >wrong.json; imgpipe contract --check wrong.json",
        "the row that differs", lambda r: "smooth, u8, 20 images: cpu and reference give 7eb2" in r.err, code=5),
    Row("-d --device", "imgpipe contract --check few.json {} reference", "on the sequential reference",
        lambda r: r.out == EQUAL.format("reference")),
    Row("--write", "imgpipe contract --write digests.json", "digests of some 16,000 results as JSON",
        lambda r: r.json("digests.json")["schema"] == "imgpipe/contract/1" and
        r.json("digests.json")["results"] > 16000),
    Row("--cases", "imgpipe contract --cases -", "a line for each result",
        lambda r: "\nu8 8 smooth: 17x5x1 u8 " in r.out and len(r.out.splitlines()) > 16000),
    Row("--overwrite", "imgpipe contract --write foreign.json --overwrite", "replaced; without it, exit 2",
        lambda r: r.json("foreign.json")["schema"] == "imgpipe/contract/1" and
        r.run("echo x >o.json; imgpipe contract --write o.json").code == 2),
    Row("--no-clobber", "imgpipe contract --write mine.json --no-clobber", "exit 2, though imgpipe wrote it",
        lambda r: "mine.json" in r.err, code=2),
] + verbosity.rows("contract", "--check few.json", "", "few.json: contract 1, 1 digests", "--check none.json")
