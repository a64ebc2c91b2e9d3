#!/usr/bin/env python3
"""Metadata through imgpipe, written and read back by Pillow: ICC profile, EXIF, XMP, dots per inch.

    metadata_compare.py IMGPIPE

Pillow makes a JPEG, a PNG, a TIFF and a WebP that hold all of it; imgpipe makes each format of each; Pillow opens
the results. The profile and what EXIF says of the camera have to be equal, the orientation 1, the size the result's,
the thumbnail gone, the dots per inch equal but for PNG's rounding. What was compared is printed; a difference
ends it with 1.
"""
import os
import subprocess
import sys
import tempfile

from PIL import Image, ImageCms, TiffImagePlugin

ENDINGS = ["jpg", "png", "tif", "webp"]
XMP = (b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
       b"<rdf:Description rdf:about='' xmlns:dc='http://purl.org/dc/elements/1.1/' dc:format='test'/>"
       b"</rdf:RDF></x:xmpmeta>")


def exif_block():
    exif = Image.Exif()
    exif[0x010F] = "Maker"
    exif[0x0110] = "Model 1"
    exif[0x0112] = 6
    exif[0x8298] = "somebody"
    # As dictionaries: Pillow 9 does not write what get_ifd() was given.
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
        from PIL.PngImagePlugin import PngInfo
        info = PngInfo()
        info.add_itxt("XML:com.adobe.xmp", XMP.decode())
        more["pnginfo"] = info
    image.save(path, **more)
    if path.endswith("jpg"):  # older Pillow writes no XMP
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
        for tag, value in ((0x010F, "Maker"), (0x0110, "Model 1"), (0x8298, "somebody"), (0x0112, 1)):
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
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
