"""Pipeline.batch(): against single images, with boxes, flips, errors, many files."""
import gc
import io
import itertools
import os
import random
import resource
import subprocess
import sys
import threading

import imgpipe
import numpy as np
import PIL.Image
import pytest
from imgpipe import Batch, DecodeError, MissingFileError, Pipeline

from cuda_modules import needs_device
from made import encoded, noise, random_stages, write_netpbm

SIZES = [(40, 60, 3), (33, 21, 3), (64, 64, 3), (1, 1, 3), (5, 200, 3)]


def pillow_crop(image, box, flip):
    top, left, height, width = box
    image = PIL.Image.fromarray(image).crop((left, top, left + width, top + height))
    return np.asarray(image.transpose(PIL.Image.Transpose.FLIP_LEFT_RIGHT) if flip else image)


def random_box(rng, shape):
    height, width = rng.randint(1, shape[0]), rng.randint(1, shape[1])
    return rng.randint(0, shape[0] - height), rng.randint(0, shape[1] - width), height, width


def sources_of(array, path):
    """The same image as a file, bytes, a file object, a JPEG-free array and a PIL image."""
    data = encoded(array)
    path.write_bytes(data)
    return [path, str(path), data, memoryview(data), np.frombuffer(data, np.uint8), io.BytesIO(data), array,
            PIL.Image.fromarray(array), np.asfortranarray(array)]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_one_array(tmp_path, threads):
    array = noise((40, 60, 3))
    for stages in ("none", "gray", "resize:17:13:bicubic", "resize:20:20,normalize:imagenet", "depth:float",
                   "normalize:clip:layout=nhwc:dtype=float16"):
        for layout in (None, "NHWC", "NCHW"):
            if "normalize" in stages and layout:
                continue
            pipe = Pipeline(stages, threads=threads, layout=layout)
            wanted = pipe(array)
            got = pipe.batch(sources_of(array, tmp_path / "in.png"))
            assert got.dtype == wanted.dtype and got.flags.c_contiguous
            np.testing.assert_array_equal(got, np.broadcast_to(wanted, (9, *wanted.shape)), f"{stages} {layout}")


def test_boxes_and_flips_are_pillows():
    rng = random.Random(4)
    for number in range(25):
        stages = random_stages(rng)
        arrays = [noise(shape, seed=number) for shape in rng.choices(SIZES, k=rng.randint(1, 5))]
        boxes = [random_box(rng, array.shape) for array in arrays]
        flips = [rng.random() < 0.5 for _ in arrays]
        pipe = Pipeline(stages, threads=rng.choice([1, 4]), on_error="return")
        single = Pipeline(stages)
        plain, _, last = stages.partition("normalize")
        for sources in (arrays, [encoded(array) for array in arrays]):
            got = pipe.batch(sources, boxes=boxes, flips=np.array(flips))
            for i, array in enumerate(arrays):
                what = (number, stages, i, boxes[i], flips[i])
                cropped = pillow_crop(array, boxes[i], False)
                try:
                    if flips[i] and last:
                        image = Pipeline(plain.strip(",") or "none")(cropped)
                        wanted = Pipeline("normalize" + last)(image[:, ::-1])
                    else:
                        wanted = single(cropped)
                        wanted = wanted[:, ::-1] if flips[i] else wanted
                except ValueError as error:
                    assert got.errors[i] is not None and str(error) in str(got.errors[i]), what
                    continue
                assert got.errors[i] is None, (what, got.errors[i])
                np.testing.assert_array_equal(got.images[i], wanted, str(what))


def test_boxes_of_files_are_exact_crops():
    rng = random.Random(6)
    array = noise((301, 203, 3))
    data = encoded(array)
    pipe = Pipeline("none")
    boxes = [random_box(rng, array.shape) for _ in range(20)] + [(0, 0, 301, 203), (300, 202, 1, 1), (7, 0, 90, 203)]
    flips = [rng.random() < 0.5 for _ in boxes]
    for got, box, flip in zip(pipe.batch([data] * len(boxes), boxes=boxes, flips=flips), boxes, flips):
        np.testing.assert_array_equal(got, pillow_crop(array, box, flip), str((box, flip)))
    # The rows below the box are validated, too.
    with pytest.raises(DecodeError):
        pipe.batch([data[:-200]], boxes=[(0, 0, 5, 5)])
    turned = PIL.Image.fromarray(array)
    exif = turned.getexif()
    exif[0x0112] = 6
    file = io.BytesIO()
    turned.save(file, "PNG", exif=exif)
    upright = pipe.read(file.getvalue())
    assert upright.shape == (203, 301, 3)
    np.testing.assert_array_equal(pipe.batch([file.getvalue()], boxes=[(3, 150, 40, 70)])[0], upright[3:43, 150:220])


def test_boxes_outside_the_image():
    good, array = (1, 2, 3, 4), noise((10, 20, 3))
    for box in [(0, 0, 11, 1), (0, 0, 1, 21), (-1, 0, 5, 5), (0, -1, 5, 5), (0, 0, 0, 5), (0, 0, 5, 0), (6, 0, 5, 5),
                (0, 16, 5, 5), (0, 0, -1, 5), (2**62, 0, 5, 5), (0, 0, 2**63 - 1, 1), (1, 1, 2**63 - 1, 2**63 - 1)]:
        for source in (array, encoded(array)):
            got = Pipeline("none", on_error="return").batch([source, source], boxes=[box, good])
            assert isinstance(got.errors[0], ValueError) and not isinstance(got.errors[0], DecodeError)
            assert "box: expected top, left, height, width inside 10x20" in str(got.errors[0])
            np.testing.assert_array_equal(got.images, [np.zeros((3, 4, 3)), array[1:4, 2:6]])


def test_a_list_if_shapes_differ():
    arrays = [noise((4, 5)), noise((4, 5)), noise((5, 4)), noise((4, 5, 3)), noise((4, 5), np.uint16)]
    for order in itertools.islice(itertools.permutations(range(5)), 0, 120, 17):
        got = Pipeline("invert", threads=3).batch([arrays[i] for i in order])
        assert isinstance(got, list)
        for image, i in zip(got, order):
            np.testing.assert_array_equal(image, Pipeline("invert")(arrays[i]))
            assert image.dtype == arrays[i].dtype
    assert Pipeline("none").batch([]) == []
    for on_error, images in (("skip", []), ("return", [None, None])):
        assert Pipeline("none", on_error=on_error).batch([b"x", b"y"]).images == images


def test_out():
    arrays = [noise((9, 11, 3), seed=seed) for seed in range(6)]
    for stages, layout in (("none", None), ("gray", None), ("none", "NCHW"), ("normalize:clip:dtype=float16", None)):
        pipe = Pipeline(stages, layout=layout, threads=2)
        wanted = pipe.batch(arrays)
        larger = np.full([2 * side for side in wanted.shape], 7, wanted.dtype)
        outs = [np.empty_like(wanted), larger[:6, :wanted.shape[1], :wanted.shape[2]][
            (slice(None),) * 3 + (slice(wanted.shape[3]),) if wanted.ndim == 4 else ...],
                larger[tuple(slice(0, 2 * side, 2) for side in wanted.shape)], np.empty_like(wanted)[::-1, ::-1]]
        for out in outs:
            assert pipe.batch(arrays, out=out) is out
            np.testing.assert_array_equal(out, wanted, f"{stages} {out.strides}")
    for out, error, text in [(np.empty((5, 9, 11), np.uint8), ValueError, "a row per source, 6, got 5"),
                             (np.empty((6, 9, 10), np.uint8), ValueError, r"the result is 9x11 .*rows are 9x10"),
                             (np.empty((6, 9, 11), np.uint16), ValueError, "16 bits per sample"),
                             (np.empty((6, 99), np.uint8), ValueError, "3 or 4 dimensions"),
                             (np.empty((6, 9, 11, 7), np.uint8), ValueError, "1 to 4 channels"),
                             ("x", TypeError, "out: expected a writable array")]:
        with pytest.raises(error, match=text):
            Pipeline("gray").batch(arrays, out=out)


def test_errors_among_good_images(tmp_path):
    array = noise((20, 30, 3))
    good, bad = encoded(array), encoded(array)[:-40]
    path = tmp_path / "gone.png"
    sources = [good, bad, array, b"", path, good]
    for _ in range(20):
        with pytest.raises(DecodeError, match=r"\(sources\[1\]\)"):
            Pipeline("gray", threads=3).batch(sources)
    with pytest.raises(DecodeError, match=r"gone.png: .*\(sources\[0\]\)") as raised:
        Pipeline("gray").batch([path])
    assert raised.value.path == str(path)
    assert isinstance(raised.value, MissingFileError)
    wanted = Pipeline("gray")(array)

    class Unreadable(io.RawIOBase):
        def readable(self):
            return True

        def read(self, size=-1):
            raise PermissionError("not today")

    for out in (None, np.full((7, 20, 30), 9, np.uint8)):
        got = Pipeline("gray", on_error="return", threads=2).batch([*sources, Unreadable()], out=out)
        assert isinstance(got, Batch) and list(got.indices) == list(range(7)) and (out is None or got.images is out)
        assert [type(error) for error in got.errors] == [
            type(None), DecodeError, type(None), DecodeError, MissingFileError, type(None), PermissionError]
        assert "sources[" not in str(got.errors[1]) and got.errors[4].path == str(path)
        for i in range(7):
            np.testing.assert_array_equal(got.images[i], wanted if got.errors[i] is None else 0 * wanted)
        got = Pipeline("gray", on_error="skip", threads=2).batch([*sources, Unreadable()], out=out)
        assert list(got.indices) == [0, 2, 5] and len(got.errors) == 7
        assert out is None or got.images.base is out or np.shares_memory(got.images, out)
        np.testing.assert_array_equal(got.images, [wanted] * 3)
    # A list, nothing but errors, and no error.
    mixed = [good, bad, noise((5, 5))]
    got = Pipeline("gray", on_error="return").batch(mixed)
    assert [image is None for image in got.images] == [False, True, False]
    got = Pipeline("gray", on_error="skip").batch(mixed)
    assert [image.shape for image in got.images] == [(20, 30), (5, 5)] and list(got.indices) == [0, 2]
    assert Pipeline("gray", on_error="return").batch([bad, bad]).images == [None, None]
    assert Pipeline("gray", on_error="skip").batch([bad, bad]).images == []
    assert Pipeline("gray", on_error="skip").batch([good, good]).images.shape == (2, 20, 30)


def test_an_array_of_a_wrong_type_fails_alone():
    array = noise((20, 30, 3))
    for wrong, error in ((array.astype(np.float64), TypeError), (noise((4, 5, 6)), ValueError)):
        with pytest.raises(error, match=r"^sources\[1\]: expected "):
            Pipeline("gray").batch([encoded(array), wrong, array])
        got = Pipeline("gray", on_error="skip").batch([encoded(array), wrong, array])
        assert list(got.indices) == [0, 2] and type(got.errors[1]) is error
        np.testing.assert_array_equal(got.images, [Pipeline("gray")(array)] * 2)


def test_a_failure_after_the_rows_were_made():
    """The first image has another size and fails once its rows exist; the results of the others are one array."""
    bad = encoded(noise((300, 400, 3)))[:-100]
    array = noise((20, 30, 3))
    got = Pipeline("gray", on_error="return", threads=1).batch([bad, array, encoded(array)])
    assert isinstance(got.errors[0], DecodeError)
    wanted = Pipeline("gray")(array)
    np.testing.assert_array_equal(got.images, [0 * wanted, wanted, wanted])


def test_wrong_arguments():
    pipe, array = Pipeline("none"), noise((9, 9))
    for arguments, error, text in [({"sources": "a.jpg"}, TypeError, "sources: expected a list of sources, got str"),
                                   ({"sources": b"abc"}, TypeError, "got bytes"),
                                   ({"sources": 3}, TypeError, "got int"),
                                   ({"sources": [array, 3]}, TypeError, r"sources\[1\]: expected a path.*got int"),
                                   ({"boxes": [(0, 0, 1)]}, ValueError, "boxes: expected 1 x 4"),
                                   ({"boxes": [(0, 0, 1, 1)] * 2}, ValueError, "boxes: expected 1 x 4"),
                                   ({"boxes": [(0, 0, 1.5, 1)]}, TypeError, "boxes: expected integers"),
                                   ({"flips": [True, False]}, ValueError, "flips: expected 1 bools"),
                                   ({"flips": [2]}, TypeError, "flips: expected bools, got int64")]:
        with pytest.raises(error, match=text):
            pipe.batch(**{"sources": [array], **arguments})
    for arguments, error, text in [({"workers": -1}, ValueError, "workers: "),
                                   ({"workers": "2"}, TypeError, "workers: "),
                                   ({"prefetch": 0}, ValueError, "prefetch: "), ({"memory": 0}, ValueError, "memory: "),
                                   ({"memory": "much"}, ValueError, "memory: .*'much'"),
                                   ({"memory": [1]}, TypeError, "memory: "), ({"sources": 3}, TypeError, "sources: ")]:
        with pytest.raises(error, match=text):
            pipe.map(**{"sources": [array], **arguments})


def test_an_image_in_place_of_a_list():
    for image in (noise((4, 5)), noise((4, 5, 3)), PIL.Image.fromarray(noise((4, 5))), np.uint8(3)):
        with pytest.raises(TypeError, match="^sources: expected a list of sources, got .*; put it in a list$"):
            Pipeline("none").batch(image)
    with pytest.raises(TypeError, match=r"an array of shape \(4, 5, 3\)"):
        Pipeline("none").batch(noise((4, 5, 3)))
    images = noise((2, 4, 5, 3))
    np.testing.assert_array_equal(Pipeline("none").batch(images), images)


def test_rows_without_a_box():
    for boxes in ([None, None], [(0, 0, 1, 1), None], [(0, 0, 1, 1), (0, 0, 1)]):
        with pytest.raises(TypeError, match="^boxes: expected integers [^\n]*$"):
            Pipeline("none").batch([noise((4, 5))] * 2, boxes=boxes)


def test_flips_are_bools_or_0_and_1():
    image = noise((4, 5))
    wanted = Pipeline("none").batch([image] * 3, flips=[False, True, True])
    for flips in ([0, 1, 1], [False, 1, True], np.array([0, 1, 1], np.uint8)):
        np.testing.assert_array_equal(Pipeline("none").batch([image] * 3, flips=flips), wanted)
    for flips in ([0, 1, 2], [0, -1, 1], [0.0, 1.0, 1.0], [0, 1, None]):
        with pytest.raises(TypeError, match="^flips: expected bools, got "):
            Pipeline("none").batch([image] * 3, flips=flips)


def test_errors_name_likely_causes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    image = noise((4, 5))
    (tmp_path / "a.png").write_bytes(encoded(image))
    pipe = Pipeline("none", on_error="skip")
    with open("a.png", "rb") as file:
        np.testing.assert_array_equal(imgpipe.read(file), image)
        for source, cause in ((b"a.png", "; paths are str, not bytes"),
                              (file, ": read from its position, which is the end of the file")):
            for error in [*pipe.batch([source]).errors, *[pytest.raises(DecodeError, function, source).value
                                                          for function in (imgpipe.read, imgpipe.decode)]]:
                assert str(error).endswith(cause), error
    for source in (b"b.png", b"a.png\0", b""):
        assert "; paths" not in str(*pipe.batch([source]).errors)
    with pytest.raises(TypeError, match="^data: expected a path"):
        imgpipe.decode(None)
    with pytest.raises(TypeError, match="^source: expected a path"):
        imgpipe.read(None)


def test_many_batches_take_no_memory():
    pipe = Pipeline("resize:16:16:bicubic,normalize:clip", threads=2, on_error="return")
    data = encoded(noise((24, 31, 3)), "JPEG")
    sources = [data, data[:-100], noise((30, 20, 3))]
    boxes = [(1, 2, 20, 20), (0, 0, 5, 5), (1, 2, 20, 10)]

    def run(count):
        for _ in range(count):
            assert pipe.batch(sources, boxes=boxes, flips=[True, False, True]).images.shape == (3, 3, 16, 16)
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(500)
    assert run(10000) - before < 3000  # KiB


def test_large_results_reuse_memory():
    """Their memory is kept while the next result needs it, never shared, and returned by trim()."""
    pipe, array = Pipeline("none"), noise((1024, 1024, 4))
    sources = [array] * 10  # 40 MiB

    def resident():
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()

    kept = pipe.batch(sources)
    again = pipe.batch(sources)
    assert not np.shares_memory(kept, again)
    del again
    before = resident()
    for _ in range(3):
        pipe.batch(sources)
    assert abs(resident() - before) < 4 << 20
    assert (kept == array).all()
    imgpipe.trim()
    assert before - resident() > 35 << 20
    child = os.fork()
    if child == 0:
        os._exit(0 if (pipe.batch(sources) == array).all() and (kept == array).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_batches_in_threads():
    pipe = Pipeline("resize:20:20,smooth", threads=2)
    arrays = [noise((side, 30, 3), seed=side) for side in range(20, 40)]
    wanted = np.stack([pipe(array) for array in arrays])
    wrong = []

    def work():
        for _ in range(10):
            if not np.array_equal(pipe.batch(arrays), wanted):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
OPENED = """
import resource, sys, imgpipe, numpy as np
device, paths = sys.argv[1], [sys.argv[2]] * 300
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
wanted = imgpipe.Pipeline("resize:3:2").read(paths[0])
pipe = imgpipe.Pipeline("resize:3:2", device=device, threads=4)
assert (np.asarray(pipe.batch(paths)) == wanted).all()
assert all((np.asarray(image) == wanted).all() for image in pipe.batch([*paths, np.zeros((1, 1), np.uint8)])[:-1])
assert sum(result.error is None for result in pipe.map(paths)) == len(paths)
assert len(imgpipe.decode(paths, device=device)) == len(paths)
"""


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_device)])
def test_few_files_are_open_at_once(device, tmp_path):
    write_netpbm(tmp_path / "large.pgm", noise((1000, 1100)))  # read from the disk, row by row
    subprocess.run([sys.executable, "-c", OPENED, device, tmp_path / "large.pgm"], check=True)
