"""Pipelines on a CUDA device equal those of the CPU to the byte: random stages, shapes, types, boxes and files."""
import io
import random

import imgpipe
import numpy as np
import PIL.Image
import pytest

from cuda_modules import encoded, needs_device, noise, smooth_noise

pytestmark = needs_device
AWKWARD = (1, 2, 3, 7, 16, 31, 64, 97, 131, 300)
SIDES = ((1, 1), (1, 300), (300, 1), (2, 3), (61, 67), (97, 131), (375, 500))
STAGES = ("gray", "rgb", "invert", "smooth", "smooth:gauss:reflect", "sharpen", "contrast:clip=0.5", "equalize",
          "median", "threshold", "resize:40:30:bicubic", "resize:33:57:area", "resize:shortest=48:method=bilinear",
          "flip", "flip:vertical", "crop:1x1", "pad:400x500:white", "depth:8", "depth:16")
LAST = ("", "normalize:imagenet", "normalize:clip:dtype=float16", "normalize:siglip:layout=nhwc",
        "normalize:imagenet:formula=totensor")


def random_stages(numbers):
    stages = numbers.choices(STAGES, k=numbers.randint(1, 4))
    last = numbers.choice(LAST)
    return ",".join(stages + ["rgb", last] if last else stages)


def on_both(stages, call, **options):
    """What the call makes of a pipeline on each device: arrays as bytes with type and shape, errors as texts."""
    seen = []
    for device in ("cuda", "cpu"):
        try:
            seen.append(plain(call(imgpipe.Pipeline(stages, device=device, **options))))
        except (ValueError, TypeError, MemoryError, OSError) as error:
            seen.append(f"{type(error).__name__}: {error}")
    return seen


def plain(result):
    if isinstance(result, (list, tuple)):
        return [plain(each) for each in result]
    if isinstance(result, Exception):
        return f"{type(result).__name__}: {result}"
    if hasattr(result, "numpy"):
        result = result.numpy()
    return (result.dtype.str, result.shape, result.tobytes()) if isinstance(result, np.ndarray) else result


def check(seen, what):
    """Fails if the devices differ, without printing megabytes. Returns whether there is a result, not an error."""
    if seen[0] != seen[1]:
        short = [str(each)[:300] for each in seen]
        pytest.fail(f"{what}: cuda {short[0]}, cpu {short[1]}", pytrace=False)
    return not isinstance(seen[0], str)


def random_layout(numbers, stages):
    """A layout that the last stage allows, except one in 20."""
    if "normalize" in stages and numbers.random() > 0.05:
        return numbers.choice((None, "NHWC" if "nhwc" in stages else "NCHW"))
    return numbers.choice((None, "NHWC", "NCHW"))


@pytest.mark.parametrize("seed", range(40))
def test_arrays(seed):
    numbers = random.Random(seed)
    results = 0
    for _ in range(10):
        stages = random_stages(numbers)
        shape = (numbers.choice(AWKWARD), numbers.choice(AWKWARD), *numbers.choice(((), (2,), (3,), (3,), (4,))))
        array = noise(shape, numbers.choice((np.uint8, np.uint8, np.uint16)), seed)
        if numbers.random() < 0.2:
            array = (array / np.iinfo(array.dtype).max).astype(np.float32)
            stages = numbers.choice(("invert", "depth:16", f"depth:8,{stages}", stages))
        results += check(on_both(stages, lambda pipe: pipe(array)), f"seed {seed}: {stages} of {array.dtype} {shape}")
    assert results >= 5


@pytest.mark.parametrize("seed", range(60))
def test_batches_of_arrays(seed):
    """Arrays of mixed shapes, with boxes, flips and layouts. Some boxes leave their image."""
    numbers = random.Random(seed)
    stages = random_stages(numbers)
    if numbers.random() < 0.5:
        stages = f"resize:{numbers.choice(AWKWARD)}:{numbers.choice(AWKWARD)}:bilinear,{stages}"
    arrays = [noise((*numbers.choice(SIDES), 3), seed=seed + i) for i in range(numbers.randint(1, 12))]
    boxes = [random_box(numbers, *array.shape[:2]) for array in arrays] if numbers.random() < 0.7 else None
    flips = [numbers.random() < 0.5 for _ in arrays] if numbers.random() < 0.7 else None
    layout = random_layout(numbers, stages)
    for on_error in ("raise", "return", "skip"):
        check(on_both(stages, lambda pipe: pipe.batch(arrays, boxes=boxes, flips=flips), layout=layout,
                      on_error=on_error),
              f"seed {seed}: {stages}, layout={layout}, on_error={on_error}, boxes={boxes}, flips={flips}")


def random_box(numbers, height, width):
    """Top, left, height, width; one box in 15 is too large."""
    tall, wide = numbers.randint(1, height), numbers.randint(1, width)
    box = [numbers.randint(0, height - tall), numbers.randint(0, width - wide), tall, wide]
    if numbers.random() < 1 / 15:
        box[2] += height
    return tuple(box)


def files():
    """Files of every kind of decoder, small and large, oriented, damaged."""
    array, grey, deep = smooth_noise(97, 131, 1), noise((64, 50)), noise((33, 65), np.uint16)
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    made = {f"JPEG {name}": encoded(array, quality=85, **options) for name, options in {
        "4:2:0": {"subsampling": "4:2:0"}, "4:2:2": {"subsampling": "4:2:2"}, "4:4:4": {"subsampling": "4:4:4"},
        "progressive": {"progressive": True}, "optimised": {"optimize": True}, "turned": {"exif": exif}}.items()}
    made |= {f"JPEG {h}x{w}": encoded(smooth_noise(h, w, h), quality=90) for h, w in SIDES}
    made |= {"JPEG grey": encoded(grey), "PNG": encoded(array, "PNG"), "PNG grey": encoded(grey, "PNG"),
             "PNG 16": encoded(deep, "PNG"), "PNG RGBA": encoded(noise((20, 30, 4)), "PNG"),
             "PNG large": encoded(smooth_noise(1200, 1600, 5), "PNG"), "TIFF": encoded(array, "TIFF"),
             "JPEG large": encoded(smooth_noise(2000, 3000, 2), quality=90)}
    palette = io.BytesIO()
    PIL.Image.fromarray(array).quantize(16).save(palette, "PNG")
    cmyk = io.BytesIO()
    PIL.Image.fromarray(array).convert("CMYK").save(cmyk, "JPEG")
    whole = made["JPEG 4:2:0"]
    return made | {"PNG palette": palette.getvalue(), "JPEG CMYK": cmyk.getvalue(), "cut": whole[: len(whole) // 2],
                   "no end marker": whole[:-2], "empty": b"", "text": b"hello", "cut PNG": made["PNG"][:1000],
                   "changed": whole[:700] + bytes([whole[700] ^ 255]) + whole[701:]}


@pytest.fixture(name="named_files", scope="module")
def named_files_fixture():
    return files()


@pytest.mark.parametrize("seed", range(50))
def test_batches_of_files(seed, named_files):
    """Random files of all formats in one batch, among them damaged ones, with boxes and flips."""
    numbers = random.Random(seed)
    names = numbers.choices(list(named_files), k=numbers.randint(1, 24))
    sources = [named_files[name] for name in names]
    stages = numbers.choice(("rgb,resize:40:30:bilinear,", "gray,resize:31:17:bicubic,", "")) + random_stages(numbers)
    boxes = flips = None
    if numbers.random() < 0.5:
        boxes = [random_box(numbers, *(size_of(source) or (9, 9))) for source in sources]
    if numbers.random() < 0.5:
        flips = [numbers.random() < 0.5 for _ in sources]
    lenient = numbers.choice((False, True, "pillow"))
    for on_error in ("return", "skip", "raise"):
        check(on_both(stages, lambda pipe: pipe.batch(sources, boxes=boxes, flips=flips), lenient=lenient,
                      on_error=on_error),
              f"seed {seed}: {stages}, lenient={lenient}, on_error={on_error}, boxes={boxes}, {names}")


def size_of(source):
    try:
        return imgpipe.info(source).shape[:2]
    except imgpipe.DecodeError:
        return None


@pytest.mark.parametrize("lenient", [False, True, "pillow"])
def test_single_files(named_files, lenient):
    for name, source in named_files.items():
        for stages in ("gray,contrast:clip=0.5,smooth", "rgb,resize:33:57:bicubic,normalize:clip"):
            check(on_both(stages, lambda pipe: pipe.read(source), lenient=lenient), f"{name}: {stages}, read()")
        seen = []
        for device in ("cuda", "cpu"):
            try:
                seen.append(plain(imgpipe.decode(source, lenient=lenient, device=device)))
            except imgpipe.DecodeError as error:
                seen.append(str(error))
        check(seen, f"{name}: decode(), lenient={lenient}")


def test_batches_of_many_sizes():
    """1,000 images of different sizes in one batch."""
    numbers = random.Random(1)
    sources = [encoded(smooth_noise(numbers.randint(1, 200), numbers.randint(1, 200), seed), quality=80)
               for seed in range(100)] * 10
    stages = "rgb,resize:64:64:bilinear,normalize:imagenet:formula=totensor:dtype=float16"
    check(on_both(stages, lambda pipe: pipe.batch(sources)), stages)
