#!/usr/bin/env python3
"""Compares imgpipe with Pillow and OpenCV, pixel by pixel, on photographs.

    equal_pixels.py IMGPIPE IMAGE...

The equalities are those of docs/pixels.md, "Equal by test". Needs Pillow; OpenCV's where it is
installed. Exit 0: all equal; 1: a difference; 77: Pillow is missing, nothing was compared.
"""
import os
import subprocess
import sys
import tempfile

try:
    from PIL import Image
except ImportError:
    print("SKIPPED: Pillow is not installed")
    sys.exit(77)
try:
    import cv2
except ImportError:
    cv2 = None


def imgpipe(program, source, folder, *options):
    target = os.path.join(folder, "out.png")
    subprocess.run([program, source, target, "-q", "--no-orient", *options], check=True)
    with Image.open(target) as image:
        assert image.mode == "L", image.mode
        return image.tobytes()


def opencv_checks(program, source, folder):
    bgr = cv2.imread(source, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    gray = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
    smooth = ["--luma", "opencv", "--stages", "gray,smooth", "--border", "reflect"]
    yield "cv2.cvtColor", imgpipe(program, source, folder, "--luma", "opencv", "--stages", "gray"), gray.tobytes()
    yield "cv2.blur 5x5", imgpipe(program, source, folder, *smooth), cv2.blur(gray, (5, 5)).tobytes()
    yield ("cv2.GaussianBlur 5x5", imgpipe(program, source, folder, *smooth, "--window", "gauss"),
           cv2.GaussianBlur(gray, (5, 5), 0).tobytes())


def main():
    program, sources = sys.argv[1], sys.argv[2:]
    failed = compared = 0
    if cv2 is None:
        print("SKIPPED: the OpenCV checks; OpenCV is not installed")
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            with Image.open(source) as image:
                expected = image.convert("L").tobytes()
                color = image.mode == "RGB"
            checks = [("Pillow convert('L')", imgpipe(program, source, folder, "--stages", "gray"), expected)]
            # OpenCV makes three equal channels of a grey file, whose luma is rounded back: compare colour only.
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
