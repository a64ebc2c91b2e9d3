"""icc:srgb of files against lcms2, which Pillow's ImageCms calls: grey, RGB and CMYK, and their metadata."""
import io
import os
import subprocess

import imgpipe
import numpy as np
import PIL.Image
import PIL.ImageCms
import pytest

PROFILES = os.path.join(os.path.dirname(__file__), "../fuzz/seeds/icc")
NO_OPTIMIZE = 0x0100


def profile(name):
    with open(os.path.join(PROFILES, name + ".icc"), "rb") as file:
        return file.read()


def image(mode, seed=5, size=(67, 41)):
    bands = len(PIL.Image.new(mode, (1, 1)).getbands())
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], bands), np.uint8)
    return PIL.Image.fromarray(pixels.squeeze(), mode)


def by_lcms(made_image, icc, intent=0):
    source = PIL.ImageCms.ImageCmsProfile(io.BytesIO(icc))
    made = PIL.ImageCms.profileToProfile(made_image, source, PIL.ImageCms.createProfile("sRGB"), renderingIntent=intent,
                                         outputMode="RGB", flags=NO_OPTIMIZE)
    return np.asarray(made).astype(int)


def run(program, source, target, *options):
    done = subprocess.run([program, source, target, "--overwrite", *options], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def has_lcms(program):
    return "lcms2" in subprocess.run([program, "--version", "-v"], capture_output=True, text=True).stdout


@pytest.mark.parametrize("mode, name, rule, most", [
    ("L", "grey", "curve", 1), ("RGB", "rgb_matrix", "matrix33", 1), ("RGBA", "rgb_matrix", "matrix33", 1),
    ("RGB", "rgb_lut", "lcms33", 20), ("CMYK", "cmyk_lut", "lcms17", 20), ("CMYK", "cmyk_mab", "lcms17", 20)])
def test_colors(program, tmp_path, mode, name, rule, most):
    if rule.startswith("lcms") and not has_lcms(program):
        pytest.skip("a build without lcms2")
    made_image, icc = image(mode), profile(name)
    made_image.save(tmp_path / "a.tif", icc_profile=icc)
    code, text = run(program, tmp_path / "a.tif", tmp_path / "a.png", "--stages", "icc:srgb", "-v")
    assert code == 0, text
    assert f"rule={rule}" in text
    with PIL.Image.open(tmp_path / "a.png") as made:
        assert made.mode == {"CMYK": "RGB"}.get(mode, mode)
        assert "icc_profile" not in made.info
        got = np.asarray(made).astype(int)
    if mode == "RGBA":
        assert (got[..., 3] == np.asarray(made_image)[..., 3]).all()
        got, made_image = got[..., :3], made_image.convert("RGB")
    expected = by_lcms(made_image, icc)
    if mode == "L":
        expected = expected[..., 0]
    difference = np.abs(got - expected)
    assert difference.max() <= most and difference.mean() < 0.4


def test_cmyk_jpeg(program, tmp_path):
    """Adobe's inverted inks, as Pillow writes them, and a progressive file."""
    if not has_lcms(program):
        pytest.skip("a build without lcms2")
    made_image, icc = image("CMYK").resize((96, 64), PIL.Image.BICUBIC), profile("cmyk_lut")
    for progressive in (False, True):
        made_image.save(tmp_path / "a.jpg", icc_profile=icc, quality=95, progressive=progressive)
        with PIL.Image.open(tmp_path / "a.jpg") as stored:
            decoded = stored.copy()
        assert run(program, tmp_path / "a.jpg", tmp_path / "a.ppm", "--stages", "icc:srgb")[0] == 0
        difference = np.abs(np.asarray(PIL.Image.open(tmp_path / "a.ppm")).astype(int) - by_lcms(decoded, icc))
        assert difference.max() <= 20 and difference.mean() < 0.5


def test_cmyk_needs_the_first_step(program, tmp_path):
    image("CMYK").save(tmp_path / "a.tif", icc_profile=profile("cmyk_lut"))
    code, text = run(program, tmp_path / "a.tif", tmp_path / "a.png", "--stages", "invert,icc:srgb")
    assert code == 1 and len(text.splitlines()) == 1 and "first step" in text or not has_lcms(program)
    image("CMYK").save(tmp_path / "b.tif")
    assert run(program, tmp_path / "b.tif", tmp_path / "b.png", "--stages", "icc:srgb")[0] == 0
    assert run(program, tmp_path / "b.tif", tmp_path / "c.png", "--stages", "none")[0] == 0
    assert (tmp_path / "b.png").stat().st_size == (tmp_path / "c.png").stat().st_size


def test_profiles_that_are_skipped_or_refused(program, tmp_path):
    made_image = image("RGB")
    for icc in (None, PIL.ImageCms.ImageCmsProfile(PIL.ImageCms.createProfile("sRGB")).tobytes()):
        made_image.save(tmp_path / "a.png", icc_profile=icc)
        code, text = run(program, tmp_path / "a.png", tmp_path / "b.png", "--stages", "icc:srgb", "-v")
        assert code == 0 and "skipped icc" in text
        assert (np.asarray(PIL.Image.open(tmp_path / "b.png")) == np.asarray(made_image)).all()
    for icc in (profile("rgb_matrix")[:-7], b"\0" * 200, profile("grey")):
        made_image.save(tmp_path / "a.png", icc_profile=icc)
        code, text = run(program, tmp_path / "a.png", tmp_path / "b.png", "--stages", "icc:srgb")
        assert code in (1, 2) and len(text.splitlines()) == 1, text


def test_a_batch_has_profiles_of_its_own(program, tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(12):
        image("RGB", i).save(tmp_path / f"in/{i}.png", icc_profile=profile("rgb_matrix") if i % 3 else None)
    code, text = run(program, tmp_path / "in", f"{tmp_path}/out/", "--stages", "icc:srgb", "--format", "png")
    assert code == 0, text
    for i in range(12):
        code, text = run(program, tmp_path / f"in/{i}.png", tmp_path / "one.png", "--stages", "icc:srgb")
        one, of_batch = np.asarray(PIL.Image.open(tmp_path / "one.png")), PIL.Image.open(tmp_path / f"out/{i}.png")
        assert (one == np.asarray(of_batch)).all() and "icc_profile" not in of_batch.info
        assert (one == np.asarray(image("RGB", i))).all() == (i % 3 == 0)


def test_exif_names_no_other_color_space(program, tmp_path):
    exif = PIL.Image.Exif()
    exif[0x010F] = "Maker"
    exif[0x8769] = {0xA001: 65535, 0x829A: 0.004}
    image("RGB").save(tmp_path / "a.jpg", icc_profile=profile("rgb_matrix"), exif=exif)
    for stages, kept in (("none", True), ("icc:srgb", False)):
        assert run(program, tmp_path / "a.jpg", tmp_path / "b.jpg", "--stages", stages)[0] == 0
        with PIL.Image.open(tmp_path / "b.jpg") as made:
            assert (0xA001 in made.getexif().get_ifd(0x8769)) == kept == ("icc_profile" in made.info)
            assert made.getexif()[0x010F] == "Maker"


def test_files_in_python(program, tmp_path):
    """Pipelines read the profile of a file; arrays have none."""
    image("RGB").save(tmp_path / "a.png", icc_profile=profile("rgb_matrix"))
    image("RGB").save(tmp_path / "b.png")
    assert run(program, tmp_path / "a.png", tmp_path / "c.png", "--stages", "icc:srgb")[0] == 0
    pipeline = imgpipe.Pipeline("icc:srgb")
    converted, plain = pipeline.read(tmp_path / "a.png"), pipeline.read(tmp_path / "b.png")
    assert (converted == np.asarray(PIL.Image.open(tmp_path / "c.png"))).all()
    assert (plain == np.asarray(image("RGB"))).all()
    assert (pipeline(plain) == plain).all()
