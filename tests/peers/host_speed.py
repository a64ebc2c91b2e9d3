#!/usr/bin/env python3
"""Common jobs on the processor by imgpipe, earlier versions of it and other libraries, in interleaved rounds.

    host_speed.py [--rounds N] [--jobs NAME,...] [--also NAME=PROGRAM]... [--realtime] IMGPIPE PHOTOGRAPH...

Prints a Markdown table per job: median and range of the processor time (user and system) and of the wall time, both
relative to imgpipe's in the same round, peak memory and page faults. "--also" adds another imgpipe program;
"--realtime" runs each process before all others (SCHED_RR, as root), with pauses, for machines that are not idle.

Jobs:
  large         a synthetic photograph of 8773x5352 to PNG, through gray, hist, contrast and smooth
  png           20 photographs of 8 to 12 MP to PNG, through the same stages
  pixels1024    the same photographs to JPEGs of 1024 pixels; pixels256: of 256 pixels
  thumbnails    2,000 JPEGs of 400x300 to 100x75
  start         a JPEG of 64x64 to PNG; version: --version

The photographs are made from the files PHOTOGRAPH, at their pixels: scaled down to 2560 columns, stacked up to 8 MP,
quality 90. OpenCV, libvips (pyvips) and Pillow run in Python; their times start after their import. They process
directories by one thread per processor. Peers that are missing are left out.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROCESSORS = len(os.sched_getaffinity(0))
SIZES = {"pixels1024": (1024, 1024), "pixels256": (256, 256), "thumbnails": (100, 75)}
OF_PHOTOGRAPHS = {"png", *SIZES}
QUALITY = 85


# ---- inputs -----------------------------------------------------------------------------------------
def make_photographs(files, folder):
    from PIL import Image
    Image.MAX_IMAGE_PIXELS = None
    photos = []
    for file in files:
        photo = Image.open(file).convert("RGB")
        if photo.width > 2560:
            photo = photo.resize((2560, photo.height * 2560 // photo.width), Image.LANCZOS)
        photos.append(photo)
    for number in range(20):
        chosen = []
        while not chosen or sum(photo.height for photo in chosen) * chosen[0].width < 8e6:
            chosen.append(photos[(number + 7 * len(chosen)) % len(photos)])
        width = min(photo.width for photo in chosen)
        stacked = Image.new("RGB", (width, sum(photo.height for photo in chosen)))
        top = 0
        for photo in chosen:
            stacked.paste(photo, (0, top))
            top += photo.height
        stacked.save(folder / f"photo{number:02}.jpg", quality=90)
    return photos


def make_small(photos, folder):
    from PIL import Image
    numbers = random.Random(1)
    for number in range(2000):
        photo = photos[number % len(photos)]
        width = numbers.randrange(min(800, photo.width), photo.width + 1)
        height = min(width * 3 // 4, photo.height)
        left, top = numbers.randint(0, photo.width - width), numbers.randint(0, photo.height - height)
        box = (left, top, left + width, top + height)
        photo.resize((400, 300), Image.BILINEAR, box, reducing_gap=2).save(folder / f"{number:04}.jpg", quality=85)


def make_inputs(options, work):
    synth = [options.imgpipe, "synth", "-q", "--pattern", "photo", "--quality", "90"]
    inputs = {}
    wanted = set(options.jobs)
    for name, size in (("large", "8773x5352"), ("start", "64x64")):
        if name in wanted:
            inputs[name] = work / f"{name}.jpg"
            subprocess.run([*synth, inputs[name], "--size", size], check=True)
    if wanted & OF_PHOTOGRAPHS:
        folders = work / "photographs", work / "small"
        for folder in folders:
            folder.mkdir()
        photos = make_photographs(options.photographs, folders[0])
        if "thumbnails" in wanted:
            make_small(photos, folders[1])
        inputs |= dict.fromkeys(("png", "pixels1024", "pixels256"), folders[0])
        inputs["thumbnails"] = folders[1]
    inputs["version"] = None
    return inputs


# ---- peers in Python --------------------------------------------------------------------------------
def reduction(size, target):
    """The largest N of 1, 2, 4, 8 whose decoded image is at least as large as the result."""
    longest, wanted = max(size), max(target)
    return max(n for n in (1, 2, 4, 8) if n == 1 or longest >= n * wanted)


def fitted(size, target):
    factor = min(target[0] / size[0], target[1] / size[1])
    return round(size[0] * factor), round(size[1] * factor)


def opencv_worker():
    import cv2

    def stages(source, output):
        image = cv2.imread(source, cv2.IMREAD_GRAYSCALE)
        image = cv2.normalize(image, None, 0, 255, cv2.NORM_MINMAX)
        cv2.imwrite(output, cv2.blur(image, (5, 5)), [cv2.IMWRITE_PNG_COMPRESSION, 1])

    def shrink(source, output, target, size):
        n = reduction(size, target)
        image = cv2.imread(source, getattr(cv2, f"IMREAD_REDUCED_COLOR_{n}") if n > 1 else cv2.IMREAD_COLOR)
        image = cv2.resize(image, fitted(image.shape[1::-1], target), interpolation=cv2.INTER_AREA)
        cv2.imwrite(output, image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])

    def one_thread():
        cv2.setNumThreads(1)

    return "OpenCV " + cv2.__version__, stages, shrink, one_thread


def vips_worker():
    import pyvips

    def stages(source, output):
        image = pyvips.Image.new_from_file(source).colourspace("b-w").copy_memory()
        low, high = image.min(), image.max()
        scale = 255 / max(1, high - low)
        mean = pyvips.Image.new_from_array([[1] * 5] * 5, 25)
        image = image.linear(scale, -low * scale, uchar=True).conv(mean, precision="integer")
        image.write_to_file(output, compression=1)

    def shrink(source, output, target, size):
        image = pyvips.Image.thumbnail(source, target[0], height=target[1])
        image.write_to_file(output, Q=QUALITY)

    def one_thread():
        pyvips.base.vips_lib.vips_concurrency_set(1)

    version = ".".join(str(pyvips.base.version(part)) for part in range(3))
    return "libvips " + version, stages, shrink, one_thread


def pillow_worker():
    import PIL
    from PIL import Image, ImageFilter, ImageOps
    Image.MAX_IMAGE_PIXELS = None

    def stages(source, output):
        image = ImageOps.autocontrast(Image.open(source).convert("L"))
        image.filter(ImageFilter.BoxBlur(2)).save(output, compress_level=1)

    def shrink(source, output, target, size):
        image = Image.open(source)
        image.thumbnail(target)  # decodes at a fraction of the size
        image.save(output, quality=QUALITY)

    return "Pillow " + PIL.__version__, stages, shrink, lambda: None


WORKERS = {"opencv": opencv_worker, "vips": vips_worker, "pillow": pillow_worker}


def run_worker(name, job, source, output):
    """In a separate process: prints name, wall time and processor time, without the import."""
    label, stages, shrink, one_thread = WORKERS[name]()
    from PIL import Image
    source = pathlib.Path(source)
    tasks = []
    for file in sorted(source.iterdir()) if source.is_dir() else [source]:
        with Image.open(file) as image:
            size = image.size
        made = str(pathlib.Path(output) / file.with_suffix(".jpg" if job in SIZES else ".png").name)
        tasks.append((shrink, str(file), made, SIZES[job], size) if job in SIZES else (stages, str(file), made))
    if source.is_dir():
        one_thread()
    before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    if source.is_dir():
        with concurrent.futures.ThreadPoolExecutor(PROCESSORS) as pool:
            list(pool.map(lambda task: task[0](*task[1:]), tasks))
    else:
        for task in tasks:
            task[0](*task[1:])
    wall, after = time.perf_counter() - before[0], resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before[1].ru_utime - before[1].ru_stime
    print(json.dumps([label, wall, cpu, after.ru_minflt - before[1].ru_minflt]))


# ---- contestants ------------------------------------------------------------------------------------
def imgpipe_command(program, job, source, output, scale):
    if job == "version":
        return [program, "--version"]
    result = output / "out.png" if job in ("large", "start") else output
    command = [program, source, result, "-q", "--device", "cpu"]
    if job == "png":
        command += ["--format", "png"]
    if job in SIZES:
        width, height = SIZES[job]
        side = f"{width}:{height}" if job == "thumbnails" else f"longest={width}"
        command += ["--format", "jpg", "--quality", str(QUALITY), "--stages", f"resize:{side}:method=area"]
        command += ["--decode-scale", "auto"] if scale else []
    return command


def gm_command(job, source, output):
    ones = ",".join(["1"] * 25)
    stages = f"-colorspace GRAY -normalize -convolve {ones} -quality 10"
    if job == "large" or job == "start":
        return ["gm", "convert", source, *stages.split(), output / "out.png"]
    if job in SIZES:
        size = "x".join(map(str, SIZES[job]))
        stages = f"-size {size} -resize {size} -quality {QUALITY}"
    form = "jpg" if job in SIZES else "png"
    count = -(-len(list(source.iterdir())) // PROCESSORS)
    return ["sh", "-c", f"cd '{source}' && ls *.jpg | OMP_NUM_THREADS=1 xargs -P {PROCESSORS} -n {count} gm mogrify"
                        f" -output-directory '{output}' -format {form} {stages}"]


def contestants(options, job):
    """Pairs of a label and a function from source and output directory to a command."""
    found = []
    for name, program in [("imgpipe", options.imgpipe), *options.also]:
        found.append((name, lambda source, output, p=program: imgpipe_command(p, job, source, output, False)))
        if job in SIZES and name == "imgpipe":
            found.append((f"{name} --decode-scale auto",
                          lambda source, output, p=program: imgpipe_command(p, job, source, output, True)))
    if job == "version":
        return found
    if shutil.which("gm"):
        version = subprocess.run(["gm", "version"], capture_output=True, text=True, check=True).stdout.split()[1]
        found.append((f"GraphicsMagick {version}", lambda source, output: gm_command(job, source, output)))
    if job != "start":
        for name in WORKERS:
            found.append((name, lambda source, output, n=name: [sys.executable, __file__, "--worker", n, job, source,
                                                                output]))
    return found


def measure(command, work, realtime):
    """(label or None, wall s, cpu s, page faults), or None if the command fails."""
    actions = [(os.POSIX_SPAWN_OPEN, number, work / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
               for number, name in ((1, "stdout"), (2, "stderr"))]
    scheduler = {"scheduler": (os.SCHED_RR, os.sched_param(1))} if realtime else {}
    command = list(map(str, command))
    start = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ, file_actions=actions, **scheduler)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - start
    if realtime:
        time.sleep(min(wall, 0.5))
    if status:
        print(f"left out: {command[:2]}: {(work / 'stderr').read_text()[-300:]}", file=sys.stderr)
        return None
    if "--worker" in command:
        label, wall, cpu, faults = json.loads((work / "stdout").read_text())
        return label, wall, cpu, faults
    return None, wall, usage.ru_utime + usage.ru_stime, usage.ru_minflt


def peak_memory(command, work, realtime):
    """MB, as counted by a small process: a child of this one would start with the memory of this one."""
    measure(["/usr/bin/time", "-f", "%M", "-o", work / "peak", *command], work, realtime)
    return int((work / "peak").read_text().split()[-1]) / 1024


# ---- tables -----------------------------------------------------------------------------------------
def span(values, digits):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} - {max(values):.{digits}f})"


def table(options, job, source, work):
    runs = {label: [] for label, _ in contestants(options, job)}
    labels, sizes, peaks = {}, {}, {}
    output = work / "out"
    for turn in range(options.rounds + 1):  # turn 0 warms the caches
        for label, command in contestants(options, job):
            if runs[label] is None:
                continue
            shutil.rmtree(output, ignore_errors=True)
            output.mkdir()
            result = measure(command(source, output), work, options.realtime)
            if result is None:
                runs[label] = None
                continue
            labels[label] = result[0] or label
            sizes[label] = sum(file.stat().st_size for file in output.iterdir()) / 1e6
            if turn:
                runs[label].append(result[1:])
            else:
                peaks[label] = peak_memory(command(source, output), work, options.realtime)
    baseline = runs["imgpipe"]
    digits = 4 if job in ("start", "version") else 3
    print(f"\n**{job}**\n\n| program | processor s: median (range) | share | wall s | share | MB written | peak MB"
          " | page faults |\n|---|---|--:|---|--:|--:|--:|--:|")
    for label, rows in runs.items():
        if rows:
            shares = [statistics.median(row[k] / base[k] for row, base in zip(rows, baseline)) for k in (0, 1)]
            wall, cpu, faults = zip(*rows)
            print(f"| {labels[label]} | {span(cpu, digits)} | {shares[1]:.2f} | {span(wall, digits)} | {shares[0]:.2f}"
                  f" | {sizes[label]:.2f} | {peaks[label]:.0f} | {statistics.median(faults):.0f} |", flush=True)


def main():
    if sys.argv[1:2] == ["--worker"]:
        run_worker(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("imgpipe", type=lambda text: os.path.abspath(text))
    parser.add_argument("photographs", nargs="*", metavar="PHOTOGRAPH")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--jobs", type=lambda text: text.split(","),
                        default="large,png,pixels1024,pixels256,thumbnails,start,version".split(","))
    parser.add_argument("--also", type=lambda text: tuple(text.split("=", 1)), action="append", default=[])
    parser.add_argument("--realtime", action="store_true")
    options = parser.parse_args()
    if not options.photographs and OF_PHOTOGRAPHS & set(options.jobs):
        parser.error("name photographs, or --jobs large,start,version")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as text:
        work = pathlib.Path(text)
        inputs = make_inputs(options, work)
        processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "?")
        print(f"{processor}, {PROCESSORS} processors, {time.strftime('%F')}, {options.rounds} rounds")
        for job in options.jobs:
            table(options, job, inputs[job], work)


if __name__ == "__main__":
    main()
