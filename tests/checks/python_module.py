#!/usr/bin/env python3
"""The Python module against the program, byte for byte, and what it does with arrays, threads and errors.

    python_module.py [--cuda] IMGPIPE    with the module's folder in PYTHONPATH

--cuda: what needs a device, and nothing else. Exit 77 where that, numpy or Pillow is missing. The tests are in
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
