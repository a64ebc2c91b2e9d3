"""The input files for every row."""
import os
import struct

# The documentation page shows these.
LINES = ["imgpipe synth a.png --pattern photo --size 64x48",
         "imgpipe synth b.jpg --pattern photo --size 96x64",
         "imgpipe synth alpha.png --pattern photo --size 33x21 --channels 4",
         "imgpipe synth deep.png --pattern photo --size 40x30 --depth 16",
         "mkdir -p in/sub mixed && cp a.png b.jpg in/ && cp alpha.png in/sub/c.png && echo text > in/notes.txt",
         "head -c 1200 b.jpg > cut.jpg && cp a.png b.jpg cut.jpg mixed/",
         "for ending in png json svg; do echo foreign > foreign.$ending; done",
         "export small='--device cpu --size 64x64 --repeat 1 --format json'",
         "imgpipe bench $small --stage gray --plot mine.svg; imgpipe info a.png --json mine.json",
         "imgpipe in out/ --report done.ndjson; rm -r out",
         "imgpipe a.png hashed.png --hash --report hashed.json",
         "imgpipe --stages gray,invert --write-preset p.toml; imgpipe bench --template hist > my.cu",
         "sed 's/if (x >= width) return/while (clock64() != 0)/' my.cu > endless.cu"]
MORE = ["`stack.tif` is a TIFF of three pages; `bands.tif` has RGB and an unspecified band. `turned.jpg` is",
        "`b.jpg` with an Exif block of orientation 6 (a quarter turn). `signed.npy` holds 16-bit signed integers, all",
        "-2. `runs` holds the `.ndjson` reports of two shards of `mixed`."]


def stack(pages=3, width=20, height=10):
    """A TIFF of uncompressed grey pages; all samples of page N are 50 N."""
    size, at, out = width * height, 8, b""
    for page in range(pages):
        pixels = bytes([50 * (page + 1)]) * size
        entries = [(256, 3, width), (257, 3, height), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, at), (277, 3, 1),
                   (278, 3, height), (279, 4, size)]
        directory = struct.pack("<H", len(entries)) + b"".join(
            struct.pack("<HHI", tag, kind, 1) +
            (struct.pack("<HH", value, 0) if kind == 3 else struct.pack("<I", value)) for tag, kind, value in entries)
        after = at + size + len(directory) + 4
        out += pixels + directory + struct.pack("<I", 0 if page == pages - 1 else after + size)
        at = after
    return struct.pack("<2sHI", b"II", 42, 8 + size) + out


def bands(width=12, height=9):
    """A TIFF of four 8-bit bands, RGB and an unspecified one; all samples of band N are 50 N."""
    pixels = bytes([50, 100, 150, 200]) * (width * height)
    entries = [(256, 3, 1, width), (257, 3, 1, height), (258, 3, 4, 8 + len(pixels)), (259, 3, 1, 1), (262, 3, 1, 2),
               (273, 4, 1, 8), (277, 3, 1, 4), (278, 3, 1, height), (279, 4, 1, len(pixels)), (338, 3, 1, 0)]
    directory = struct.pack("<H", len(entries)) + b"".join(
        struct.pack("<HHII", tag, kind, count, value) for tag, kind, count, value in entries) + struct.pack("<I", 0)
    return struct.pack("<2sHI", b"II", 42, 16 + len(pixels)) + pixels + struct.pack("<4H", 8, 8, 8, 8) + directory


# A row of docs/contract-1.json.
FEW_DIGESTS = """{"imgpipe": "0", "schema": "imgpipe/contract/1", "contract": 1, "results": 20, "groups": {"smooth":
["7eb21a7abcb947cb800276a25e76745e0e8eb12ef80c8d7530cac608280e52d0 u8 0-19 smooth"]}}"""


def signed(width=12, height=9):
    """An .npy of signed 16-bit integers, all -2."""
    head = f"{{'descr': '<i2', 'fortran_order': False, 'shape': ({height}, {width}), }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<h", -2) * (width * height)


def turned(jpeg):
    """The JPEG with an Exif block after its start marker: orientation 6."""
    exif = b"Exif\0\0" + struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 0x112, 3, 1, 6, 0, 0)
    return jpeg[:2] + struct.pack(">2sH", b"\xff\xe1", len(exif) + 2) + exif + jpeg[2:]


def make(run, folder):
    """Makes the inputs. `run` runs a line of bash in `folder`."""
    for line in LINES + ["mkdir runs"] + [
            f"imgpipe mixed out{part} --shard {part}/2 --report runs/{part}.ndjson -q || true; rm -r out{part}"
            for part in (1, 2)]:
        done = run(line)
        assert done.code == 0, (line, done.err)
    with open(os.path.join(folder, "few.json"), "w", encoding="utf-8") as file:
        file.write(FEW_DIGESTS)
    with open(os.path.join(folder, "stack.tif"), "wb") as file:
        file.write(stack())
    with open(os.path.join(folder, "bands.tif"), "wb") as file:
        file.write(bands())
    with open(os.path.join(folder, "signed.npy"), "wb") as file:
        file.write(signed())
    with open(os.path.join(folder, "b.jpg"), "rb") as file:
        jpeg = file.read()
    with open(os.path.join(folder, "turned.jpg"), "wb") as file:
        file.write(turned(jpeg))
