#!/usr/bin/env python3
"""Compares TIFF with other programs: equal pixels with Pillow, OpenCV and tifffile, times with libvips and OpenCV.

    tiff_compare.py pixels IMGPIPE [FILE...]   generated files of many kinds, then the given ones
    tiff_compare.py written IMGPIPE            imgpipe's files, read by the three
    tiff_compare.py times IMGPIPE [MEGAPIXELS] 16 bits, grey, tiled, Deflate: reading it to a PGM, in interleaved rounds

Needs numpy, and any of Pillow, OpenCV and tifffile; reports what is missing. `times` uses the installed vips and OpenCV
on the processors it may use (taskset). All read one file from the page cache, and write a 16-bit grey PGM with the same
samples, which are checked. imgpipe and vips are timed as programs; for OpenCV only imread() and imwrite() count, not
the start of Python.
"""
import os
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    sys.exit("tiff_compare: needs numpy")
try:
    import tifffile
except ImportError:
    tifffile = None
try:
    import cv2
except ImportError:
    cv2 = None
try:
    from PIL import Image
    Image.MAX_IMAGE_PIXELS = None
except ImportError:
    Image = None


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True)


def by_imgpipe(program, path, folder):
    """(pixels, ""), through an uncompressed TIFF that numpy reads, or (None, reason).

    A plan needs stages: inverting twice changes nothing."""
    out = os.path.join(folder, "out.tif")
    done = run(program, path, out, "--stages", "invert,invert", "--tiff-compression", "none", "--no-orient",
               "--overwrite", "-q")
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no reason"
    return read_plain(out), ""


def read_plain(path):
    """The samples of an uncompressed TIFF by imgpipe, read without a library: its strips follow one another."""
    data = open(path, "rb").read()
    assert data[:4] == b"II*\0"
    number = lambda at, size: int.from_bytes(data[at:at + size], "little")
    fields = {}
    at = number(4, 4)
    for i in range(number(at, 2)):
        entry = at + 2 + 12 * i
        tag, kind, count = number(entry, 2), number(entry + 2, 2), number(entry + 4, 4)
        size = {3: 2, 4: 4}.get(kind, 1)
        where = entry + 8 if size * count <= 4 else number(entry + 8, 4)
        fields[tag] = [number(where + size * j, size) for j in range(min(count, 1 << 20))]
    width, height, samples, bits = fields[256][0], fields[257][0], fields[277][0], fields[258][0]
    pixels = b"".join(data[o:o + c] for o, c in zip(fields[273], fields[279]))
    return np.frombuffer(pixels, "<u2" if bits == 16 else "u1").reshape(height, width, samples)


def normal(pixels):
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def made_files(folder):
    """Files by tifffile: (name, path, pixels)."""
    left_out = set()
    random = np.random.default_rng(1)
    for dtype in (np.uint8, np.uint16):
        for samples in (1, 3, 4):
            shape = (93, 131) if samples == 1 else (93, 131, samples)
            pixels = (random.integers(0, 16, shape).cumsum(axis=1) * (257 if dtype == np.uint16 else 1)).astype(dtype)
            for compression in (None, "zlib", "lzw", "packbits", "zstd"):
                for predictor in (False, True):
                    for tile in (None, (32, 48)):
                        for order in "<>":
                            for big in (False, True):
                                if predictor and compression in (None, "packbits"):
                                    continue
                                name = f"{pixels.dtype.name} {samples} {compression} {predictor} {tile} {order} {big}"
                                path = os.path.join(folder, "made.tif")
                                options = {"photometric": "rgb" if samples > 1 else "minisblack", "tile": tile,
                                           "compression": compression, "predictor": predictor}
                                if samples == 4:
                                    options["extrasamples"] = ["unassalpha"]
                                try:
                                    with tifffile.TiffWriter(path, byteorder=order, bigtiff=big) as out:
                                        out.write(pixels, **{k: v for k, v in options.items() if v})
                                except (ValueError, KeyError, ImportError, RuntimeError) as error:
                                    left_out.add(str(error))
                                    continue
                                yield name, path, pixels
    for reason in sorted(left_out):
        print("left out:", reason)


def others(path):
    """(program, pixels) for each program that reads the file."""
    if tifffile is not None:
        try:
            yield "tifffile", tifffile.imread(path, key=0)
        except Exception:
            pass
    if cv2 is not None:
        pixels = cv2.imread(path, cv2.IMREAD_UNCHANGED | cv2.IMREAD_IGNORE_ORIENTATION)
        # With 8 bits OpenCV multiplies the colours by alpha (libtiff's RGBA): those are not the stored samples.
        if pixels is not None and not (pixels.ndim == 3 and pixels.shape[2] == 4 and pixels.dtype == np.uint8):
            if pixels.ndim == 3:
                pixels = pixels[:, :, [2, 1, 0] + list(range(3, pixels.shape[2]))]
            yield "OpenCV", pixels
    if Image is not None:
        try:
            with Image.open(path) as image:
                if max(getattr(image, "tag_v2", {}).get(258, (1,))) > 8 and not image.mode.startswith("I"):
                    return  # Pillow keeps only the upper bytes
                if image.mode in ("P", "1"):
                    image = image.convert("RGB" if image.mode == "P" else "L")
                if image.mode in ("L", "LA", "RGB", "RGBA", "I;16", "I;16B"):
                    yield "Pillow", np.asarray(image).astype(np.uint16 if image.mode.startswith("I") else np.uint8)
        except Exception:
            pass


def difference(ours, theirs):
    theirs = normal(theirs)
    if ours.shape != theirs.shape:
        return f"shape {ours.shape} against {theirs.shape}"
    if ours.dtype.itemsize != theirs.dtype.itemsize:
        # 16 bits reduced to 8, by the rule of docs/formats.md.
        if theirs.dtype.itemsize != 2 or ours.dtype.itemsize != 1:
            return f"{ours.dtype} against {theirs.dtype}"
        theirs = (theirs.astype(np.uint32) * 255 + 32767) // 65535
    wrong = np.argwhere(ours.astype(np.uint32) != theirs.astype(np.uint32))
    return "" if len(wrong) == 0 else f"{len(wrong)} samples differ, the first at {tuple(wrong[0])}"


def compare_pixels(program, files):
    checked = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        cases = [(file, file, None) for file in files]
        made = made_files(folder) if tifffile is not None else []
        for name, path, pixels in chain(made, cases):
            ours, reason = by_imgpipe(program, path, folder)
            if ours is None:
                print(f"refused: {name}: {reason}")
                wrong += pixels is not None
                continue
            seen = [("what was put in", pixels)] if pixels is not None else []
            for who, theirs in [*seen, *others(path)]:
                checked += 1
                said = difference(ours, theirs)
                if said:
                    wrong += 1
                    print(f"{name}: {who}: {said}")
    print(f"{checked} comparisons, {wrong} wrong")
    return 1 if wrong or checked == 0 else 0


def chain(*parts):
    for part in parts:
        yield from part


def compare_written(program):
    checked = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for channels in ("1", "3", "4"):
            for packing in ("none", "deflate", "lzw", "packbits", "zstd"):
                for tile in ("0", "64"):
                    path = os.path.join(folder, "written.tif")
                    done = run(program, "synth", path, "--size", "301x207", "--pattern", "photo", "--channels",
                               channels, "--tiff-compression", packing, "--tiff-tile", tile, "--overwrite", "-q")
                    assert done.returncode == 0, done.stderr
                    plain = os.path.join(folder, "plain.tif")
                    done = run(program, "synth", plain, "--size", "301x207", "--pattern", "photo", "--channels",
                               channels, "--tiff-compression", "none", "--overwrite", "-q")
                    assert done.returncode == 0, done.stderr
                    for who, theirs in others(path):
                        checked += 1
                        said = difference(read_plain(plain), theirs)
                        if said:
                            wrong += 1
                            print(f"{channels} channels, {packing}, tile {tile}: {who}: {said}")
    print(f"{checked} comparisons, {wrong} wrong")
    return 1 if wrong or checked == 0 else 0


# imread() and imwrite() alone, in seconds, without the start of Python and the library.
OPENCV = """import sys, time, cv2
start = time.perf_counter()
cv2.imwrite(sys.argv[2], cv2.imread(sys.argv[1], cv2.IMREAD_UNCHANGED))
print(time.perf_counter() - start)
"""


def program_time(*job):
    """Seconds from start to end; None if the program is missing or fails, which is printed."""
    start = time.perf_counter()
    try:
        done = run(*job)
    except FileNotFoundError:
        print(f"SKIPPED: {job[0]} is not installed")
        return None
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        print(f"SKIPPED: {job[0]}: {done.stderr.strip()[-200:]}")
        return None
    return seconds, done.stdout


def pgm_samples(path):
    """The samples of a raw 16-bit PGM."""
    with open(path, "rb") as file:
        numbers = []
        while len(numbers) < 4:
            line = file.readline()
            assert line, f"{path} is not a PGM"
            numbers += line.split(b"#")[0].split()
        assert numbers[0] == b"P5" and numbers[3] == b"65535", f"{path} is not a 16-bit grey PGM"
        return np.frombuffer(file.read(), ">u2").reshape(int(numbers[2]), int(numbers[1]))


def compare_times(program, megapixels):
    if tifffile is None:
        sys.exit("tiff_compare: times needs tifffile")
    side = int((megapixels * 1e6) ** 0.5) // 256 * 256
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.tif")
        y, x = np.mgrid[0:side, 0:side].astype(np.float32)
        noise = np.random.default_rng(1).integers(0, 64, (side, side), dtype=np.uint16)
        pixels = (20000 + 12000 * np.sin(x / 911) * np.cos(y / 677)).astype(np.uint16) + noise
        tifffile.imwrite(path, pixels, tile=(256, 256), compression="zlib", predictor=True)
        print(f"{side}x{side}, 16 bits, tiles of 256, {os.path.getsize(path) >> 20} MiB, "
              f"{len(os.sched_getaffinity(0))} processors")
        with open(path, "rb") as file:  # into the page cache
            while file.read(1 << 24):
                pass
        # A plan needs stages: inverting twice changes nothing.
        jobs = {"imgpipe": (program, path, "OUT", "--stages", "invert,invert", "--device", "cpu", "--overwrite", "-q"),
                "libvips": ("vips", "copy", path, "OUT"),
                "OpenCV": (sys.executable, "-c", OPENCV, path, "OUT")}
        if cv2 is None:
            del jobs["OpenCV"]
        times = {name: [] for name in jobs}
        wrong = 0
        for turn in range(5):
            for name, job in list(jobs.items()):
                out = os.path.join(folder, name + ".pgm")
                done = program_time(*[out if part == "OUT" else part for part in job])
                if done is None:
                    del jobs[name]
                    continue
                times[name].append(float(done[1]) if name == "OpenCV" else done[0])
                if turn == 0 and not np.array_equal(pgm_samples(out), pixels):
                    print(f"{name}: other pixels than were put in")
                    wrong += 1
        for name, seconds in times.items():
            if seconds:
                print(f"{name}: {min(seconds):.3f} s at best, {sorted(seconds)[len(seconds) // 2]:.3f} s in the middle")
    return 1 if wrong or not times["imgpipe"] else 0


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("pixels", "written", "times"):
        sys.exit(__doc__)
    for name, module in (("tifffile", tifffile), ("OpenCV", cv2), ("Pillow", Image)):
        if module is None:
            print(f"SKIPPED: {name} is not installed")
    if sys.argv[1] == "pixels":
        return compare_pixels(sys.argv[2], sys.argv[3:])
    if sys.argv[1] == "written":
        return compare_written(sys.argv[2])
    return compare_times(sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 100)


if __name__ == "__main__":
    sys.exit(main())
