"""imgpipe INPUT OUTPUT: stages, devices, comparison and reports."""
from .row import Row


def spans_of_gray(outcome):
    return sum(event["name"] == "gray" for event in outcome.json("o.json")["traceEvents"])


ROWS = [
    # Stages
    Row("--stages", "imgpipe a.png o.png --stages resize:32:24,invert", "`o.png` has 32x24 pixels",
        lambda r: (r.info("o.png")["width_pixels"], r.info("o.png")["height_pixels"]) == (32, 24)),
    Row("--luma", "imgpipe a.png o.pgm --stages gray --luma bt709", "the grey of `gray:bt709`, not of `gray`",
        lambda r: r.same("o.pgm", "imgpipe a.png o.pgm --stages gray:bt709") and
        not r.same("o.pgm", "imgpipe a.png o.pgm --stages gray")),
    Row("--clip", "imgpipe a.png o.ppm --stages contrast --clip 5,2", "the range of `contrast:clip=5:clip-high=2`",
        lambda r: r.same("o.ppm", "imgpipe a.png o.ppm --stages contrast:clip=5:clip-high=2") and
        not r.same("o.ppm", "imgpipe a.png o.ppm --stages contrast")),
    Row("--stretch", "imgpipe a.png o.ppm --stages contrast --stretch each", "three ranges, one for each plane",
        lambda r: len([line for line in r.out.splitlines() if ": lo " in line]) >= 1 and r.out.count("lo ") == 3),
    Row("--window", "imgpipe a.png o.ppm --stages smooth --window gauss", "the weights of `smooth:gauss`",
        lambda r: r.same("o.ppm", "imgpipe a.png o.ppm --stages smooth:gauss") and
        not r.same("o.ppm", "imgpipe a.png o.ppm --stages smooth")),
    Row("--border", "imgpipe a.png o.ppm --stages smooth --border reflect", "the border of `smooth:border=reflect`",
        lambda r: r.same("o.ppm", "imgpipe a.png o.ppm --stages smooth:border=reflect") and
        not r.same("o.ppm", "imgpipe a.png o.ppm --stages smooth")),
    Row("--also", "imgpipe a.png o.ppm --stages none --also g=gray --also s=resize:8x6",
        "two more results",
        lambda r: r.same("o.g.ppm", "imgpipe a.png o.ppm --stages gray") and
        r.same("o.s.ppm", "imgpipe a.png o.ppm --stages resize:8x6")),
    Row("--split", "imgpipe a.png o.pgm --split rgb", "`o.red.pgm`, `o.green.pgm` and `o.blue.pgm`",
        lambda r: not r.there("o.pgm") and
        all(r.same(f"o.{name}.pgm", f"imgpipe a.png o.pgm --stages channel:{name[0]}")
            for name in ("red", "green", "blue"))),
    Row("--merge", "imgpipe a.png c.pgm --split rgb -q && imgpipe --merge c.{red,green,blue}.pgm o.ppm",
        "as `a.png`",
        lambda r: r.bytes("o.ppm")[-64 * 48 * 3:] ==
        (r.run("imgpipe a.png p.ppm --stages none"), r.bytes("p.ppm"))[1][-64 * 48 * 3:]),
    Row("--image", "imgpipe a.png o.pgm --image dark=a.png --stages subtract:dark,gray",
        "black: the image less itself",
        lambda r: set(r.bytes("o.pgm")[-64 * 48:]) == {0}),
    Row("--image-stages",
        "imgpipe a.png o.ppm --image h=a.png --image-stages h=divide:2 --stages min:h", "the half",
        lambda r: r.same("o.ppm", "imgpipe a.png o.ppm --stages divide:2") and
        not r.same("o.ppm", "imgpipe a.png o.ppm --stages none")),
    Row("--stack", "imgpipe stack.tif o.pgm --stack mean", "the mean of the pages of 50, 100 and 150",
        lambda r: set(r.bytes("o.pgm")[-20 * 10:]) == {100} and "stack: mean of 3 images, in one pass" in r.out),
    Row("--then", "imgpipe stack.tif o.pgm --stack max --then invert", "105, the inverse of the largest page",
        lambda r: set(r.bytes("o.pgm")[-20 * 10:]) == {105}),
    Row("--montage --cell", "imgpipe stack.tif o.pgm --montage 2x --cell 20x10 --background black",
        "2x2 cells",
        lambda r: r.bytes("o.pgm")[-40 * 20:] ==
        10 * bytes([50] * 20 + [100] * 20) + 10 * bytes([150] * 20 + [0] * 20)),
    Row("--background", "imgpipe stack.tif o.pgm --montage 2x --cell 20x10 --background gray", "the last cell is grey",
        lambda r: r.bytes("o.pgm")[-20:] == bytes([128]) * 20),
    # Device
    Row("-d --device", "imgpipe a.png o.pgm {} reference", "runs the reference; the same bytes as `cpu`",
        lambda r: "device: reference" in r.out and r.same("o.pgm", "imgpipe a.png o.pgm --device cpu")),
    Row("-d --device", "imgpipe a.png o.pgm {} cuda", "without a device, exit 3 and no output", cuda=False, code=3,
        check=lambda r: "cuda" in r.err.lower() and not r.there("o.pgm")),
    Row("-d --device", "imgpipe a.png o.pgm {} cuda", "runs on CUDA; the same bytes as `cpu`", cuda=True,
        check=lambda r: "device: cuda" in r.out and r.same("o.pgm", "imgpipe a.png o.pgm --device cpu")),
    Row("--fuse", "imgpipe a.png o.pgm --fuse", "rows `gray+hist` and `contrast+smooth`; the same bytes as without",
        lambda r: " gray+hist " in r.out and " contrast+smooth " in r.out and r.same("o.pgm", "imgpipe a.png o.pgm")),
    Row("--threads", "imgpipe a.png o.pgm --device cpu --threads 1", "the report states `1 thread`",
        lambda r: ", 1 thread," in r.out),
    Row("--device-memory", "imgpipe in out/ --device-memory 64M", "refused: not supported in a batch",
        lambda r: "--device-memory: not supported in a batch" in r.err, code=2),
    Row("--device-memory", "imgpipe a.png o.pgm -d cuda --device-memory 64M", "the same bytes as `cpu`", cuda=True,
        check=lambda r: r.same("o.pgm", "imgpipe a.png o.pgm --device cpu")),
    # Comparison and reports
    Row("--compare --cpu", "imgpipe a.png o.png {}", "every stage is `identical`, with the reference's time",
        lambda r: r.out.count("  identical") == 4 and "reference ms" in r.out),
    Row("--report", "imgpipe a.png o.png --report o.json --report o.csv --report o.html", "three reports",
        lambda r: r.json("o.json")["input"]["path"] == "a.png" and r.json("o.json")["output"]["width_pixels"] == 64 and
        "smooth" in r.text("o.csv") and "</html>" in r.text("o.html")),
    Row("--hash", "imgpipe a.png o.png --hash --report o.json", "the hash of `o.png`",
        lambda r: r.json("o.json")["output"]["sha256"] == r.run("sha256sum o.png").out.split()[0]),
    Row("--report", "imgpipe a.png o.png --report -", "JSON on stdout, the table on stderr",
        lambda r: r.json()["schema"] == "imgpipe/image/1" and "kernels + transfers" in r.err),
    Row("--json", "imgpipe a.png o.png --json", "JSON on stdout, like `--report -`",
        lambda r: r.json()["schema"] == "imgpipe/image/1" and "kernels + transfers" in r.err),
    Row("--trace", "imgpipe a.png o.png --trace o.json", "spans of every stage",
        lambda r: {"decode", "gray", "hist", "contrast", "smooth", "encode"} <=
        {event["name"] for event in r.json("o.json")["traceEvents"] if "dur" in event}),
    Row("--repeat", "imgpipe a.png o.png --repeat 3 --trace o.json",
        "a warm-up and 3 runs: 4 times as many spans of `gray`",
        lambda r: spans_of_gray(r) == 4 * (r.run("imgpipe a.png p.png --trace o.json"), spans_of_gray(r))[1] > 0),
    Row("--histogram", "imgpipe a.png o.png --histogram o.csv --stages gray,contrast",
        "256 counts of 3072 pixels",
        lambda r: len(r.lines("o.csv")) == 257 and
        all(sum(int(line.split(",")[column]) for line in r.lines("o.csv")[1:]) == 3072 for column in (1, 2))),
    Row("--keep-stages", "imgpipe a.png o.png --keep-stages kept", "a PNG of each stage",
        lambda r: r.files("kept")[-1].endswith("smooth.png") and
        any(name.endswith("contrast.png") for name in r.files("kept")) and
        r.info("kept/" + r.files("kept")[-1])["color"] == "grey"),
]
