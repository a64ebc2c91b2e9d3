"""The runs of identity.py: combinations of stages, options, formats and devices, and the images."""
import itertools
import pathlib
import random
import shutil

SIZES = ["1x1", "1x2", "2x1", "1x37", "37x1", "2x3", "4x4", "5x5", "17x13", "64x64", "127x65", "4099x7", "3x2053",
         "320x213", "1013x677"]  # not in batches: its reference takes long
CHANNELS = {1: "grey", 2: "grey_alpha", 3: "rgb", 4: "rgba"}
HOLDS = {1: ["png", "pgm", "bmp", "tga", "jpg"], 2: ["png"], 3: ["png", "ppm", "bmp", "tga", "jpg"], 4: ["png", "tga"]}
PATTERNS = ["photo", "noise", "colors:3", "constant:77", "ramp", "checker", "threshold:128", "collision-free"]
STAGES = ["gray", "hist", "contrast", "smooth"]
FORMATS = ["png", "jpg", "pgm", "ppm", "bmp", "tga"]
PARTS = 20  # directories among which the real files are divided
# Options per stage, and their values; None: not given.
OF_STAGE = {
    "gray": [("--luma", [None, "bt709", "opencv"])],
    "contrast": [("--clip", [None, None, "0.5", "1,2.5", "10,20", "49.5,50"]), ("--stretch", [None, "each", "joint"])],
    "smooth": [("--window", [None, "triangle", "gauss"]), ("--border", [None, "replicate", "reflect", "shrink"])],
}
# Options of every run, and of single images: option, values ("" for none), percentage of runs. Mostly -q and no report,
# because measuring the machine's memory for messages takes longer than most of these images.
OF_RUN = [("--fuse", [""], 40), ("--codec", ["stb"], 15), ("--lenient", [""], 20), ("--no-orient", [""], 20),
          ("--threads", ["1", "3"], 50), ("--max-pixels", ["2000", "1000000"], 8), ("-q", [""], 65)]
OF_ONE = [("--keep-stages", ["kept"], 30), ("--histogram", ["h.csv", "h.json", "h.svg"], 30), ("--cpu", [""], 20),
          ("--report", ["r.json", "r.csv"], 25), ("--repeat", ["2"], 10), ("--trace", ["t.json"], 10), ("-v", [""], 10)]
OF_FORMAT = {"png": [("--png-level", ["0", "1", "3", "6"], 50)], "jpg": [("--quality", ["1", "50", "100"], 50)]}
USAGE = ["--stages", "--stages=", "--stages gray,,smooth", "--stages sharpen", "--stages Gray", "--stages split",
         "--stages gray+hist", "--window round", "--border none", "--luma rec2020", "--stretch all", "--clip 60,50",
         "--clip -1", "--clip nan", "--clip 1,2,3", "--clip 100", "--threads -1", "--threads many", "--quality 0",
         "--quality 101", "--png-level 10", "--report r.txt", "--histogram h.txt", "--format avif", "--device gpu",
         "--codec libpng", "--repeat -1", "--max-pixels 0", "--window", "--unknown", "--jobs 2", "--recursive"]


def synthesise(run, folder):
    """Writes the synthetic images; returns their names. `run` calls OLD with the given arguments."""
    names = []
    for index, (size, channels) in enumerate(itertools.product(SIZES, CHANNELS)):
        ending = HOLDS[channels][index // len(CHANNELS) % len(HOLDS[channels])]
        name = f"{CHANNELS[channels]}_{size}.{ending}"
        pattern = PATTERNS[index % len(PATTERNS)] if "x" in size and len(size) < 7 else "photo"
        name = ("large/" if size == SIZES[-1] else "synthetic/") + name
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        run(["synth", str(folder / name), "--pattern", pattern, "--size", size, "--channels", str(channels), "-q"])
        names.append(name)
    return names


def deal(corpus, folder):
    """Copies the real files into PARTS directories under unique names; returns their paths below `folder`."""
    names = []
    files = sorted(path for path in pathlib.Path(corpus).rglob("*") if path.is_file()) if corpus else []
    for index, path in enumerate(path for path in files if path.suffix not in (".md", ".tsv", ".txt")):
        name = f"real{index % PARTS}/{index:03}_{path.name}"
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(path, folder / name)
        names.append(name)
    return names


def stage_lists():
    """None is the default; all lists of one to three stages, each order of four, and longer ones with repeats."""
    short = [list(stages) for length in (1, 2, 3) for stages in itertools.product(STAGES, repeat=length)]
    long = ["smooth,smooth,smooth,smooth,smooth", "contrast,smooth,contrast,smooth,gray",
            "gray,gray,hist,hist,contrast", "smooth,contrast,gray,hist,smooth,contrast,contrast,hist"]
    return [None] * 8 + short + [list(p) for p in itertools.permutations(STAGES)] + [text.split(",") for text in long]


def drawn(random_source, rows):
    return [word for option, values, often in rows if random_source.randrange(100) < often
            for word in (option, random_source.choice(values)) if word]


def options_of(random_source, stages):
    words = [] if stages is None else ["--stages", ",".join(stages)]
    for stage, rows in OF_STAGE.items():
        used = stages is None or stage in stages
        for option, values in rows:
            value = random_source.choice(values) if used or random_source.randrange(100) < 5 else None
            words += [option, value] if value else []
    return words


def combinations(devices, synthetic, real):
    """Yields (title, [arguments of a run]...); the images are in ../../in."""
    source = random.Random(15)
    lists = stage_lists()
    count = max(320, 80 * len(devices))
    for index in range(count):
        stages = lists[index % len(lists)] if index < 2 * len(lists) else source.choice(lists)
        device = devices[(index + index // len(lists)) % len(devices)]
        ending = source.choice(FORMATS)
        common = options_of(source, stages) + ["--device", device] + drawn(source, OF_RUN)
        common += drawn(source, OF_FORMAT.get(ending, []))
        one = common + drawn(source, OF_ONE)
        images = source.sample(synthetic, 4) + source.sample(real, min(2, len(real)))
        runs = [["../../in/" + image, f"out.{ending}"] + one for image in images]
        folder = f"real{index // 2 % PARTS}" if real and index % 2 else "synthetic"
        batch = common + ([] if "--max-pixels" in common else ["--max-pixels", "4000000"])
        batch += source.choice([[], ["--jobs", "1"], ["--jobs", "3"], ["--memory", "300M"], ["--shard", "2/3"]])
        batch += ["--format", ending.replace("jpg", "jpeg"), "--report", "r.json", "--report", "r.ndjson"]
        runs.append(["../../in/" + folder, "out"] + batch + ["--failed-out", "failed.txt"])
        yield " ".join(common + [ending]), runs


def further(devices, synthetic, real):
    """Yields (title, runs): every real file alone, errors, streams, batch options, synth."""
    image = next("../../in/" + name for name in synthetic if "rgba_320x213" in name)
    for title, words in [("strict", "--max-pixels 4000000"), ("lenient", "--lenient --max-pixels 20000000"),
                         ("stb", "--codec stb --no-orient"), ("colour", "--stages smooth,contrast")]:
        # The reference is slow for large images.
        size, used = ([], devices[-1:]) if "--max-pixels" in words else (["--max-pixels", "1000000"], devices)
        yield f"real files, {title}", [
            ["../../in/" + name, "out.png", "--device", used[index % len(used)], "-q"]
            + words.split(" ") + size for index, name in enumerate(real)]
    yield "refusals", [[image, "out.png", "--device", devices[-1], *text.split(" ")] for text in USAGE]
    yield "paths", [
        [image], ["missing.png", "out.png"], [image, "out"], [image, "out.xyz"], [image, "out.png", "more.png"],
        [image, "no/such/out.png"], ["../../in/synthetic", "out.png"], [image, "out/"], [image, image]]
    yield "streams", [[image, "-", "--format", name, "-q"] for name in ("png", "jpeg", "ppm", "bmp", "tga")] + [
        ["-", "out.png", "--stages", "smooth", "<", image], ["-", "-", "--format", "tga", "<", image], [image, "-"]]
    yield "levels", [["../../in/" + name, "out.png", "--png-level", level, "-q"]
                     for name in synthetic[4:24] for level in ("0", "2", "9")]
    folder = ["../../in/synthetic", "out", "--format", "png", "--device", devices[0]]
    yield "batches", [folder + words.split(" ") for words in (
        "--dry-run", "--exclude rgb_*", "--include *.bmp", "--shard 1/2 --balance bytes", "--jobs 1 --fail-fast", "-q",
        "--max-pixels 1000 --jobs 1", "--stages smooth --keep-stages kept", "--histogram h.csv", "--cpu", "--repeat 2")]
    yield "synth", [["synth", f"out.{ending}", "--pattern", pattern, "--size", size, "--channels", str(channels)]
                    for pattern in PATTERNS for channels in CHANNELS for ending in HOLDS[channels]
                    for size in ("31x17", "1x1")]
