"""encode() and write(): the program's bytes, what formats hold, atomic files, metadata."""
import errno
import io
import os
import subprocess
import warnings

import imgpipe
import numpy as np
import PIL.Image
import PIL.ImageCms
import pytest

from image_files import pil, saved, smooth
from made import noise


def test_bytes_are_the_programs(program):
    """The program reads from standard input, because its mark names an input that has a name."""
    cases = [("png", {}, []), ("png", {"level": 6}, ["--png-level", "6"]), ("png", {"level": 0}, ["--png-level", "0"]),
             ("tiff", {}, []), ("tiff", {"level": 9}, ["--png-level", "9"]), ("bmp", {}, []), ("tga", {}, []),
             ("webp", {}, []), ("webp", {"level": 5}, ["--webp-level", "5"]),
             ("webp", {"quality": 70}, ["--webp", "lossy", "--quality", "70"]),
             ("jpeg", {}, []), ("jpeg", {"quality": 33}, ["--quality", "33"]), ("pnm", {}, [])]
    for channels, dtype in ((1, np.uint8), (2, np.uint8), (3, np.uint8), (4, np.uint8), (1, np.uint16), (4, np.uint16)):
        array = smooth((45, 67) if channels == 1 else (45, 67, channels), dtype)
        source = imgpipe.encode(array, "png")
        for format, options, arguments in cases:
            is_lossy = channels in (2, 4) and format in ("jpeg", "pnm")
            if is_lossy or (dtype == np.uint16 and format not in ("png", "tiff")):
                continue
            result = subprocess.run([program, "-", "-", "--stages", "none", "--format", format, "-q", *arguments],
                                    input=source, capture_output=True, check=True)
            assert imgpipe.encode(array, format, **options) == result.stdout, (format, channels, dtype, options)


def test_images_of_all_kinds(tmp_path):
    array = noise((20, 30, 3))

    class Tensor:  # pylint: disable=too-few-public-methods
        def __array__(self, dtype=None, copy=None):
            return array

    wanted = imgpipe.encode(array)
    for image in (pil(array), Tensor(), np.asfortranarray(array), array[::-1].copy()[::-1]):
        assert imgpipe.encode(image) == wanted
    deep = noise((20, 30), np.uint16)
    np.testing.assert_array_equal(imgpipe.decode(imgpipe.encode(PIL.Image.fromarray(deep))), deep)
    np.testing.assert_array_equal(imgpipe.decode(imgpipe.encode(array[..., ::-1], "bmp")), array[..., ::-1])
    for extension, format in (("png", "png"), ("PNG", "png"), ("tif", "tiff"), ("jpeg", "jpeg"), ("jpg", "jpeg"),
                              ("ppm", "ppm"), ("pnm", "ppm"), ("webp", "webp"), ("bmp", "bmp"), ("tga", "tga")):
        path = tmp_path / f"out.{extension}"
        imgpipe.write(path, array)
        assert imgpipe.info(path).format == format
        assert path.read_bytes() == imgpipe.encode(array, format)
    imgpipe.write(tmp_path / "noextension", array, format="png", level=9)
    assert (tmp_path / "noextension").read_bytes() == imgpipe.encode(array, level=9)


def test_write_is_atomic(tmp_path):
    path = tmp_path / "out.png"
    old, new = noise((10, 10)), noise((20, 20))
    imgpipe.write(path, old)
    path.chmod(0o640)
    with pytest.raises(FileExistsError) as raised:
        imgpipe.write(path, new)
    assert raised.value.filename == str(path) and "overwrite=True" in str(raised.value)
    np.testing.assert_array_equal(imgpipe.read(path), old)
    inode = path.stat().st_ino
    imgpipe.write(path, new, overwrite=True)
    np.testing.assert_array_equal(imgpipe.read(path), new)
    assert path.stat().st_ino != inode and path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(ValueError):
        imgpipe.write(path, new.astype(np.float32), overwrite=True)
    np.testing.assert_array_equal(imgpipe.read(path), new)
    for path in (tmp_path / "missing" / "x.png", tmp_path):
        with pytest.raises(OSError, match=str(path)):
            imgpipe.write(path, new, format="png")
    assert sorted(os.listdir(tmp_path)) == ["out.png"]


def test_system_errors_have_numbers(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "full.png").symlink_to("/dev/full")
    image = noise((300, 400, 3))
    data = imgpipe.encode(image)
    cases = [("gone/x.png", FileNotFoundError, errno.ENOENT), ("file/x.png", NotADirectoryError, errno.ENOTDIR),
             (".", IsADirectoryError, errno.EISDIR), ("full.png", OSError, errno.ENOSPC),
             ("x" * 300 + ".png", OSError, errno.ENAMETOOLONG)]
    for name, kind, number in cases:
        path = str(tmp_path / name)
        calls = [lambda: imgpipe.write(path, image, format="png", overwrite=True)]
        if name != ".":
            calls.append(lambda: imgpipe.Pipeline("gray").convert(data, path, overwrite=True))
        for call in calls:
            with pytest.raises(kind) as raised:
                call()
            assert (raised.value.errno, raised.value.filename) == (number, path), raised.value
            assert "\n" not in str(raised.value) and str(raised.value).count(path) == 1


def test_what_a_format_cannot_hold(tmp_path):
    grey, deep, alpha = noise((5, 5)), noise((5, 5), np.uint16), noise((5, 5, 4))
    colour = noise((5, 5, 3))
    cases = [("jpeg stores 8 bits per sample, got uint16; convert.*depth:8.*write png.*tiff", deep, "jpeg", {}),
             ("webp stores 8 bits", deep, "webp", {}), ("jpeg cannot store alpha; remove.*flatten", alpha, "jpeg", {}),
             ("ppm cannot store alpha", alpha, "ppm", {}), ("pgm stores only grey", colour, "pgm", {}),
             ("png cannot store float32", grey.astype(np.float32), "png", {}),
             ("quality: png has none; set level, 0 to 9", grey, "png", {"quality": 90}),
             ("quality: bmp has none$", grey, "bmp", {"quality": 90}),
             ("level: jpeg has none; set quality, 1 to 100", grey, "jpeg", {"level": 3}),
             ("quality: expected 1 to 100, got 101", grey, "jpeg", {"quality": 101}),
             ("quality: expected 1 to 100, got 0", grey, "jpeg", {"quality": 0}),
             ("level: expected 0 to 9, got -1", grey, "png", {"level": -1}),
             ("threads: expected 0 to 1024, got -1", grey, "png", {"threads": -1}),
             ("format: must be one of .*did you mean jpeg", grey, "jpge", {}),
             ("format: must be one of", grey, "gif", {})]
    for part, image, format, options in cases:
        with pytest.raises(ValueError, match=part) as raised:
            imgpipe.encode(image, format, **options)
        assert len(str(raised.value)) < 200 and "--" not in str(raised.value)
        if "threads" not in options:
            with pytest.raises(ValueError):
                imgpipe.write(tmp_path / f"x.{format}", image, **options)
    for part, call in {"quality: expected int, got float": lambda: imgpipe.encode(grey, "jpeg", quality=9.5),
                       "quality: expected int, got str": lambda: imgpipe.encode(grey, "jpeg", quality="high"),
                       "format: expected str.*got int": lambda: imgpipe.encode(grey, 3),
                       "path: expected str or os.PathLike, got BytesIO; .*encode":
                           lambda: imgpipe.write(io.BytesIO(), grey),
                       "image: npy stores tensors; expected 3 dimensions of float": lambda: imgpipe.encode(grey, "npy"),
                       "image: expected numpy.uint8.*got int8": lambda: imgpipe.encode(grey.view(np.int8)),
                       r"image\[1\]: expected numpy.uint8.*got float64":
                           lambda: imgpipe.encode([grey, grey.astype(np.float64)]),
                       "image: unsupported PIL mode P": lambda: imgpipe.encode(PIL.Image.new("P", (3, 3))),
                       "image: expected a numpy array.*got bytes": lambda: imgpipe.encode(b"x" * 10**6)}.items():
        with pytest.raises(TypeError, match=part) as raised:
            call()
        assert len(str(raised.value)) < 250
    for part, path, options in (("cannot write .xyz files", "a.xyz", {}), ("has no extension", "a", {}),
                                ("cannot write .gif files", "a.gif", {}),
                                ("format: jpeg contradicts the extension, which is that of png", "a.png",
                                 {"format": "jpeg"})):
        with pytest.raises(ValueError, match=part):
            imgpipe.write(tmp_path / path, grey, **options)
    assert os.listdir(tmp_path) == []


def test_tensors(tmp_path):
    for dtype in (np.float32, np.float16):
        tensor = np.random.default_rng(5).normal(size=(3, 7, 9)).astype(dtype)
        for array in (tensor, tensor.transpose(1, 2, 0), tensor[:, ::2]):
            imgpipe.write(tmp_path / "a.npy", array, overwrite=True)
            read = np.load(tmp_path / "a.npy")
            assert read.dtype == dtype
            np.testing.assert_array_equal(read, array)
            assert imgpipe.encode(array, "safetensors").endswith(array.tobytes())


def test_metadata_is_what_the_program_preserves(tmp_path, program):
    exif = PIL.Image.Exif()
    exif[0x010F], exif[0x0112] = "A camera", 6
    image = pil(smooth((30, 20, 3)))
    profile = PIL.ImageCms.ImageCmsProfile(PIL.ImageCms.createProfile("LAB")).tobytes()
    for kind, format in (("JPEG", "png"), ("JPEG", "jpeg"), ("PNG", "tiff"), ("TIFF", "jpeg"), ("JPEG", "webp")):
        source = tmp_path / f"in.{kind.lower()}"
        image.save(source, kind, exif=exif, dpi=(150, 150))
        out = tmp_path / f"out.{format}"
        with open(source, "rb") as file:
            result = subprocess.run([program, "-", "-", "--stages", "none", "--format", format, "-q"], stdin=file,
                                    capture_output=True, check=True)
        for metadata in (source, source.read_bytes(), imgpipe.info(source)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                imgpipe.write(out, imgpipe.read(source), metadata=metadata, overwrite=True)
            assert out.read_bytes() == result.stdout, (kind, format)
        assert dict(PIL.Image.open(out).getexif())[0x010F] == "A camera"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        imgpipe.write(tmp_path / "small.png", imgpipe.read(source)[::2, ::2], metadata=source)
        imgpipe.write(tmp_path / "small.bmp", imgpipe.read(source), metadata=source)
        source.write_bytes(saved(image, "JPEG", icc_profile=profile))
        imgpipe.encode([image, image], "png", metadata=source)
    assert all(one.filename == __file__ for one in seen)
    assert [str(one.message)[:60] for one in seen] == [
        "dropped metadata: resolution (resized)", "dropped metadata: EXIF (bmp cannot store it)"] + [
        str(one.message)[:60] for one in seen[2:]]
    assert "metadata" in str(seen[1].message)
    with pytest.raises(ValueError, match="metadata: this ImageInfo has no path"):
        imgpipe.encode(image, metadata=imgpipe.info(source.read_bytes()))
    with pytest.raises(TypeError, match="metadata: expected a path"):
        imgpipe.encode(image, metadata=3)
    with pytest.raises(imgpipe.DecodeError):
        imgpipe.encode(image, metadata=b"no image")
