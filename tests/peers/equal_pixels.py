#!/usr/bin/env python3
"""Compares imgpipe with Pillow and OpenCV, pixel by pixel, on photographs.

    equal_pixels.py IMGPIPE IMAGE...

The equalities are those of docs/pixels.md, "Equal by test". Needs Pillow; OpenCV's checks run if it is installed.
Exit 0: all equal; 1: a difference; 77: Pillow is missing, nothing was compared.
"""
import os
import subprocess
import sys
import tempfile

from peer_libraries import Image, cv2


def imgpipe(program, source, folder, *options):
    target = os.path.join(folder, "out.png")
    subprocess.run([program, source, target, "-q", "--no-orient", "--overwrite", *options], check=True)
    with Image.open(target) as image:
        assert image.mode == "L", image.mode
        return image.tobytes()


def resized(program, source, folder, width, height, method):
    return imgpipe(program, source, folder, "--luma", "opencv", "--stages", f"gray,resize:{width}:{height}:{method}")


# Up and down by awkward factors, and one side at which every position is half a pixel off.
def new_sizes(width, height):
    return [(width * 2 // 3 + 1, height // 5 + 1), (width + 97, height * 2 + 1), (256, 100)]


def opencv_resize_checks(program, source, folder, gray):
    height, width = gray.shape
    exact = [("linear", cv2.INTER_LINEAR_EXACT)]
    if int(cv2.__version__.split(".")[0]) >= 5:
        exact.append(("nearest", cv2.INTER_NEAREST_EXACT))
    for method, number in exact:
        for w, h in new_sizes(width, height):
            yield (f"cv2.resize {method} {w}x{h}", resized(program, source, folder, w, h, method),
                   cv2.resize(gray, (w, h), interpolation=number).tobytes())
    for across, down in ((2, 2), (2, 1), (3, 3), (4, 2), (5, 5), (16, 16)):
        if width % across + height % down == 0:
            w, h = width // across, height // down
            yield (f"cv2.resize area {w}x{h}", resized(program, source, folder, w, h, "area"),
                   cv2.resize(gray, (w, h), interpolation=cv2.INTER_AREA).tobytes())


def opencv_checks(program, source, folder):
    bgr = cv2.imread(source, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    gray = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
    smooth = ["--luma", "opencv", "--stages", "gray,smooth", "--border", "reflect"]
    yield "cv2.cvtColor", imgpipe(program, source, folder, "--luma", "opencv", "--stages", "gray"), gray.tobytes()
    yield "cv2.blur 5x5", imgpipe(program, source, folder, *smooth), cv2.blur(gray, (5, 5)).tobytes()
    yield ("cv2.GaussianBlur 5x5", imgpipe(program, source, folder, *smooth, "--window", "gauss"),
           cv2.GaussianBlur(gray, (5, 5), 0).tobytes())
    yield from opencv_resize_checks(program, source, folder, gray)


def pillow_checks(program, source, folder, grey):
    yield "Pillow convert('L')", imgpipe(program, source, folder, "--stages", "gray"), grey.tobytes()
    for w, h in new_sizes(*grey.size):
        yield (f"Pillow NEAREST {w}x{h}", imgpipe(program, source, folder, "--stages", f"gray,resize:{w}:{h}:nearest"),
               grey.resize((w, h), Image.NEAREST).tobytes())


def main():
    program, sources = sys.argv[1], sys.argv[2:]
    failed = compared = 0
    if cv2 is None:
        print("SKIPPED: the OpenCV checks; OpenCV is not installed")
    elif int(cv2.__version__.split(".")[0]) < 5:
        print("SKIPPED: cv2.resize nearest; before 5.0 its step has 16 bits")
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            with Image.open(source) as image:
                grey = image.convert("L")
                color = image.mode == "RGB"
            checks = list(pillow_checks(program, source, folder, grey))
            # OpenCV makes three equal channels of a grey file, whose luma is rounded again: compare colour only.
            if cv2 is not None and color:
                checks += opencv_checks(program, source, folder)
            for name, got, want in checks:
                compared += 1
                if got != want:
                    failed += 1
                    differing = sum(a != b for a, b in zip(got, want))
                    print(f"DIFFERENT: {name}: {source}: {differing} of {len(want)} pixels")
    print(f"{compared - failed} of {compared} comparisons equal")
    sys.exit(1 if failed or not compared else 0)


main()
