"""imgpipe INPUT OUTPUT: how inputs are read and outputs written."""
from .row import Row

ROWS = [
    # Input
    Row("--pages", "imgpipe stack.tif o.tif --pages 2-3", "`o.tif` holds two pages",
        lambda r: r.info("o.tif")["images"] == 2),
    Row("--bands", "imgpipe bands.tif o.pgm --bands 4 --stages hist",
        "the fourth band, of value 200; without it, exit 1",
        lambda r: r.bytes("o.pgm").endswith(bytes([200]) * 108) and
        "--bands 1,2,3" in r.run("imgpipe bands.tif p.ppm").err and not r.there("p.ppm")),
    Row("--bands", "imgpipe bands.tif o.ppm --bands color --stages hist", "red, green and blue, without the fourth",
        lambda r: r.bytes("o.ppm").endswith(bytes([50, 100, 150]) * 108)),
    Row("--bands", "imgpipe bands.tif o.tif --bands all --stages invert", "four inverted bands; refused for `o.png`",
        lambda r: r.info("o.tif")["stored_channels"] == 4 and
        r.run("imgpipe o.tif b.pgm --bands 4 --stages none").code == 0 and
        r.bytes("b.pgm").endswith(bytes([55]) * 108) and
        r.run("imgpipe bands.tif o.png --bands all").code == 2 and not r.there("o.png")),
    Row("--integers", "imgpipe signed.npy o.pgm --integers range", "-2 becomes 32766; without it, exit 1",
        lambda r: r.bytes("o.pgm").endswith(bytes([127, 254]) * 108) and
        "--integers value, unit or range" in r.run("imgpipe signed.npy p.pgm").err and not r.there("p.pgm")),
    Row("--integers", "imgpipe signed.npy o.pfm --integers value --stages none", "floats of the value -2",
        lambda r: r.bytes("o.pfm").endswith(bytes([0, 0, 0, 192]) * 108)),
    Row("--decode-scale", "imgpipe b.jpg o.png --decode-scale 2 --stages none", "48x32 of 96x64; refused for `a.png`",
        lambda r: r.info("o.png")["width_pixels"] == 48 and "decoded at 48x32 (1/2 of 96x64)" in r.err and
        r.run("imgpipe a.png p.png --decode-scale 2").code == 1 and not r.there("p.png")),
    Row("--decode-scale", "imgpipe b.jpg o.png --decode-scale auto --stages resize:20x16", "decoded at 1/4: 24x16",
        lambda r: "decoded at 24x16 (1/4 of 96x64)" in r.err and r.info("o.png")["width_pixels"] == 20),
    Row("--max-pixels", "imgpipe a.png o.png --max-pixels 3071", "refused: 64x48 are 3072 pixels",
        lambda r: "--max-pixels" in r.err and not r.there("o.png"), code=1),
    Row("--accept", "head -c -12 a.png >u.png; imgpipe u.png o.png --accept pillow",
        "written; strict: no output",
        lambda r: "warning: u.png: damaged PNG" in r.err and r.info("o.png")["width_pixels"] == 64 and
        r.run("imgpipe u.png p.png").code == 1 and not r.there("p.png")),
    Row("--accept", "imgpipe cut.jpg o.png --accept lenient", "the same as with `--lenient`",
        lambda r: r.same("o.png", "imgpipe cut.jpg o.png --lenient")),
    Row("--lenient", "imgpipe cut.jpg o.png --lenient", "written with a warning; without it, exit 1 and no output",
        lambda r: "warning: cut.jpg: damaged JPEG" in r.err and r.info("o.png")["width_pixels"] == 96 and
        r.run("imgpipe cut.jpg p.png").code == 1 and not r.there("p.png")),
    Row("--no-orient", "imgpipe turned.jpg o.png --no-orient", "96x64, as stored; without it, 64x96",
        lambda r: r.info("o.png")["stored_width_pixels"] == 96 and r.run("imgpipe turned.jpg p.png").code == 0 and
        r.info("p.png")["stored_width_pixels"] == 64),
    Row("--codec", "imgpipe b.jpg o.pgm --codec turbo", "removes the row `decode (parallel)`; the same bytes",
        lambda r: "decode (parallel)" not in r.out and "decode (parallel)" in r.run("imgpipe b.jpg p.pgm").out and
        r.same("o.pgm", "imgpipe b.jpg o.pgm")),
    Row("--codec", "imgpipe b.jpg o.pgm --codec stb", "decoded by stb_image; the bytes differ from libjpeg-turbo's",
        lambda r: not r.same("o.pgm", "imgpipe b.jpg o.pgm --codec turbo")),
    # Output
    Row("-o --output", "imgpipe {} o.png a.png", "`o.png`, the same as from `imgpipe a.png o.png`",
        lambda r: r.same("o.png", "imgpipe a.png o.png")),
    Row("--format", "imgpipe a.png o --format webp", "`o` is a WebP", lambda r: r.info("o")["format"] == "webp"),
    Row("--quality", "imgpipe b.jpg o.jpg --quality 20", "less than half as large as with 95",
        lambda r: 2 * r.size("o.jpg") < (r.run("imgpipe b.jpg p.jpg --quality 95"), r.size("p.jpg"))[1]),
    Row("--png-level", "imgpipe b.jpg o.png --png-level 9", "smaller than with 0, the same pixels",
        lambda r: r.size("o.png") < (r.run("imgpipe b.jpg p.png --png-level 0"), r.size("p.png"))[1] and
        r.run("imgpipe o.png o.pgm --stages hist; imgpipe p.png p.pgm --stages hist; "
              "cmp <(tail -n +3 o.pgm) <(tail -n +3 p.pgm)").code == 0),
    Row("--webp", "imgpipe b.jpg o.webp --webp lossy --quality 20", "less than half as large as lossless",
        lambda r: 2 * r.size("o.webp") < (r.run("imgpipe b.jpg p.webp --webp lossless"), r.size("p.webp"))[1] and
        "lossy" in r.info("o.webp")["compression"] and "lossless" in r.info("p.webp")["compression"]),
    Row("--webp-level", "imgpipe b.jpg o.webp --webp-level 9", "not larger than with 0; different bytes",
        lambda r: r.size("o.webp") <= (r.run("imgpipe b.jpg p.webp --webp-level 0"), r.size("p.webp"))[1] and
        r.bytes("o.webp") != r.bytes("p.webp")),
    Row("--tiff-compression", "imgpipe a.png o.tif --tiff-compression lzw", "`imgpipe info` reports LZW",
        lambda r: r.info("o.tif")["compression"].startswith("LZW")),
    Row("--tiff-tile", "imgpipe a.png o.tif --tiff-tile 16", "`imgpipe info` reports tiles of 16x16",
        lambda r: "16x16" in r.info("o.tif")["layout"]),
    Row("--tensor", "imgpipe b.jpg in/b.jpg {} o.npy --stages normalize:clip", "one array with a row for each image",
        lambda r: b"'shape': (2, 3, 64, 96)" in r.bytes("o.npy") and
        r.text("o.npy.names.txt") == "b.jpg\nin/b.jpg\n"),
    Row("--overwrite", "imgpipe a.png foreign.png --overwrite", "replaced; without it, exit 2 and no change",
        lambda r: r.info("foreign.png")["format"] == "png" and
        r.run("rm foreign.png; echo x >foreign.png; imgpipe a.png foreign.png").code == 2 and
        r.text("foreign.png") == "x\n"),
    Row("--no-clobber", "imgpipe b.jpg a.png --no-clobber", "exit 2; `a.png` is unchanged, though imgpipe wrote it",
        lambda r: "a.png" in r.err and r.info("a.png")["width_pixels"] == 64, code=2),
    Row("--name", "imgpipe in out/ -r --name '{dir}/{n:02}_{stem}.{ext}'", "numbered outputs, in the inputs' tree",
        lambda r: r.files("out") == ["01_a.png", "02_b.jpg", "sub/03_c.png"]),
    Row("--update", "imgpipe in out/ -q --update && touch in/b.jpg && imgpipe in out/ --update",
        "1 done, 1 up to date", lambda r: r.out.startswith("2 images: 1 done, 1 up to date, 0 failed")),
    Row("--preset", "imgpipe a.png o.pgm --preset p.toml", "the same bytes as with `--stages gray,invert`",
        lambda r: r.same("o.pgm", "imgpipe a.png o.pgm --stages gray,invert") and
        not r.same("o.pgm", "imgpipe a.png o.pgm --stages gray")),
    Row("--write-preset", "imgpipe --quality 85 --write-preset -", "`quality = 85` on stdout; needs no image",
        lambda r: "\nquality = 85\n" in r.out),
    Row("--sync", "imgpipe a.png o.png --sync no", "the same bytes as with `yes`",
        lambda r: r.same("o.png", "imgpipe a.png o.png --sync yes")),
    Row("--metadata", "imgpipe turned.jpg o.jpg --metadata strip", "no metadata; with `keep`, Exif",
        lambda r: r.info("o.jpg")["metadata"] == [] and r.run("imgpipe turned.jpg p.jpg --metadata keep").code == 0 and
        r.info("p.jpg")["metadata"] != []),
]
