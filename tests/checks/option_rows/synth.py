"""imgpipe synth."""
from . import verbosity
from .row import Row

CALL = "imgpipe synth o.png --size 32x16"

ROWS = [
    Row("--pattern", f"{CALL} --pattern constant:77", "every sample is 77",
        lambda r: {(channel["min"], channel["max"]) for channel in
                   r.run("imgpipe stats o.png --json - -q").json()["groups"][0]["channels"].values()} == {(77, 77)}),
    Row("--size", "imgpipe synth o.png --pattern ramp --size 37x11", "37x11 pixels",
        lambda r: (r.info("o.png")["width_pixels"], r.info("o.png")["height_pixels"]) == (37, 11)),
    Row("--channels", f"{CALL} --pattern noise --channels 2", "grey with alpha",
        lambda r: r.info("o.png")["channels"] == 2 and r.info("o.png")["alpha"]),
    Row("--depth", f"{CALL} --pattern noise --depth 16", "16 bits per sample",
        lambda r: r.info("o.png")["bits_per_sample"] == 16),
    Row("--seed", f"{CALL} --pattern noise --seed 2", "different bytes from seed 1",
        lambda r: r.same("o.png", f"{CALL} --pattern noise --seed 2") and
        not r.same("o.png", f"{CALL} --pattern noise --seed 1")),
    Row("-o --output", "imgpipe synth {} o.png --pattern ramp --size 9x9", "writes `o.png`",
        lambda r: r.info("o.png")["width_pixels"] == 9),
    Row("--format", "imgpipe synth o --pattern ramp --size 9x9 --format bmp", "`o` is a BMP",
        lambda r: r.info("o")["format"] == "bmp"),
    Row("--quality", "imgpipe synth o.jpg --pattern photo --size 96x64 --quality 20",
        "less than half as large as with 95",
        lambda r: 2 * r.size("o.jpg") <
        (r.run("imgpipe synth p.jpg --pattern photo --size 96x64 --quality 95"), r.size("p.jpg"))[1]),
    Row("--png-level", "imgpipe synth o.png --pattern photo --size 96x64 --png-level 9", "smaller than with 0",
        lambda r: r.size("o.png") <
        (r.run("imgpipe synth p.png --pattern photo --size 96x64 --png-level 0"), r.size("p.png"))[1]),
    Row("--webp", "imgpipe synth o.webp --pattern photo --size 96x64 --webp lossy", "a lossy WebP",
        lambda r: "lossy" in r.info("o.webp")["compression"]),
    Row("--webp-level", "imgpipe synth o.webp --pattern photo --size 96x64 --webp-level 9", "not larger than with 0",
        lambda r: r.size("o.webp") <=
        (r.run("imgpipe synth p.webp --pattern photo --size 96x64 --webp-level 0"), r.size("p.webp"))[1] and
        r.bytes("o.webp") != r.bytes("p.webp")),
    Row("--tiff-compression", "imgpipe synth o.tif --pattern photo --size 96x64 --tiff-compression zstd",
        "compressed with Zstandard", lambda r: r.info("o.tif")["compression"].startswith("Zstandard")),
    Row("--tiff-tile", "imgpipe synth o.tif --pattern photo --size 96x64 --tiff-tile 32",
        "`info` reports tiles of 32x32", lambda r: "32x32" in r.info("o.tif")["layout"]),
    Row("--overwrite", "imgpipe synth foreign.png --pattern ramp --size 9x9 --overwrite",
        "replaced; without it, exit 2",
        lambda r: r.info("foreign.png")["width_pixels"] == 9 and
        r.run("rm foreign.png; echo x >foreign.png; imgpipe synth foreign.png --pattern ramp --size 9x9").code == 2 and
        r.text("foreign.png") == "x\n"),
    Row("--no-clobber", "imgpipe synth a.png --pattern ramp --size 9x9 --no-clobber", "exit 2; `a.png` is unchanged",
        lambda r: r.info("a.png")["width_pixels"] == 64, code=2),
] + verbosity.rows("synth", "o.png --pattern ramp --size 9x9", "", "wrote ", "no/o.png --pattern ramp --size 9x9")
