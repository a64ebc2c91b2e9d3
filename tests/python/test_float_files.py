"""Files of floats, and of signed and 32-bit integers: TIFF, PFM and NPY against numpy and Pillow, bit for bit."""
import fractions
import io
import json
import math
import os
import random
import struct
import subprocess
import warnings
import zlib

import imgpipe
import numpy as np
import PIL.Image
import pytest

INTEGERS = [np.uint32, np.int8, np.int16, np.int32]
SHAPES = [(1, 1), (1, 37), (41, 1), (13, 19), (7, 5, 2), (17, 11, 3), (9, 23, 4)]
SPECIAL = np.array([0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 1, 0x80000001, 0x80000000],
                   np.uint32).view(np.float32)


def values(shape, dtype, seed):
    """Random bits: every kind of NaN, infinity and denormal among them."""
    bits = np.random.default_rng(seed).bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize)
    array = np.frombuffer(bits, dtype).reshape(shape).copy()
    if dtype == np.float32:
        array.flat[:8] = SPECIAL[:array.size]
    return array


def same(got, expected):
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert got.tobytes() == np.ascontiguousarray(expected).tobytes()


def npy(array, version=(1, 0)):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version)
    return file.getvalue()


def converted(array, rule):
    """docs/pixels.md, in numpy."""
    least, most = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
    if rule == "value":
        return array.astype(np.float32)
    if rule == "unit":
        return (array.astype(np.float64) / most).astype(np.float32)
    white = 255 if array.dtype.itemsize == 1 else 65535
    above, span = array.astype(object) - least, most - least
    return ((above * white + span // 2) // span).astype(np.uint8 if white == 255 else np.uint16)


def widened(halves):
    """The floats of the same value; a NaN keeps its bits, which astype() would make quiet."""
    floats = halves.astype(np.float32).view(np.uint32)
    bits = halves.view(np.uint16).astype(np.uint32)
    nan = (bits & 0x7C00) == 0x7C00
    floats[nan] = (bits[nan] & 0x8000) << 16 | 0x7F800000 | (bits[nan] & 0x3FF) << 13
    return floats.view(np.float32)


def predicted(rows, predictor):
    """rows: height x width x samples in the file's byte order."""
    if predictor == 2:
        bits = rows.view(rows.dtype.str[0] + "u" + str(rows.itemsize))
        return np.concatenate([bits[:, :1], np.diff(bits, axis=1)], axis=1).astype(bits.dtype).tobytes()
    if predictor == 3:
        height, width, samples = rows.shape
        big = rows.astype(rows.dtype.newbyteorder(">")).view(np.uint8).reshape(height, width * samples, -1)
        planes = np.ascontiguousarray(big.transpose(0, 2, 1)).reshape(height, -1, samples)
        return np.concatenate([planes[:, :1], np.diff(planes, axis=1)], axis=1).astype(np.uint8).tobytes()
    return rows.tobytes()


def tiff(array, order="<", predictor=1, tile=0, separate=False, deflate=False):
    """A TIFF, written from TIFF 6.0 and Technical Note 3 alone."""
    image = array.astype(array.dtype.newbyteorder(order)).reshape(*array.shape[:2], -1)
    height, width, samples = image.shape
    planes = [image[..., i:i + 1] for i in range(samples)] if separate else [image]
    rows, columns = (tile, tile) if tile else (5, width)
    chunks = []
    for plane in planes:
        for y in range(0, height, rows):
            for x in range(0, width, columns):
                chunk = plane[y:y + rows, x:x + columns]
                if tile:
                    chunk = np.pad(chunk, ((0, rows - chunk.shape[0]), (0, columns - chunk.shape[1]), (0, 0)))
                data = predicted(np.ascontiguousarray(chunk), predictor)
                chunks.append(zlib.compress(data) if deflate else data)
    kind = {"u": 1, "i": 2, "f": 3}[array.dtype.kind]
    offsets, at = [], 8
    for chunk in chunks:
        offsets.append(at)
        at += len(chunk)
    sizes = [len(chunk) for chunk in chunks]
    fields = [(256, "I", [width]), (257, "I", [height]), (258, "H", [8 * array.itemsize] * samples),
              (259, "H", [8 if deflate else 1]), (262, "H", [2 if samples > 2 else 1]),
              (277, "H", [samples]), (284, "H", [2 if separate else 1]), (317, "H", [predictor]),
              (338, "H", [2] if samples in (2, 4) else []), (339, "H", [kind] * samples)]
    fields += [(322, "I", [tile]), (323, "I", [tile]), (324, "I", offsets), (325, "I", sizes)] if tile else [
        (273, "I", offsets), (278, "I", [rows]), (279, "I", sizes)]
    fields = sorted(field for field in fields if field[2])
    directory = struct.pack(order + "H", len(fields))
    more, more_at = b"", at + 2 + 12 * len(fields) + 4
    for tag, kind, numbers in fields:
        data = struct.pack(f"{order}{len(numbers)}{kind}", *numbers)
        directory += struct.pack(order + "HHI", tag, {"H": 3, "I": 4}[kind], len(numbers))
        if len(data) > 4:
            directory += struct.pack(order + "I", more_at + len(more))
            more += data
        else:
            directory += data.ljust(4, b"\0")
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", at)
    return head + b"".join(chunks) + directory + struct.pack(order + "I", 0) + more


def pfm(array, order="<", scale=1):
    head = f"{'PF' if array.ndim == 3 else 'Pf'}\n{array.shape[1]} {array.shape[0]}\n{'-' * (order == '<')}{scale}\n"
    return head.encode() + array[::-1].astype(array.dtype.newbyteorder(order)).tobytes()


@pytest.mark.parametrize("shape", SHAPES)
def test_npy(shape):
    for seed, dtype in enumerate([np.uint8, np.uint16, np.float32]):
        array = values(shape, dtype, seed)
        for order in "<>":
            for version in ((1, 0), (2, 0), (3, 0)):
                same(imgpipe.decode(npy(array.astype(array.dtype.newbyteorder(order)), version)), array)
        written = imgpipe.encode(array, "npy")
        same(np.load(io.BytesIO(written)), array)
        same(imgpipe.decode(written), array)


@pytest.mark.parametrize("shape", SHAPES)
def test_tiff(shape):
    array = values(shape, np.float32, 1)
    for order in "<>":
        for predictor, deflate in ((1, False), (1, True), (2, True), (3, True)):
            for tile in (0, 16):
                for separate in (False, True):
                    file = tiff(array, order, predictor, tile, separate, deflate)
                    same(imgpipe.decode(file), array)
    same(imgpipe.decode(imgpipe.encode(array, "tiff")), array)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rule", ["value", "unit", "range"])
def test_integers(shape, rule):
    for seed, dtype in enumerate(INTEGERS):
        array = values(shape, dtype, seed)
        array.flat[:2] = [np.iinfo(dtype).min, np.iinfo(dtype).max][:array.size]
        expected = converted(array, rule)
        for order in "<>":
            same(imgpipe.decode(npy(array.astype(array.dtype.newbyteorder(order))), integers=rule), expected)
            same(imgpipe.decode(tiff(array, order, 2, 0, order == ">", True), integers=rule), expected)
            same(imgpipe.decode(tiff(array, order), integers=rule), expected)


def test_halves():
    array = np.arange(65536, dtype=np.uint16).view(np.float16).reshape(256, 256)
    for order in "<>":
        same(imgpipe.decode(npy(array.astype(array.dtype.newbyteorder(order)))), widened(array))
        same(imgpipe.decode(tiff(array, order, 3, 16, False, True)), widened(array))


def test_pfm():
    for shape in ((1, 1), (1, 9), (11, 1), (13, 17), (5, 7, 3)):
        array = values(shape, np.float32, 2)
        for order in "<>":
            same(imgpipe.decode(pfm(array, order)), array)
        written = imgpipe.encode(array, "pfm")
        same(imgpipe.decode(written), array)
        _, size, scale, rest = written.split(b"\n", 3)
        assert size.split() == [str(shape[1]).encode(), str(shape[0]).encode()] and float(scale) == -1
        assert rest == array[::-1].tobytes()
    with pytest.warns(imgpipe.DamageWarning, match="scale factor 2.5"):
        same(imgpipe.decode(pfm(values((3, 4), np.float32, 0), scale=2.5)), values((3, 4), np.float32, 0))


def test_against_pillow():
    array = values((45, 37), np.float32, 5)
    for compression in (None, "tiff_deflate", "tiff_lzw", "packbits"):
        file = io.BytesIO()
        PIL.Image.fromarray(array).save(file, "TIFF", compression=compression)
        same(imgpipe.decode(file.getvalue()), array)
    same(np.asarray(PIL.Image.open(io.BytesIO(imgpipe.encode(array, "tiff")))), array)


def test_bands_and_orders():
    array = values((9, 8, 4), np.float32, 7)
    for separate in (False, True):
        file = tiff(array, ">", 3, 16, separate, True)
        same(imgpipe.decode(file, bands=[3, 1, 2]), np.ascontiguousarray(array[..., [2, 0, 1]]))
        same(imgpipe.decode(file, bands=4), np.ascontiguousarray(array[..., 3]))
        same(imgpipe.decode(file, bands=[2, 2, 2]), np.ascontiguousarray(array[..., [1, 1, 1]]))
    grey = values((9, 8), np.float32, 7)
    same(imgpipe.decode(tiff(grey), bands=[1, 1, 1]), np.repeat(grey[..., None], 3, axis=2))


def test_refusals():
    array = np.zeros((4, 5), np.int16)
    for file in (npy(array), tiff(array)):
        with pytest.raises(imgpipe.DecodeError, match="16-bit signed integers need a rule; choose integers=value, "):
            imgpipe.decode(file)
    for bad, message in ((np.zeros((4, 5), np.float64), "'<f8' are not supported"),
                         (np.zeros((4, 5, 5), np.uint8), r"got \(4, 5, 5\)"),
                         (np.zeros(4, np.uint8), r"got \(4\)"),
                         (np.asfortranarray(np.zeros((4, 5), np.uint8)), "Fortran order"),
                         (np.zeros((0, 5), np.uint8), "width or height is 0"),
                         (np.zeros((4, 5), [("a", "<f4")]), "structured arrays")):
        with pytest.raises(imgpipe.DecodeError, match=message):
            imgpipe.decode(npy(bad))
    with pytest.raises(imgpipe.DecodeError, match="truncated"):
        imgpipe.decode(npy(array.astype(np.uint8))[:-1])
    with pytest.raises(imgpipe.DecodeError, match="signed samples of 64|samples of 64 bits"):
        imgpipe.decode(tiff(np.zeros((4, 5), np.int64).view(np.float64)))
    with pytest.raises(ValueError, match="pfm stores float32, got uint8"):
        imgpipe.encode(np.zeros((2, 2), np.uint8), "pfm")
    with pytest.raises(ValueError, match="png cannot store float32"):
        imgpipe.encode(np.zeros((2, 2), np.float32), "png")


def test_hostile_headers():
    """Changed bytes of headers end in an error or in an image, never otherwise."""
    random.seed(5)
    good = [npy(values((5, 6), np.float32, 0)), npy(np.zeros((3, 4, 3), np.int16)), pfm(values((5, 6), np.float32, 0)),
            tiff(values((5, 6), np.float32, 0), "<", 3, 16, False, True)]
    texts = [b"'shape': (99999999999999999999, 5)", b"'shape': (-1, 5)", b"'shape': (2147483648, 2147483648)",
             b"'shape': (5, 6, 4611686018427387904)", b"'shape': ((5, 6))", b"'shape': ", b"'shape': (5 6)"]
    files = [npy(np.zeros((5, 6), np.uint8)).replace(b"'shape': (5, 6)", text) for text in texts]
    files += [b"Pf\n99999999999 5\n-1.0\n", b"PF\n-5 5\n-1.0\n", b"Pf\n5 5\n0\n", b"Pf\n5 5\nnan\n", b"Pf\n5", b"PF\n",
              b"\x93NUMPY", b"\x93NUMPY\x02\x00\xff\xff\xff\xff", b"\x93NUMPY\x04\x00\x10\x00"]
    for _ in range(2000):
        file = bytearray(random.choice(good))
        for _ in range(random.randint(1, 4)):
            file[random.randrange(min(len(file), 128) if random.random() < 0.8 else len(file))] = random.randrange(256)
        files.append(bytes(file[:random.randrange(len(file) + 1)]) if random.random() < 0.3 else bytes(file))
    warnings.simplefilter("ignore", imgpipe.DamageWarning)
    for file in files:
        try:
            imgpipe.decode(file, integers="value", max_pixels=100_000)
        except imgpipe.DecodeError as error:
            assert "\n" not in str(error)
        except MemoryError:
            pass


def run(*arguments):
    return subprocess.run([os.environ["IMGPIPE_PROGRAM"], *map(str, arguments), "-q"], check=True, capture_output=True)


def test_program_streams_large_files(tmp_path):
    """Files that are read row by row, through every writer and two devices."""
    array = values((700, 811, 3), np.float32, 11)
    np.save(tmp_path / "a.npy", array.astype(">f4"))
    for before, after in (("a.npy", "a.tif"), ("a.tif", "a.pfm"), ("a.pfm", "b.npy"), ("b.npy", "b.tif")):
        more = ["--tiff-compression", "lzw", "--tiff-tile", "256"] if after == "b.tif" else []
        run(tmp_path / before, tmp_path / after, "--stages", "none", "--device", "cpu", *more)
    for name in ("a.tif", "a.pfm", "b.npy", "b.tif"):
        same(imgpipe.read(tmp_path / name), array)
    made = [tmp_path / f"{device}.npy" for device in ("cpu", "reference")]
    for path in made:
        run(tmp_path / "a.pfm", path, "--stages", "resize:90:61,invert,smooth", "--device", path.stem)
    same(np.load(made[0]), np.load(made[1]))


def exact(array):
    """docs/stats.md, with exact fractions."""
    finite = array[np.isfinite(array)]
    numbers = [fractions.Fraction(float(value)) for value in finite]
    total, count = sum(numbers), len(numbers)
    radicand = count * sum(number * number for number in numbers) - total * total
    # A double holds the radicand in units of the square of the least denormal.
    deviation = math.ldexp(math.sqrt(float(radicand * 2**298)) / count, -149)
    return {"samples": array.size, "nan": int(np.isnan(array).sum()), "positive_infinite": int((array == np.inf).sum()),
            "negative_infinite": int((array == -np.inf).sum()), "min": float(finite.min()), "max": float(finite.max()),
            "mean": float(total) / count, "deviation": deviation}


def test_statistics(tmp_path):
    arrays = [values((37, 29), np.float32, 1), values((19, 23), np.float32, 2),
              np.random.default_rng(3).normal(0.25, 0.5, (41, 43)).astype(np.float32)]
    for index, array in enumerate(arrays):
        np.save(tmp_path / f"{index}.npy", array)
    everything = np.concatenate([array.ravel() for array in arrays])
    finite = everything[np.isfinite(everything)].astype(np.float64)
    found = None
    for jobs in (1, 3):
        run("stats", tmp_path, "--json", tmp_path / "s.json", "--overwrite", "--jobs", jobs, "--range=-1:1.5",
            "--bins", 11, "--per-image", tmp_path / "s.ndjson")
        text = (tmp_path / "s.json").read_text()
        assert found in (None, text)
        found = text
    channel = json.loads(found)["float_groups"][0]["channels"]["grey"]
    histogram = channel.pop("histogram")
    assert channel == exact(everything)
    assert histogram["counts"] == np.histogram(finite, 11, (-1, 1.5))[0].tolist()
    assert histogram["below"] == (finite < -1).sum() and histogram["above"] == (finite > 1.5).sum()
    rows = [json.loads(line) for line in (tmp_path / "s.ndjson").read_text().splitlines()]
    assert [row["float_channels"]["grey"] for row in rows] == [exact(array) for array in arrays]


def counted(plane, lo, hi):
    """docs/pixels.md, "hist": the bins, and the samples below, above and NaN."""
    doubles = plane.astype(np.float64)
    return (np.histogram(doubles, 256, (lo, hi))[0].tolist(),
            [int((doubles < lo).sum()), int((doubles > hi).sum()), int(np.isnan(doubles).sum())])


@pytest.mark.parametrize("lo, hi", [(0.25, 2), (-0.75, 1e-3), (0.1, 0.1000001), (-3.4e38, 3.4e38), (1e-45, 1e-40)])
def test_histogram(tmp_path, lo, hi):
    edges = np.linspace(lo, hi, 257).astype(np.float32)
    near = np.concatenate([edges, np.nextafter(edges, np.float32(9)), np.nextafter(edges, np.float32(-9))])
    for shape in ((37, 29), (31, 43, 3)):
        array = values(shape, np.float32, 4)
        array.flat[-len(near):] = near
        np.save(tmp_path / "a.npy", array)
        for device in ("cpu", "reference"):
            run(tmp_path / "a.npy", tmp_path / "b.npy", "--stages", f"hist:{lo}:{hi},invert", "--device", device,
                "--overwrite", "--histogram", tmp_path / "h.json", "--json", tmp_path / "r.json")
            found = json.loads((tmp_path / "h.json").read_text())
            report = json.loads((tmp_path / "r.json").read_text())["outside"]
            for when, image in (("before", array), ("after", np.load(tmp_path / "b.npy"))):
                planes = image.reshape(*image.shape[:2], -1)
                for number, (name, counts) in enumerate(found[when]["counts"].items()):
                    outside = found[when]["limits"]["outside"][name]
                    assert (counts, outside) == counted(planes[..., number], lo, hi)
                    if when == "before":
                        assert report[number] == {"step": f"hist:{lo}:{hi}", "plane": number, "lo": lo, "hi": hi,
                                                  "below": outside[0], "above": outside[1], "nan": outside[2]}
