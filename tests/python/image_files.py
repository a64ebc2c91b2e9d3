"""Images and files that tests read."""
import io
import pathlib
import warnings

import imgpipe
import numpy as np
import PIL.Image
import pytest

from made import noise

SEEDS = pathlib.Path(__file__).parents[1] / "fuzz" / "seeds"
CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}


def smooth(shape, dtype=np.uint8):
    """A ramp with some noise, so that lossy files keep its look."""
    rows, columns = np.indices(shape[:2])
    ramp = (rows * 3 + columns * 2) % 200
    image = (ramp if len(shape) == 2 else ramp[..., None]) + noise(shape, seed=3) % 40
    return (image.astype(dtype) * (257 if dtype == np.uint16 else 1)).astype(dtype)


def saved(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def pil(array, mode=None):
    return PIL.Image.fromarray(np.ascontiguousarray(array), mode)


def frames(count=3):
    return [pil(noise((17, 23), seed=i)) for i in range(count)]


def stack(count=3, kind="TIFF"):
    first, *others = frames(count)
    return saved(first, kind, save_all=True, append_images=others)


def with_orientation(image, orientation, kind="JPEG"):
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    return saved(image, kind, exif=exif)


def attempt(function, *arguments, **options):
    """Calls a function on hostile bytes; returns whether it accepted them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*arguments, **options)
    except (imgpipe.DecodeError, MemoryError) as error:
        text = str(error)
        assert text.isprintable() and len(text) < 400, text
        return False
    return True


@pytest.fixture(scope="session")
def files():
    """Files of every format that Pillow or imgpipe writes, by name."""
    made = {}
    for mode, channels in CHANNELS.items():
        array = smooth((37, 53) if channels == 1 else (37, 53, channels))
        for kind, extension in (("PNG", "png"), ("TIFF", "tif"), ("TGA", "tga"), ("BMP", "bmp"), ("WEBP", "webp")):
            if (kind, mode) != ("BMP", "LA"):
                made[f"{mode}.{extension}"] = saved(pil(array), kind)
        deep = smooth(array.shape, np.uint16)
        made[f"{mode}16.png"] = imgpipe.encode(deep)
        made[f"{mode}16.tif"] = imgpipe.encode(deep, "tiff")
        if channels in (1, 3):
            made[f"{mode}.pnm"] = saved(pil(array), "PPM")
            made[f"{mode}16.pnm"] = imgpipe.encode(deep, "pnm")
            made[f"{mode}.jpg"] = saved(pil(array), "JPEG", quality=80)
            made[f"{mode}progressive.jpg"] = saved(pil(array), "JPEG", progressive=True)
    colour = pil(smooth((61, 45, 3)))
    made["422.jpg"] = saved(colour, "JPEG", subsampling=1)
    made["cmyk.jpg"] = saved(colour.convert("CMYK"), "JPEG")
    made["cmyk.tif"] = saved(colour.convert("CMYK"), "TIFF")
    made["lossy.webp"] = saved(colour, "WEBP", quality=50)
    made["palette.png"] = saved(colour.quantize(20), "PNG")
    made["palette.gif"] = saved(colour.quantize(20), "GIF")
    made["transparent.png"] = saved(colour.quantize(20), "PNG", transparency=3)
    made["bilevel.png"] = saved(colour.convert("1"), "PNG")
    made["bilevel.tif"] = saved(colour.convert("1"), "TIFF", compression="group4")
    made["turned.jpg"] = with_orientation(colour, 6)
    made["stack.tif"] = stack()
    made["animation.gif"] = stack(kind="GIF")
    return made
