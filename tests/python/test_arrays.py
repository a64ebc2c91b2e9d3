"""Input arrays, and resulting arrays and reports."""
import gc
import inspect
import re
import unittest
import weakref
from unittest import mock

import imgpipe
import numpy as np
import PIL.Image

from made import noise


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

    def test_what_numpy_makes_an_array_of(self):
        array = noise((9, 7, 3))
        wanted = imgpipe.run(array, "invert")[0]

        class Interface:  # pylint: disable=too-few-public-methods
            __array_interface__ = array.__array_interface__

        for image in (PIL.Image.fromarray(array), list(array), Interface(), array.view(np.recarray)):
            with self.subTest(type(image)):
                np.testing.assert_array_equal(imgpipe.run(image, "invert")[0], wanted)
        deep = noise((9, 7), np.uint16)
        for image in (deep, PIL.Image.fromarray(deep)):
            self.assertEqual(imgpipe.run(image, "invert")[0].tolist(), (65535 - deep).tolist())
        for mode in ("L", "LA", "RGBA"):
            image = PIL.Image.fromarray(array).convert(mode)
            self.assertEqual(imgpipe.run(image, "flip")[0].tolist(), imgpipe.run(np.asarray(image), "flip")[0].tolist())

    def test_floats(self):
        array = noise((9, 7, 3))
        floats = imgpipe.run(array, "depth:float", device="cpu")[0]
        self.assertEqual(floats.dtype, np.float32)
        np.testing.assert_array_equal(floats, array.astype(np.float32) / np.float32(255))
        floats[0, 0] = [np.nan, np.inf, -3]
        np.testing.assert_array_equal(imgpipe.run(floats, "invert", device="cpu")[0], np.float32(1) - floats)
        np.testing.assert_array_equal(imgpipe.run(floats, "depth:8")[0][1:], array[1:])
        with self.assertRaisesRegex(ValueError, "contrast does not accept float samples; insert depth:8"):
            imgpipe.run(floats, "contrast")

    def test_tensors(self):
        array = noise((9, 7, 3))
        mean, std = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
        wanted = ((array * (1 / 255)).astype(np.float32) - mean) / std
        for device in ("cpu", "reference"):
            for dtype in ("float32", "float16"):
                got = imgpipe.run(array, f"normalize:imagenet:dtype={dtype}", device=device)[0]
                self.assertEqual(got.dtype, np.dtype(dtype))
                np.testing.assert_array_equal(got, wanted.transpose(2, 0, 1).astype(dtype))
                got = imgpipe.run(array, f"normalize:imagenet:layout=nhwc:dtype={dtype}", device=device)[0]
                np.testing.assert_array_equal(got, wanted.astype(dtype))
        grey = "normalize:mean=0.5:std=0.5"
        self.assertEqual(imgpipe.run(array[..., 0], grey)[0].shape, (1, 9, 7))
        self.assertEqual(imgpipe.run(array[..., 0], f"{grey}:layout=nhwc")[0].shape, (9, 7, 1))
        with self.assertRaisesRegex(TypeError, "numpy has no bfloat16"):
            imgpipe.run(array, "normalize:clip:dtype=bfloat16")

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
        got, _ = imgpipe.run(array, "gray")  # a stage that changes no sample
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
        with mock.patch("time.perf_counter", side_effect=[10.0, 10.25]):
            self.assertEqual(imgpipe.run(array)[1]["wall_ms"], 250)  # of the whole call
        self.assertIn("auto chose ", imgpipe.run(array)[1]["device"]["why"])

    def test_stages(self):
        stages = imgpipe.stages()
        self.assertEqual(list(stages)[:4], ["gray", "rgb", "flatten", "channel"])
        self.assertEqual(stages["contrast"]["parameters"][0]["name"], "clip")
        array = noise((64, 64, 3))
        ran = [self.check_stage(name, stage, lambda step: imgpipe.run(array, step)) for name, stage in stages.items()]
        self.assertGreater(sum(ran), len(stages) // 2)

    def test_a_new_stage_with_required_parameters(self):
        parameters = [{"name": "radius", "allowed": "1 to 9, or auto", "required": True, "preset": None},
                      {"name": "border", "allowed": "shrink, reflect", "required": True, "preset": None},
                      {"name": "share", "allowed": "0 to 1", "required": False, "preset": "0.5"}]
        steps = []

        def run(step):
            steps.append(step)
            if step == "made-up":
                raise ValueError("stages: made-up: missing radius; expected 1 to 9, or auto")

        self.assertTrue(self.check_stage("made-up", {"summary": "Made up", "parameters": parameters}, run))
        self.assertEqual(steps, ["made-up", "made-up:radius=1:border=shrink"])
        for wrong in (lambda step: None, mock.Mock(side_effect=ValueError("stages: made-up: missing radius"))):
            with self.assertRaises(AssertionError):
                self.check_stage("made-up", {"summary": "Made up", "parameters": parameters}, wrong)

    def check_stage(self, name, stage, run):
        """The stage fails without its required parameters; with the first allowed value of each none is missing.

        Returns whether it ran: a stage may need one of several optional values, or reject values together.
        """
        self.assertTrue(stage["summary"])
        required = [parameter for parameter in stage["parameters"] if parameter["required"]]
        self.assertFalse([parameter["name"] for parameter in required if parameter["preset"] is not None])
        if required:
            self.assertRaisesRegex(ValueError, f"^stages: {name}: missing ", run, name)
        step = name + "".join(f":{p['name']}={re.match('[^, ]+', p['allowed'])[0]}" for p in required)
        try:
            run(step)
        except imgpipe.MissingFileError:  # a second image
            return False
        except ValueError as error:
            self.assertRegex(str(error), f"^stages: {name}:? (?!missing )|^{name}.* on a 64x64 image: ")
            return False
        return True

    def test_signatures_and_help(self):
        signature = inspect.signature(imgpipe.run)
        self.assertEqual(list(signature.parameters), ["array", "stages", "device", "threads"])
        for name in signature.parameters:
            self.assertRegex(imgpipe.run.__doc__, rf"(?m)^ *{name}: ")
