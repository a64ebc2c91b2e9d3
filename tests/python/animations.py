"""Animations made byte by byte, so that frames have any offset, disposal and blending, and a player for them."""
import dataclasses
import io
import struct
import zlib

import numpy as np
import PIL.Image

KEEP, CLEAR, RESTORE = range(3)


@dataclasses.dataclass
class Frame:
    """Pixels of the canvas's channels (with alpha, or RGBA for GIF), put at x, y."""
    pixels: np.ndarray
    x: int = 0
    y: int = 0
    disposal: int = KEEP
    blends: bool = True
    duration_ms: int = 100


def with_alpha(pixels, opaque):
    full = np.full(pixels.shape[:2] + (1,), opaque, pixels.dtype)
    return pixels if pixels.shape[2] in (2, 4) else np.concatenate([pixels, full], axis=2)


def over(source, canvas, most):
    """Source over destination in exact integers, each value rounded half up."""
    source, canvas = source.astype(object), canvas.astype(object)
    alpha, below = source[..., -1:], canvas[..., -1:]
    total = alpha * most + below * (most - alpha)
    divisor = np.where(total == 0, 1, total)
    colours = source[..., :-1] * alpha * most + canvas[..., :-1] * below * (most - alpha)
    blended = np.concatenate([(2 * colours + divisor) // (2 * divisor), (2 * total + most) // (2 * most)], axis=2)
    return np.where(alpha == 0, canvas, blended)


def played(width, height, frames):
    """What a player shows: a list of canvases with alpha. Where the canvas is clear, pixels replace it."""
    most = np.iinfo(frames[0].pixels.dtype).max
    canvas = np.zeros((height, width, frames[0].pixels.shape[2] // 2 * 2 + (2 if frames[0].pixels.shape[2] % 2 else 0)),
                      frames[0].pixels.dtype)
    cleared = np.ones((height, width, 1), bool)
    shown = []
    for frame in frames:
        pixels = with_alpha(frame.pixels, most)
        rows, columns = pixels.shape[:2]
        area = np.s_[frame.y:frame.y + rows, frame.x:frame.x + columns]
        before, cleared_before = canvas.copy(), cleared.copy()
        if frame.blends:
            pixels = np.where(cleared[area], pixels, over(pixels, canvas[area], most))
        canvas[area] = pixels
        shown.append(canvas.copy())
        if frame.disposal == KEEP:
            cleared[...] = False
        elif frame.disposal == CLEAR:
            canvas[area] = 0
            all_clear = cleared_before.all() or pixels.shape[:2] == (height, width)
            cleared[...] = all_clear
            cleared[area] = True
        else:
            canvas, cleared = before, cleared_before
    return shown


# ---- GIF -----------------------------------------------------------------------------------------------

def gif_data(indices, bits):
    """The indices without compression: a clear code before the codes would become longer."""
    codes, clear = [], 1 << bits
    for i, index in enumerate(indices.ravel()):
        if i % (clear - 2) == 0:
            codes.append(clear)
        codes.append(int(index))
    number = sum(code << (i * (bits + 1)) for i, code in enumerate(codes + [clear + 1]))
    data = number.to_bytes(((len(codes) + 1) * (bits + 1) + 7) // 8, "little")
    blocks = [data[i:i + 255] for i in range(0, len(data), 255)]
    return bytes([bits]) + b"".join(bytes([len(block)]) + block for block in blocks) + b"\0"


def gif_palette(bits):
    """Colours in RGBA; the last one is transparent."""
    palette = np.random.default_rng(bits).integers(0, 256, (1 << bits, 4)).astype(np.uint8)
    palette[:, 3] = 255
    palette[-1] = 0
    return palette


def gif(width, height, frames, bits=3):
    """`frames`: their pixels are indices, and `blends` says whether the last index is transparent."""
    palette = gif_palette(bits)
    parts = [b"GIF89a", struct.pack("<HHBBB", width, height, 0xF0 | (bits - 1), 0, 0), palette[:, :3].tobytes()]
    for frame in frames:
        rows, columns = frame.pixels.shape
        flags = (frame.disposal + 1) << 2 | frame.blends
        parts += [b"\x21\xf9\x04", struct.pack("<BHBB", flags, frame.duration_ms // 10, len(palette) - 1, 0),
                  b"\x2c", struct.pack("<HHHHB", frame.x, frame.y, columns, rows, 0), gif_data(frame.pixels, bits)]
    return b"".join(parts) + b";"


def gif_played(width, height, frames, bits=3):
    colours = gif_palette(bits)
    opaque = colours.copy()
    opaque[-1, 3] = 255
    return played(width, height, [
        dataclasses.replace(frame, pixels=(colours if frame.blends else opaque)[frame.pixels], blends=True)
        for frame in frames])


# ---- APNG ----------------------------------------------------------------------------------------------

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_stream(pixels):
    stored = pixels.astype(pixels.dtype.newbyteorder(">")).reshape(len(pixels), -1)
    return zlib.compress(b"".join(b"\0" + row.tobytes() for row in stored))


def apng(width, height, frames, default=None, extra=b""):
    """`default`: an image that is not a frame. `extra`: chunks before the pixels."""
    first = frames[0].pixels
    colour_type = {1: 0, 2: 4, 3: 2, 4: 6}[first.shape[2]]
    parts = [b"\x89PNG\r\n\x1a\n",
             chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8 * first.itemsize, colour_type, 0, 0, 0)),
             chunk(b"acTL", struct.pack(">II", len(frames), 0)), extra]
    if default is not None:
        parts.append(chunk(b"IDAT", png_stream(default)))
    sequence = 0
    for i, frame in enumerate(frames):
        rows, columns = frame.pixels.shape[:2]
        parts.append(chunk(b"fcTL", struct.pack(">IIIIIHHBB", sequence, columns, rows, frame.x, frame.y,
                                                frame.duration_ms, 1000, frame.disposal, frame.blends)))
        sequence += 1
        data = png_stream(frame.pixels)
        if i == 0 and default is None:
            parts.append(chunk(b"IDAT", data))
            continue
        for half in (data[:len(data) // 2], data[len(data) // 2:]):
            parts.append(chunk(b"fdAT", struct.pack(">I", sequence) + half))
            sequence += 1
    return b"".join(parts) + chunk(b"IEND", b"")


# ---- WebP ----------------------------------------------------------------------------------------------

def riff(kind, data):
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def webp(width, height, frames, lossless=True):
    sides = b"".join(struct.pack("<I", side - 1)[:3] for side in (width, height))
    parts = [riff(b"VP8X", struct.pack("<I", 0x12) + sides), riff(b"ANIM", bytes(6))]
    for frame in frames:
        file = io.BytesIO()
        PIL.Image.fromarray(frame.pixels).save(file, "WEBP", lossless=lossless, exact=True)
        still = file.getvalue()[12:]
        if still.startswith(b"VP8X"):
            still = still[18:]
        rows, columns = frame.pixels.shape[:2]
        fields = (frame.x // 2, frame.y // 2, columns - 1, rows - 1, frame.duration_ms)
        head = b"".join(struct.pack("<I", field)[:3] for field in fields)
        flags = (frame.disposal == CLEAR) | (not frame.blends) << 1
        parts.append(riff(b"ANMF", head + bytes([flags]) + still))
    body = b"WEBP" + b"".join(parts)
    return b"RIFF" + struct.pack("<I", len(body)) + body
