"""imgpipe devices."""
from . import verbosity
from .row import Row

ROWS = [
    Row("--json", "imgpipe devices --json", "processor, memory and devices as JSON",
        lambda r: r.json()["schema"] == "imgpipe/devices/1" and r.json()["cpu"]["threads"] >= 1),
    Row("--overwrite", "imgpipe devices --json foreign.json --overwrite", "replaced; without it, exit 2",
        lambda r: r.json("foreign.json")["schema"] == "imgpipe/devices/1" and
        r.run("echo x >o.json; imgpipe devices --json o.json").code == 2),
    Row("--no-clobber", "imgpipe devices --json mine.json --no-clobber", "exit 2, though imgpipe wrote it",
        lambda r: "mine.json" in r.err, code=2),
    Row("--calibrate", "imgpipe devices --calibrate", "exit 3: no device to compare with",
        lambda r: "--calibrate: needs a CUDA device" in r.err, code=3, cuda=False),
    Row("--calibrate", "imgpipe devices --calibrate", "the measurements are stored", cuda=True,
        check=lambda r: "measured on this machine" in r.out and r.there("cache/imgpipe/calibration.json")),
] + verbosity.rows("devices", "", "", "memory limit of ", "extra")
