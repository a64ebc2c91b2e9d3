"""imgpipe verify."""
from . import verbosity
from .row import Row

ROWS = [
    Row("--base", "mkdir d && cd d && imgpipe verify ../hashed.json --base ..", "2 equal files; without it, exit 1",
        lambda r: "2 equal" in r.out and r.run("cd d && imgpipe verify ../hashed.json").code == 1),
    Row("--threads", "imgpipe verify hashed.json --threads 1 -v", "one thread",
        lambda r: "on 1 thread" in r.err and r.out == "2 files: 2 equal, 0 different, 0 not readable\n"),
] + verbosity.rows("verify", "hashed.json", "", "hashed.json: checking on", "none.json")
