#!/usr/bin/env python3
"""Checks metadata through imgpipe, written and read by Pillow: ICC profile, EXIF, XMP, IPTC, texts, dots per inch.

    metadata_compare.py IMGPIPE

Pillow makes a JPEG, a PNG, a TIFF and a WebP with all of it, imgpipe converts each to each format, and Pillow opens the
results. The profile and the camera's EXIF data must be equal, the orientation 1, the size the result's, the thumbnail
gone, the dots per inch equal except for PNG's rounding. Then: the dots per inch of a BMP, IPTC and comments of a JPEG,
texts of a PNG, a PNG's orientation that only XMP states. Prints what it compared; exits with 1 after a difference.
"""
import os
import subprocess
import sys
import tempfile

from PIL import Image, ImageCms, ImageOps, IptcImagePlugin, TiffImagePlugin
from PIL.PngImagePlugin import PngInfo

ENDINGS = ["jpg", "png", "tif", "webp"]
XMP = (b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
       b"<rdf:Description rdf:about='' xmlns:dc='http://purl.org/dc/elements/1.1/' dc:format='test'/>"
       b"</rdf:RDF></x:xmpmeta>")


def exif_block():
    exif = Image.Exif()
    exif[0x010F] = "Maker"
    exif[0x0110] = "Model 1"
    exif[0x0112] = 6
    exif[0x8298] = "A Person"
    # As dictionaries, because Pillow 9 does not write values that were set through get_ifd().
    exif[0x8769] = {0x829A: 0.004, 0x9003: "2024:01:02 03:04:05", 0xA002: 99}
    exif[0x8825] = {1: "N", 2: (48.0, 8.0, 1.5)}
    return exif


def save(image, path, profile):
    more = {"icc_profile": profile}
    if path.endswith("tif"):
        fields = TiffImagePlugin.ImageFileDirectory_v2()
        for tag, value in exif_block().items():
            fields[tag] = value
        fields[700] = XMP
        more["tiffinfo"] = fields
        more["dpi"] = (300, 300)
    else:
        more["exif"] = exif_block().tobytes()
    if path.endswith(("jpg", "png")):
        more["dpi"] = (300, 300)
    if path.endswith("webp"):
        more["xmp"] = XMP
        more["lossless"] = True
    if path.endswith("png"):
        info = PngInfo()
        info.add_itxt("XML:com.adobe.xmp", XMP.decode())
        more["pnginfo"] = info
    image.save(path, **more)
    if path.endswith("jpg"):  # older versions of Pillow write no XMP
        with open(path, "rb") as file:
            data = file.read()
        payload = b"http://ns.adobe.com/xap/1.0/\0" + XMP
        segment = b"\xff\xe1" + (len(payload) + 2).to_bytes(2, "big") + payload
        with open(path, "wb") as file:
            file.write(data[:2] + segment + data[2:])


def xmp_of(path):
    with open(path, "rb") as file:
        return XMP in file.read()


def differences(path, source_ending, size, profile):
    found = []
    with Image.open(path) as image:
        image.load()
        exif = image.getexif()
        if image.size != size:
            found.append(f"size {image.size}")
        if image.info.get("icc_profile") != profile:
            found.append("profile")
        for tag, value in ((0x010F, "Maker"), (0x0110, "Model 1"), (0x8298, "A Person"), (0x0112, 1)):
            if exif.get(tag) != value:
                found.append(f"field {tag:#x}: {exif.get(tag)!r}")
        camera = exif.get_ifd(0x8769)
        if abs(float(camera.get(0x829A, 0)) - 0.004) > 1e-9:
            found.append(f"exposure {camera.get(0x829A)}")
        if camera.get(0x9003) != "2024:01:02 03:04:05":
            found.append(f"date {camera.get(0x9003)!r}")
        if camera.get(0xA002) != size[0]:
            found.append(f"width in EXIF {camera.get(0xA002)}")
        place = exif.get_ifd(0x8825)
        if place.get(1) != "N" or [float(v) for v in place.get(2, ())] != [48.0, 8.0, 1.5]:
            found.append(f"place {dict(place)}")
        dots = image.info.get("dpi")
        if not path.endswith("webp") and source_ending != "webp":
            if not dots or any(abs(float(d) - 300) > 0.01 for d in dots):
                found.append(f"dots per inch {dots}")
    if not xmp_of(path):
        found.append("XMP")
    return found


def rows_of_other_kinds(image, folder, convert):
    """Yields a name and an error, "" if there is none."""
    def path(name):
        return os.path.join(folder, name)

    def opened(name):
        found = Image.open(path(name))
        found.load()
        return found

    holders = ("jpg", "png", "tif")
    for source, target in [("bmp", e) for e in (*holders, "bmp")] + [(e, "bmp") for e in holders]:
        image.save(path("dots." + source), dpi=(300, 300))
        for stage, expected in (("smooth", 300), ("resize:12:5", None)):
            convert(path("dots." + source), path("made." + target), stage)
            dots = opened("made." + target).info.get("dpi", (0, 0))[0]
            # Pillow returns 96 for a BMP and 1 for a TIFF without resolution.
            right = abs(float(dots) - 300) < 0.02 if expected else float(dots) in (0, 1, 96)
            yield f"{source} -> {target}, dots per inch, {stage}", "" if right else f"{dots}"

    image.save(path("iptc.jpg"), comment=b"by hand")
    datasets = b"".join(b"\x1c\x02" + bytes([tag]) + len(text).to_bytes(2, "big") + text
                        for tag, text in ((25, b"key one"), (120, b"caption")))
    resource = b"8BIM\x04\x04\0\0" + len(datasets).to_bytes(4, "big") + datasets + b"\0" * (len(datasets) % 2)
    payload = b"Photoshop 3.0\0" + resource
    with open(path("iptc.jpg"), "rb") as file:
        data = file.read()
    with open(path("iptc.jpg"), "wb") as file:
        file.write(data[:2] + b"\xff\xed" + (len(payload) + 2).to_bytes(2, "big") + payload + data[2:])
    wanted = IptcImagePlugin.getiptcinfo(opened("iptc.jpg"))
    previous = "iptc.jpg"
    for target in ("tif", "jpg", "png", "jpg"):
        convert(path(previous), path("iptc_made." + target), "smooth")
        if target != "png":  # Pillow reads none from PNG
            found = IptcImagePlugin.getiptcinfo(opened("iptc_made." + target))
            yield f"{previous} -> {target}, IPTC", "" if wanted and found == wanted else f"{found}"
        previous = "iptc_made." + target
    convert(path("iptc.jpg"), path("comment.png"), "smooth")
    yield "jpg -> png, comment", "" if opened("comment.png").text.get("Comment") == "by hand" else "missing"

    texts = PngInfo()
    texts.add_text("Title", "a title")
    texts.add_itxt("Description", "\u4e2d", "zh", "d")
    image.save(path("texts.png"), pnginfo=texts)
    convert(path("texts.png"), path("texts_made.png"), "smooth")
    made = opened("texts_made.png").text
    equal = made.get("Title") == "a title" and made.get("Description") == "\u4e2d"
    yield "png -> png, texts", "" if equal else f"{made}"

    for value in range(1, 9):
        texts = PngInfo()
        texts.add_itxt("XML:com.adobe.xmp", XMP.decode().replace("dc:format", f'tiff:Orientation="{value}" dc:format'))
        image.save(path("turned.png"), pnginfo=texts)
        convert(path("turned.png"), path("turned_made.png"), "none")
        expected, found = ImageOps.exif_transpose(opened("turned.png")), opened("turned_made.png")
        equal = expected.tobytes() == found.tobytes() and expected.size == found.size
        equal = equal and ImageOps.exif_transpose(found).tobytes() == found.tobytes()
        yield f"png, orientation {value} in XMP", "" if equal else "pixels"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    image = Image.frombytes("RGB", (24, 10), bytes((7 * i) % 256 for i in range(24 * 10 * 3)))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in ENDINGS:
            given = os.path.join(folder, "in." + source)
            save(image, given, profile)
            for target in ENDINGS:
                made = os.path.join(folder, f"{source}.{target}")
                subprocess.run([program, given, made, "--stages", "smooth", "--device", "cpu", "-q", "--overwrite"],
                               check=True)
                found = differences(made, source, (10, 24), profile)
                print(f"{source:4} -> {target:4}: {'; '.join(found) or 'equal'}")
                failed += bool(found)

        def convert(given, made, stages):
            subprocess.run([program, given, made, "--stages", stages, "--device", "cpu", "-q", "--overwrite"],
                           check=True)

        for name, wrong in rows_of_other_kinds(image, folder, convert):
            print(f"{name}: {wrong or 'equal'}")
            failed += bool(wrong)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
