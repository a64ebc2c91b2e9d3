"""Pipeline over single images: arrays, files, the caller's memory, pickling, threads."""
import concurrent.futures
import io
import multiprocessing
import os
import pathlib
import pickle
import random
import subprocess
import threading
import warnings

import imgpipe
import numpy as np
import PIL.Image
import pytest
from imgpipe import Pipeline, ops

from made import SHAPES, encoded, noise, random_stages

TREE = pathlib.Path(__file__).resolve().parents[2]


def outcome(call):
    """The result of a call, or the text of its ValueError."""
    try:
        return call()
    except ValueError as error:
        return str(error)


def assert_same(got, wanted, what):
    assert type(got) is type(wanted), (what, got, wanted)
    if isinstance(wanted, str):
        assert got == wanted, what
    else:
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), what
        np.testing.assert_array_equal(got, wanted, str(what))


def test_the_same_as_run_and_reference():
    rng = random.Random(1)
    for number in range(150):
        stages, shape, dtype = random_stages(rng), rng.choice(SHAPES), rng.choice([np.uint8, np.uint16])
        what, array = (number, stages, shape, dtype), noise(shape, dtype, number)
        wanted = outcome(lambda: imgpipe.run(array, stages, device="reference")[0])
        pipe = Pipeline(stages, threads=rng.choice([1, 3]))
        for _ in range(2):  # a kept plan
            assert_same(outcome(lambda: pipe(array)), wanted, what)
        assert_same(outcome(lambda: pipe.run(array)[0]), wanted, what)
        if dtype == np.uint8 and len(shape) == 3:
            assert_same(outcome(lambda: pipe.read(encoded(array))), wanted, what)


def test_the_same_as_the_program(program, tmp_path):
    array = noise((41, 53, 3))
    (tmp_path / "in.png").write_bytes(encoded(array))
    for stages, name in [("gray,contrast:clip=0.5,smooth", "a.png"), ("resize:31:17:bicubic,rotate:90", "b.png"),
                         ("resize:20:20,normalize:imagenet", "c.npy"), ("none", "d.png")]:
        out = tmp_path / name
        subprocess.run([program, tmp_path / "in.png", out, "--stages", stages, "--device", "cpu", "-q"], check=True)
        wanted = np.load(out) if out.suffix == ".npy" else np.asarray(PIL.Image.open(out))
        for source in (tmp_path / "in.png", str(tmp_path / "in.png"), encoded(array), io.BytesIO(encoded(array))):
            assert_same(Pipeline(stages).read(source), wanted.reshape(Pipeline(stages)(array).shape), stages)


def strided(shape, dtype):
    """Arrays of this shape whose elements are apart, mirrored or transposed, each in a larger array."""
    wide = [2 * side + 3 for side in shape]
    yield np.full(wide, 99, dtype)[tuple(slice(1, 1 + side) for side in shape)]
    yield np.full(wide, 99, dtype)[tuple(slice(0, 2 * side, 2) for side in shape)]
    yield np.full(shape, 99, dtype)[::-1]
    yield np.full(shape[::-1], 99, dtype).T


def test_out():
    rng = random.Random(3)
    for number in range(60):
        stages, shape, dtype = random_stages(rng), rng.choice(SHAPES), rng.choice([np.uint8, np.uint16])
        array = noise(shape, dtype, number)
        pipe = Pipeline(stages, layout=None if "normalize" in stages else rng.choice([None, "NHWC", "NCHW"]))
        wanted = outcome(lambda: pipe(array))
        if isinstance(wanted, str):
            continue
        for out in strided(wanted.shape, wanted.dtype):
            whole, before = out.base, out.base.copy()
            assert pipe(array, out=out) is out
            assert_same(out, wanted, (number, stages, shape, out.strides))
            out[...] = 99
            np.testing.assert_array_equal(whole, before)  # nothing else was written
            if dtype == np.uint8 and len(shape) == 3:
                assert pipe.read(encoded(array), out=out) is out
                assert_same(out, wanted, (number, stages, shape, out.strides))


def test_out_may_be_the_input():
    array = noise((40, 30))
    wanted = Pipeline("smooth")(array)
    assert Pipeline("smooth")(array, out=array) is array
    np.testing.assert_array_equal(array, wanted)


def test_wrong_out():
    pipe, array = Pipeline("gray"), noise((9, 7, 3))
    read_only = np.empty((9, 7), np.uint8)
    read_only.flags.writeable = False
    for out, error, text in [(np.empty((9, 8), np.uint8), ValueError, r"out: expected \(9, 7\) of uint8, got \(9, 8\)"),
                             (np.empty((9, 7), np.uint16), ValueError, r"got \(9, 7\) of uint16"),
                             (np.empty((9, 7, 1), np.uint8), ValueError, r"got \(9, 7, 1\)"),
                             (np.empty(63, np.uint8), ValueError, "2 or 3 dimensions, got 1"),
                             (np.empty((9, 7), np.int8), TypeError, "out: expected a writable array"),
                             (read_only, TypeError, "writable"), (bytearray(63), ValueError, "got 1$"),
                             ([[0] * 7] * 9, TypeError, "got list")]:
        with pytest.raises(error, match=text) as raised:
            pipe(array, out=out)
        assert "\n" not in str(raised.value)


def test_layout():
    for dtype in (np.uint8, np.uint16):
        for shape in SHAPES:
            array = noise(shape, dtype)
            image = array if array.ndim == 3 else array[..., None]
            np.testing.assert_array_equal(Pipeline("none", layout="NCHW")(array), image.transpose(2, 0, 1))
            np.testing.assert_array_equal(Pipeline("none", layout="NHWC")(array), image)
    for layout, made in (("NHWC", "nchw"), ("NCHW", "nhwc")):
        with pytest.raises(ValueError, match=f"layout: normalize makes {made}"):
            Pipeline(f"normalize:imagenet:layout={made}", layout=layout)
        Pipeline(f"normalize:imagenet:layout={layout.lower()}", layout=layout)


def test_wrong_arguments():
    for arguments, error, text in [(("blurr",), ValueError, "stages: unknown stage 'blurr'"),
                                   (("resize:x",), ValueError, "^stages: resize"),
                                   ((3,), TypeError, "stages: .*got int"),
                                   (([ops.gray(), 3],), TypeError, "a list with int"),
                                   (("",), ValueError, "missing stage name"),
                                   (("normalize:clip:dtype=bfloat16",), TypeError, "numpy has no bfloat16")]:
        with pytest.raises(error, match=text):
            Pipeline(*arguments)
    for name, value, error in [("device", "gpu", ValueError), ("device", 3, TypeError), ("threads", -1, ValueError),
                               ("threads", "2", TypeError), ("layout", "CHW", ValueError), ("layout", 3, TypeError),
                               ("on_error", "stop", ValueError), ("on_error", None, TypeError),
                               ("lenient", "yes", ValueError), ("lenient", 1, TypeError)]:
        with pytest.raises(error, match=f"^{name}: ") as raised:
            Pipeline("gray", **{name: value})
        assert "\n" not in str(raised.value) and len(str(raised.value)) < 200


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "no.png").write_bytes(b"not an image")
    pipe = Pipeline("gray")
    for source, path in [(tmp_path / "no.png", str(tmp_path / "no.png")), (b"not an image", None),
                         (encoded(noise((9, 9, 3)))[:-30], None), (tmp_path / "gone.png", str(tmp_path / "gone.png"))]:
        with pytest.raises(imgpipe.DecodeError) as raised:
            pipe.read(source)
        assert raised.value.path == path
        assert str(raised.value) == (f"{path}: " if path else "") + raised.value.reason
    (tmp_path / "in.png").write_bytes(encoded(noise((9, 9, 3))))
    with pytest.raises(ValueError, match="in.png: crop:20x20 on a 9x9 image: outside the image"):
        Pipeline("crop:20x20").read(tmp_path / "in.png")
    for source in (3, None, [1], object()):
        with pytest.raises(TypeError, match="source: expected a path"):
            pipe.read(source)


def test_damage():
    whole = encoded(noise((64, 64, 3)), "JPEG")
    for lenient in (True, "pillow"):
        with pytest.warns(imgpipe.DamageWarning) if lenient is True else pytest.raises(imgpipe.DecodeError):
            Pipeline("gray", lenient=lenient).read(whole[:-300])
    with pytest.raises(imgpipe.DecodeError):
        Pipeline("gray").read(whole[:-300])


def in_another_process(pipe):
    return repr(pipe), pipe(noise((20, 30, 3)))


def test_max_pixels():
    array = noise((20, 30, 3))
    pipe = Pipeline("gray", max_pixels=599)
    for call in (pipe.read, lambda source: pipe.batch([source])):
        with pytest.raises(imgpipe.DecodeError, match=r"too large: 30x20 pixels; raise max_pixels \(now 599\)"):
            call(encoded(array))
    np.testing.assert_array_equal(Pipeline("gray", max_pixels=600).read(encoded(array)), Pipeline("gray")(array))
    pipe = Pipeline("resize:40:40", max_pixels=1599)
    for call in (pipe, pipe.run, pipe.read, lambda source: pipe.batch([source])):
        with pytest.raises(ValueError, match=r"raise max_pixels \(now 1599\)") as raised:
            call(array)
        assert type(raised.value) is ValueError
    assert repr(pipe) == "Pipeline('resize:40:40', max_pixels=1599)"
    assert pickle.loads(pickle.dumps(pipe)).max_pixels == 1599
    with pytest.raises(ValueError, match="max_pixels: expected 1 to"):
        Pipeline("gray", max_pixels=0)


def test_messages_about_bytes_have_no_name(tmp_path):
    with pytest.raises(imgpipe.DecodeError, match="^not an image of a known format$"):
        Pipeline("gray").convert(b"x", tmp_path / "q.png")


def test_second_images(tmp_path):
    frames, dark, flat = (noise((13, 17, 3), np.uint16, seed) for seed in (1, 2, 3))
    flat[::3] = 0
    grey = tmp_path / "grey.png"
    PIL.Image.fromarray(noise((13, 17))).save(grey)
    saturated = lambda values, dtype: np.clip(values, 0, np.iinfo(dtype).max).astype(dtype)

    def divided(v, d, scale):
        v, d = v.astype(np.int64), d.astype(np.int64)
        quotient = (2 * v * scale + d) // np.maximum(2 * d, 1)
        return saturated(np.where(d == 0, np.where(v == 0, 0, 65535), quotient), np.uint16)

    corrected = saturated(frames.astype(int) - dark, np.uint16)
    steps = [ops.subtract("dark"), ops.divide("flat", scale=20000)]
    pipe = Pipeline(steps, images={"dark": dark, "flat": flat})
    dark_before, dark[:] = dark.copy(), 0  # the pipeline has a copy
    for same in (pipe, pickle.loads(pickle.dumps(pipe))):
        np.testing.assert_array_equal(same(frames), divided(corrected, flat, 20000))
        np.testing.assert_array_equal(same.images["dark"], dark_before)
        np.testing.assert_array_equal(same.batch([frames, frames])[1], divided(corrected, flat, 20000))
    # Files: named in the step, and by `images`.
    array = noise((13, 17), seed=4)
    wanted = saturated(array.astype(int) + np.asarray(PIL.Image.open(grey)), np.uint8)
    for named in (Pipeline(f"add:{grey}"), Pipeline("add:g", images={"g": grey})):
        np.testing.assert_array_equal(named(array), wanted)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(named))(array), wanted)
    assert Pipeline("add:g", images={"g": grey}).images == {"g": str(grey)}
    # run() keeps pipelines, but not those with files.
    np.testing.assert_array_equal(imgpipe.run(array, f"max:{grey}")[0], np.maximum(array, PIL.Image.open(grey)))
    PIL.Image.fromarray(array).save(grey)
    np.testing.assert_array_equal(imgpipe.run(array, f"max:{grey}")[0], array)


def test_over():
    base, logo = noise((11, 13, 3)), noise((5, 7, 4), seed=2)
    opacity, (s, v) = 0.4, (logo[..., :3].astype(int), base[5:10, 3:10].astype(int))
    alpha = (logo[..., 3:].astype(int) * 400000 + 500000) // 1000000
    wanted = base.copy()
    wanted[5:10, 3:10] = (2 * (s * alpha + v * (255 - alpha)) + 255) // 510
    pipe = Pipeline(ops.over("logo", "southeast", x=3, y=1, opacity=opacity), images={"logo": logo})
    np.testing.assert_array_equal(pipe(base), wanted)


def test_second_images_that_cannot_be_used(tmp_path):
    (tmp_path / "text.png").write_text("text")
    with pytest.raises(FileNotFoundError) as raised:
        Pipeline(f"subtract:{tmp_path}/missing.png")
    assert raised.value.path == f"{tmp_path}/missing.png"
    with pytest.raises(imgpipe.DecodeError, match=r"text\.png: not an image of a known format$") as raised:
        Pipeline("subtract:dark", images={"dark": tmp_path / "text.png"})
    assert raised.value.path == f"{tmp_path}/text.png"
    for images, error, text in [({"dark": 3}, TypeError, r"images\['dark'\]: expected a numpy array"),
                                ({3: noise((2, 2))}, TypeError, "images: expected names of type str, got int"),
                                ({"dark": noise((2, 2, 5))}, ValueError, r"images\['dark'\]: "),
                                ([("dark", 1)], TypeError, "images: expected a dict of names and images, got list")]:
        with pytest.raises(error, match=text):
            Pipeline("subtract:dark", images=images)
    with pytest.raises(ValueError, match="the second image has 2x2 pixels, the image 3x3; crop or resize"):
        Pipeline("subtract:dark", images={"dark": noise((2, 2))})(noise((3, 3)))


def test_pickle():
    for pipe in (Pipeline([ops.gray(), ops.resize(20, 10)], threads=2, layout="NCHW", on_error="skip",
                          lenient="pillow"),
                 Pipeline("none")):
        copy = pickle.loads(pickle.dumps(pipe))
        assert repr(copy) == repr(pipe) and eval(repr(pipe), {"Pipeline": Pipeline}).threads == pipe.threads
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            text, result = pool.submit(in_another_process, pipe).result()
        assert text == repr(pipe)
        np.testing.assert_array_equal(result, pipe(noise((20, 30, 3))))
    with pytest.raises(TypeError, match="stream: .*cannot be pickled"):
        pickle.dumps(Pipeline("gray", stream=object()))


def test_threads_share_a_pipeline():
    pipe = Pipeline("resize:40:30:lanczos,smooth", threads=2)
    shapes = [(50, 61), (33, 70, 3), (90, 40, 4), (64, 64, 2)] * 8
    images = [noise(shape, seed=seed) for seed, shape in enumerate(shapes)]
    wanted = [imgpipe.run(image, pipe.stages, device="reference")[0] for image in images]
    failed = []

    def work():
        for image, result in zip(images, wanted):
            if not np.array_equal(pipe(image), result):
                failed.append(image.shape)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_more_shapes_than_plans_are_kept():
    pipe = Pipeline("resize:7:5:area")
    for side in (*range(1, 200), *range(1, 20)):
        array = noise((side, 3))
        np.testing.assert_array_equal(pipe(array), imgpipe.run(array, pipe.stages, device="reference")[0], str(side))


def test_seeds_of_the_fuzzers():
    pipes = [Pipeline("rgb,resize:16:16", lenient=lenient, threads=1) for lenient in (False, "pillow")]
    seeds = [path for path in sorted((TREE / "tests/fuzz/seeds").rglob("*")) if path.is_file()]
    assert len(seeds) > 30
    rng, decoded = random.Random(5), 0
    for path in seeds:
        whole = path.read_bytes()
        for data in (whole, *(whole[:rng.randrange(len(whole))] for _ in range(5))):
            for pipe in pipes:
                try:
                    assert pipe.read(data).shape[:2] == (16, 16), (path, len(data))
                    decoded += 1
                except imgpipe.DecodeError as error:
                    assert "\n" not in str(error), (path, len(data))
    assert decoded > 20


def test_convert_writes_the_programs_files(program, tmp_path):
    array = noise((61, 47, 3))
    exif = PIL.Image.Exif()
    exif[0x010e], exif[0x0112] = "a test", 6
    (tmp_path / "in.jpg").write_bytes(encoded(array, "JPEG", exif=exif, dpi=(72, 72)))
    (tmp_path / "in.png").write_bytes(encoded(array))
    directory = tmp_path / "program"
    directory.mkdir()
    for source, name, stages, options in [
            ("in.jpg", "a.jpg", "gray,contrast", {}), ("in.jpg", "b.png", "none", {}),
            ("in.png", "c.png", "smooth", {}),
            ("in.jpg", "d.tif", "rotate:90", {}), ("in.jpg", "e.jpg", "none", {"quality": 31}),
            ("in.jpg", "f.jpg", "none", {"metadata": False}), ("in.png", "g.webp", "invert", {}),
            ("in.png", "h.webp", "invert", {"quality": 40}), ("in.png", "i.npy", "normalize:imagenet", {}),
            ("in.jpg", "j.bmp", "resize:20:20", {})]:
        command = [program, tmp_path / source, directory / name, "--stages", stages, "--device", "cpu", "-q"]
        if "quality" in options:
            command += ["--quality", str(options["quality"])] + (["--webp", "lossy"] if name.endswith("webp") else [])
        if "metadata" in options:
            command += ["--metadata", "strip"]
        subprocess.run(command, check=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of metadata that the format does not preserve
            assert Pipeline(stages).convert(tmp_path / source, tmp_path / name, **options) is None
        assert (tmp_path / name).read_bytes() == (directory / name).read_bytes(), (source, name, stages)


def test_convert(tmp_path):
    array = noise((20, 30, 3))
    pipe, out = Pipeline("gray"), tmp_path / "out.png"
    for source in (encoded(array), io.BytesIO(encoded(array))):
        pipe.convert(source, out, overwrite=True)
        np.testing.assert_array_equal(np.asarray(PIL.Image.open(out)), pipe(array))
    before = out.read_bytes()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        pipe.convert(encoded(array), out)
    with pytest.raises(imgpipe.DecodeError):
        pipe.convert(encoded(array)[:-30], out, overwrite=True)
    assert out.read_bytes() == before and os.listdir(tmp_path) == ["out.png"]
    with pytest.warns(UserWarning, match="dropped alpha"):
        Pipeline("none").convert(encoded(noise((9, 9, 4))), tmp_path / "out.jpg")
    with pytest.raises(imgpipe.DecodeError, match="gone.png") as raised:
        pipe.convert(tmp_path / "gone.png", tmp_path / "new.png")
    assert raised.value.path == str(tmp_path / "gone.png")
    for arguments, error, text in [({"path": 3}, TypeError, "path: expected"),
                                   ({"path": "x.txt"}, ValueError, "x.txt|txt"),
                                   ({"quality": 0}, ValueError, "quality: "),
                                   ({"quality": "9"}, TypeError, "quality: "),
                                   ({"path": tmp_path / "gone" / "x.png"}, OSError, "gone")]:
        with pytest.raises(error, match=text):
            pipe.convert(**{"source": encoded(array), "path": tmp_path / "new.png", **arguments})
    assert not (tmp_path / "new.png").exists()


def test_an_opened_image_runs_once():
    array = noise((5, 7, 3))
    opened = Pipeline("invert")._core.open(array)
    assert opened.needed_bytes(1) >= array.nbytes
    planes = Pipeline("invert", layout="NCHW")._core.open(array)  # makes the interleaved image, too
    assert planes.needed_bytes(1) == opened.needed_bytes(1) + array.nbytes
    np.testing.assert_array_equal(opened.run(1), 255 - array)
    for call in (lambda: opened.run(1), lambda: opened.needed_bytes(1)):
        with pytest.raises(ValueError, match="run: an opened image runs once"):
            call()
