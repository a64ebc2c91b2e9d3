#!/usr/bin/env python3
"""The Python module against the program, byte for byte, and what it does with arrays, threads and errors.

    python_module.py [--cuda] IMGPIPE    with the module's folder in PYTHONPATH

--cuda: what needs a device, and nothing else. Exit 77 where that, numpy or Pillow is missing.
"""
import gc
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import weakref

try:
    import numpy as np
    from PIL import Image
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

import imgpipe

PROGRAM = os.path.abspath(sys.argv.pop())
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
STAGES = ["gray,hist,contrast,smooth", "contrast:clip=0.5:stretch=each,smooth:gauss", "gray:opencv,equalize",
          "median,flip:vertical", "resize:31:17,sharpen", "contrast:to=16,gamma:2.2", "gray"]


def noise(shape, dtype=np.uint8, seed=7):
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def write_netpbm(path, array):
    """16 bits of grey or colour, which Pillow writes for grey alone: PGM and PPM (netpbm's own pages)."""
    kind = b"P5" if array.ndim == 2 else b"P6"
    with open(path, "wb") as file:
        file.write(kind + b"\n%d %d\n65535\n" % array.shape[1::-1] + array.astype(">u2").tobytes())


def read_netpbm(path):
    with open(path, "rb") as file:
        whole = file.read()
    kind, width, height, most = re.match(rb"(P[56])\s(?:#.*\n)*(\d+) (\d+)\s(\d+)\s", whole).groups()
    sides = (int(height), int(width), 3) if kind == b"P6" else (int(height), int(width))
    stored, dtype = (">u2", np.uint16) if int(most) > 255 else ("u1", np.uint8)
    samples = np.frombuffer(whole[-np.prod(sides) * np.dtype(stored).itemsize:], stored)
    return samples.astype(dtype).reshape(sides)


def running_threads():
    """The ids of this process's threads."""
    return set(os.listdir("/proc/self/task"))


def settled_threads():
    """The same, when it has stayed for a moment: a thread that was joined may be seen a little longer."""
    for _ in range(100):
        before = running_threads()
        time.sleep(0.02)
        if running_threads() == before:
            break
    return before


def exit_of_child(work):
    """Forks; what the child that runs `work` ends with: 0, where that says True; "it hangs" after a minute."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            status = 0 if work() else 1
        finally:
            os._exit(status)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "it hangs"


class AgainstTheProgram(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def program(self, source, target, stages):
        options = ["--stages", stages, "--device", "cpu", "-q", "--overwrite"]
        subprocess.run([PROGRAM, source, target, *options], check=True)

    def test_eight_bits_through_png(self):
        for channels, mode in MODES.items():
            for size in [(1, 1), (1, 37), (41, 1), (5, 5), (67, 129)]:
                array = noise(size + (channels,) if channels > 1 else size)
                path, out = (os.path.join(self.folder.name, name) for name in ("in.png", "out.png"))
                Image.fromarray(array, mode).save(path)
                for stages in STAGES:
                    if "to=16" in stages:  # Pillow reads colour of 16 bits as 8
                        continue
                    with self.subTest(size=size, channels=channels, stages=stages):
                        self.program(path, out, stages)
                        with Image.open(out) as image:
                            wanted = np.asarray(image)
                        got, report = imgpipe.run(array, stages, device="cpu")
                        np.testing.assert_array_equal(got, wanted)
                        self.assertEqual((got.dtype, got.shape), (wanted.dtype, wanted.shape))
                        self.assertTrue(got.flags.c_contiguous and got.flags.writeable)
                        self.assertEqual(report["output"]["width"], got.shape[1])

    def test_sixteen_bits_through_netpbm(self):
        for channels in (1, 3):
            for size in [(1, 1), (3, 29), (64, 65)]:
                array = noise(size + (channels,) if channels > 1 else size, np.uint16)
                path, out = (os.path.join(self.folder.name, name) for name in ("in.pnm", "out.ppm"))
                write_netpbm(path, array)
                for stages in STAGES + ["depth:8"]:
                    with self.subTest(size=size, channels=channels, stages=stages):
                        got, report = imgpipe.run(array, stages, device="reference")
                        out = os.path.join(self.folder.name, "out.pgm" if got.ndim == 2 else "out.ppm")
                        self.program(path, out, stages)
                        np.testing.assert_array_equal(got, read_netpbm(out))
                        self.assertEqual(got.dtype, np.uint8 if stages == "depth:8" else np.uint16)
                        self.assertEqual(report["output"]["bits_per_sample"], 8 * got.itemsize)

    def test_the_version_is_the_programs(self):
        shown = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout
        self.assertTrue(shown.startswith(f"imgpipe {imgpipe.__version__} "), shown)


class Arrays(unittest.TestCase):
    def test_any_strides(self):
        whole = noise((60, 80, 4))
        deep = noise((40, 50), np.uint16)
        odd = np.frombuffer(b"x" + noise((9, 7), np.uint16).tobytes(), np.uint8)[1:].view(np.uint16).reshape(9, 7)
        views = {"crop": whole[5:50, 7:70], "rows": whole[::3], "columns": whole[:, ::2], "upside down": whole[::-1],
                 "mirrored": whole[:, ::-1], "channels": whole[..., :3], "bgr": whole[..., 2::-1],
                 "plane": whole[..., 1], "transposed": whole.transpose(1, 0, 2),
                 "fortran": np.asfortranarray(deep), "deep crop": deep[3:9, 4:6],
                 "unaligned": odd, "repeated": np.broadcast_to(deep[:1], (5, 50)), "one channel": whole[..., :1]}
        for name, view in views.items():
            with self.subTest(name):
                before = view.copy()
                view = view.view()
                view.flags.writeable = False
                got, _ = imgpipe.run(view, device="cpu")
                np.testing.assert_array_equal(got, imgpipe.run(np.ascontiguousarray(view), device="reference")[0])
                np.testing.assert_array_equal(view, before)

    def test_results_keep_their_memory(self):
        array = noise((300, 400, 3))
        wanted = imgpipe.run(array)[0].tobytes()
        results = [imgpipe.run(array)[0] for _ in range(5)]
        parts = [result[10:20] for result in results]
        gone = weakref.ref(results[0])
        del results
        gc.collect()
        self.assertIsNotNone(parts[0].base)
        for part in parts:
            self.assertEqual(part.tobytes(), wanted[10 * 400:20 * 400])
        del parts, part
        gc.collect()
        self.assertIsNone(gone())

    def test_the_result_is_nobody_elses(self):
        array = noise((20, 20))
        got, _ = imgpipe.run(array, "gray")  # which changes nothing
        self.assertFalse(np.shares_memory(got, array))
        got[:] = 0
        self.assertTrue(array.any())


class Reports(unittest.TestCase):
    def test_report(self):
        array = np.full((50, 60, 3), 90, np.uint8)
        array[:25] = 130
        _, report = imgpipe.run(array, "gray,gray,contrast,smooth", device="cpu", threads=2)
        self.assertEqual(report["steps"], ["gray", "hist*", "contrast", "smooth"])
        self.assertEqual(report["contrast"], [{"step": "contrast", "plane": 0, "lo": 90, "hi": 130}])
        self.assertEqual(report["device"]["implementation"], "cpu")
        self.assertIn("2 threads", report["device"]["name"])
        self.assertEqual(report["device"]["why"], "")
        self.assertEqual(len(report["notes"]), 1)
        self.assertEqual(report["input"], {"width": 60, "height": 50, "channels": 3, "bits_per_sample": 8})
        self.assertEqual(report["output"], {"width": 60, "height": 50, "channels": 1, "bits_per_sample": 8})
        rows = {row["name"]: row for row in report["rows"]}
        for step in report["steps"]:
            self.assertEqual(rows[step]["kind"], "kernel")
            self.assertGreater(rows[step]["bytes"], 0)
        self.assertGreaterEqual(report["wall_ms"], max(row["time_ms"] for row in report["rows"]))
        self.assertIn("auto took ", imgpipe.run(array)[1]["device"]["why"])

    def test_stages(self):
        stages = imgpipe.stages()
        self.assertEqual(list(stages)[:4], ["gray", "hist", "contrast", "smooth"])
        self.assertEqual(stages["contrast"]["parameters"][0]["name"], "clip")
        array = noise((64, 64, 3))
        for name, stage in stages.items():
            self.assertTrue(stage["summary"])
            if name not in ("gamma", "levels", "resize", "depth", "crop", "rotate"):  # which need a value
                imgpipe.run(array, name)

    def test_the_stub_names_what_is_there(self):
        folder = os.path.dirname(imgpipe.__file__)
        self.assertTrue(os.path.exists(os.path.join(folder, "py.typed")))
        with open(os.path.join(folder, "__init__.pyi"), encoding="utf-8") as file:
            text = file.read()
        for name in imgpipe.__all__:
            self.assertRegex(text, rf"(?m)^(def )?{name}\b")
        _, report = imgpipe.run(noise((9, 9)))
        for key in report:
            self.assertRegex(text, rf"(?m)^    {key}:")


def same_result(array, wanted):
    return np.array_equal(imgpipe.run(array, device="cpu", threads=3)[0], wanted)


class Threads(unittest.TestCase):
    def test_several_at_a_time(self):
        arrays = [noise((200 + i, 300 - i, 3), seed=i) for i in range(8)]
        wanted = [imgpipe.run(array, device="reference")[0] for array in arrays]
        wrong = []

        def work(i):
            for _ in range(5):
                if not np.array_equal(imgpipe.run(arrays[i], device="cpu", threads=2)[0], wanted[i]):
                    wrong.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_others_run_meanwhile(self):
        """Another thread gets the interpreter's lock while a run is inside: else it never could, at this interval."""
        array = noise((800, 800, 3))
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        try:
            for _ in range(50):
                go, ran = threading.Event(), []
                other = threading.Thread(target=lambda go=go, ran=ran: (go.wait(), ran.append(True)))
                other.start()
                go.set()
                imgpipe.run(array, device="reference")
                seen = bool(ran)
                other.join()
                if seen:
                    return
            self.fail("no other thread ran in 50 runs")
        finally:
            sys.setswitchinterval(interval)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_forked_processes_have_threads_of_their_own(self):
        array = noise((200, 200, 3))
        wanted = imgpipe.run(array, device="cpu", threads=3)[0]
        self.assertEqual(exit_of_child(lambda: same_result(array, wanted)), 0)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_forked_processes_drop_results(self):
        array = noise((200, 200, 3))
        results = [imgpipe.run(array, device="cpu", threads=threads)[0] for threads in range(2, 12)]
        wanted = results[0].copy()

        def drop_all():
            results.clear()
            gc.collect()
            return same_result(array, wanted)

        self.assertEqual(exit_of_child(drop_all), 0)
        self.assertEqual(len(results), 10)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_forks_while_others_run(self):
        small = noise((2, 2))
        wanted = imgpipe.run(small, device="cpu", threads=3)[0]
        ending = threading.Event()

        def work():
            while not ending.is_set():
                imgpipe.run(small, device="reference")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(40):
                self.assertEqual(exit_of_child(lambda: same_result(small, wanted)), 0)
        finally:
            ending.set()
            for thread in threads:
                thread.join()


@unittest.skipUnless(os.path.isdir("/proc/self/task"), "this system has no /proc/self/task")
class ThreadsStay(unittest.TestCase):
    def setUp(self):
        self.array = noise((50, 60, 3))
        for threads in range(2, 6):  # four sets
            self.run_with(threads)

    def run_with(self, threads, stages="gray,contrast"):
        return imgpipe.run(self.array, stages, device="cpu", threads=threads)

    def starts_threads(self, threads, **arguments):
        before = settled_threads()
        self.run_with(threads, **arguments)
        return bool(settled_threads() - before)

    def test_kept_results_keep_no_threads(self):
        before = settled_threads()
        results = [self.run_with(threads) for threads in range(20, 40)]
        self.assertLess(len(settled_threads() - before), 4 * 40)
        del results[:]

    def test_a_fifth_set_replaces_the_one_used_least_recently(self):
        self.assertFalse(self.starts_threads(2))
        self.assertTrue(self.starts_threads(6))  # instead of 3
        for threads in (6, 2, 4, 5):
            self.assertFalse(self.starts_threads(threads), threads)
        self.assertTrue(self.starts_threads(3))

    def test_errors_leave_them(self):
        for stages in ("blur", "resize:100000:100000", "crop:900x900"):
            with self.subTest(stages):
                with self.assertRaises(ValueError):
                    self.run_with(2, stages)
                self.assertFalse(self.starts_threads(2))


class OnCuda(unittest.TestCase):
    def test_the_same_pixels(self):
        results = []
        for shape in [(1, 1), (37, 41, 3), (600, 500, 4), (64, 64)]:
            for dtype in (np.uint8, np.uint16):
                array = noise(shape, dtype)
                got, report = imgpipe.run(array, device="cuda")
                self.assertEqual(report["device"]["implementation"], "cuda")
                results.append((got, imgpipe.run(array, device="reference")[0]))
        for got, wanted in results:  # with memory of the device's engine, which has gone on
            np.testing.assert_array_equal(got, wanted)


class Errors(unittest.TestCase):
    def test_types_of_samples(self):
        for dtype in (np.int8, np.int16, np.uint32, np.float32, np.bool_, np.complex64, object, ">u2"):
            with self.subTest(dtype=dtype), self.assertRaisesRegex(TypeError, "uint8 or numpy.uint16"):
                imgpipe.run(np.zeros((3, 3), dtype))
        for other in ("text", None, 3, [[1, 2], [3, 4]]):
            with self.subTest(other=other), self.assertRaises((TypeError, ValueError)):
                imgpipe.run(other)

    def test_shapes(self):
        for shape in [(), (3,), (3, 3, 3, 3), (3, 3, 5), (3, 3, 0), (0, 3), (3, 0), (0, 0, 3), (2, 2, 70000)]:
            with self.subTest(shape=shape), self.assertRaises(ValueError):
                imgpipe.run(np.zeros(shape, np.uint8))

    def test_what_cannot_be_meant(self):
        array = noise((8, 8))
        wrong = {"blur": {"stages": "blur"}, "device": {"device": "gpu"}, "one device": {"device": "cuda:0,1"},
                 "threads": {"threads": -2}, "name is missing": {"stages": ""},
                 "clip": {"stages": "contrast:clip=x"}, "pixels": {"stages": "resize:100000:100000"}}
        for part, arguments in wrong.items():
            with self.subTest(part), self.assertRaisesRegex(ValueError, part):
                imgpipe.run(array, **arguments)
        with self.assertRaises(TypeError):
            imgpipe.run(array, "gray", "cpu")
        imgpipe.run(array)

    def test_nothing_is_copied_before_it_is_judged(self):
        huge = np.broadcast_to(noise((1, 1)), (1 << 22, 1 << 20))  # 4 TiB, had it memory of its own
        for stages, error in (("blur", ValueError), ("gray,no:3", ValueError), ("gray", (MemoryError, ValueError))):
            with self.subTest(stages=stages), self.assertRaises(error) as raised:
                imgpipe.run(huge, stages, device="cpu")
            self.assertNotIn("Unable to allocate", str(raised.exception))  # which is numpy's
        with self.assertRaisesRegex(MemoryError, "not enough memory"):
            imgpipe.run(huge, "crop:1x1", device="cpu")

    def test_a_device_that_is_not_there(self):
        try:
            _, report = imgpipe.run(noise((8, 8)), device="cuda:99")
        except RuntimeError as error:
            self.assertNotIn("\n", str(error))
        else:
            self.fail(f"it ran on {report['device']}")


def needs_device():
    try:
        imgpipe.run(noise((8, 8)), device="cuda")
    except RuntimeError as error:
        print(f"SKIPPED: {error}")
        sys.exit(77)


if __name__ == "__main__":
    if "--cuda" in sys.argv:
        needs_device()
        unittest.main(argv=sys.argv[:1], defaultTest="OnCuda")
    del OnCuda
    unittest.main(argv=sys.argv[:1])
