#!/usr/bin/env python3
"""Tests the Python module against the program, byte for byte, and with arrays, threads and errors.

    python_module.py [--cuda] IMGPIPE    with the module's directory in PYTHONPATH

--cuda: only the tests that need a device. Exit 77 without a device (with --cuda), numpy or Pillow. The tests are in
python_module_tests/.
"""
import sys
import unittest

try:
    import numpy  # pylint: disable=unused-import
    import PIL  # pylint: disable=unused-import
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

from python_module_tests import arrays, cuda, errors, program, threads

HOST = (program, arrays, threads, errors)


def main():
    on_device = "--cuda" in sys.argv
    if on_device:
        cuda.needs_device()
    loader, tests = unittest.defaultTestLoader, unittest.TestSuite()
    for module in (cuda,) if on_device else HOST:
        tests.addTests(loader.loadTestsFromModule(module))
    assert tests.countTestCases() > 0
    return 0 if unittest.TextTestRunner().run(tests).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
