"""Pillow, and OpenCV or None. A script that imports this exits as skipped, with 77, if Pillow is missing."""
import sys

try:
    from PIL import Image
except ImportError:
    print("SKIPPED: Pillow is not installed")
    sys.exit(77)
try:
    import cv2
except ImportError:
    cv2 = None

__all__ = ["Image", "cv2"]
