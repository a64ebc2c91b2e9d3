"""imgpipe devices."""
from . import talk
from .row import Row

ROWS = [
    Row("--json", "imgpipe devices --json", "processor, memory and devices as JSON",
        lambda r: r.json()["schema"] == "imgpipe/devices/1" and r.json()["cpu"]["threads"] >= 1),
    Row("--calibrate", "imgpipe devices --calibrate", "exit 3: there is nothing to compare",
        lambda r: "--calibrate compares cpu with cuda" in r.err, code=3, cuda=False),
    Row("--calibrate", "imgpipe devices --calibrate", "what was measured is kept", cuda=True,
        check=lambda r: "measured on this machine" in r.out and r.there("cache/imgpipe/calibration.json")),
] + talk.rows("devices", "", "", "memory by ", "extra")
