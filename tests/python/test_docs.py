"""Runs the ```python blocks of README and of docs/python*.md in order, with one namespace for each page.

A comment after print(), on its line or on the lines that follow, is what the block prints; "..." matches any text. A
block must print exactly the lines that it shows. Words after "python" name what a block needs: torch, cupy, cv2, cuda.
"""
import io
import linecache
import os
import pathlib
import re
import tarfile
import tokenize
import traceback

import imgpipe
import numpy as np
import pytest

from made import noise

Image = pytest.importorskip("PIL.Image", reason="Pillow, which makes the sample files, is not installed")
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs/python.md", *sorted((ROOT / "docs/python").glob("*.md"))]


def blocks(page):
    """(line, words after "python", code) of each block."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```python *([^\n]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start(2)) + 1, found[1].split(), found[2]


def shown(code):
    """The lines in comments after print()."""
    lines, printed_until = [], None
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        row, column = token.start
        if token.type == tokenize.COMMENT:
            alone = not token.line[:column].strip()
            if (alone and printed_until == row - 1) or (not alone and "print(" in token.line[:column]):
                lines.append(token.string[1:].strip())
                printed_until = row
        elif token.type == tokenize.NEWLINE and "print(" in token.line:
            printed_until = row
    return lines


def matches(line, wanted):
    return re.fullmatch(".*".join(map(re.escape, wanted.split("..."))), line.strip()) is not None


def photo(height, width, seed=1):
    """An image with smooth areas and noise, as photographs have."""
    rows, columns = np.mgrid[0:height, 0:width]
    planes = [128 + 90 * np.sin(rows / (20 + seed)) * np.cos(columns / (30 + 9 * plane)) for plane in range(3)]
    return (np.stack(planes, 2) + noise((height, width, 3), seed=seed) % 16).clip(0, 255).astype(np.uint8)


def write_samples(directory):
    """The files that the pages name."""
    (directory / "photos/more").mkdir(parents=True)
    (directory / "shards").mkdir()
    imgpipe.write(directory / "photo.jpg", photo(480, 640))
    imgpipe.write(directory / "scan.png", noise((300, 400), np.uint16))
    whole = (directory / "photo.jpg").read_bytes()
    (directory / "broken.jpg").write_bytes(whole[:len(whole) // 2])
    first, *others = (Image.fromarray(noise((48, 64), seed=page)) for page in range(3))
    first.save(directory / "stack.tif", save_all=True, append_images=others)
    for i, (height, width) in enumerate([(300, 400), (400, 300), (256, 256), (240, 427), (333, 250), (257, 259)]):
        imgpipe.write(directory / "photos" / ("more/" if i > 3 else "") / f"{i}.jpg", photo(height, width, i))
    for shard in range(2):
        with tarfile.open(directory / f"shards/train-{shard:04}.tar", "w") as archive:
            for i in range(8):
                image = imgpipe.encode(photo(256 + i, 300 - i, 8 * shard + i), "jpeg", quality=90)
                for extension, contents in {"jpg": image, "cls": b"%d" % (i % 4)}.items():
                    member = tarfile.TarInfo(f"{shard:04}{i:04}.{extension}")
                    member.size = len(contents)
                    archive.addfile(member, io.BytesIO(contents))


def need(word):
    """Skips the test if the word's library or device is missing."""
    if word != "cuda":
        pytest.importorskip(word)
        return
    try:
        imgpipe.run(noise((8, 8)), device="cuda")
    except RuntimeError as error:
        if os.environ.get("IMGPIPE_REQUIRE_GPU") == "1":
            raise
        pytest.skip(str(error))


def run(page, line, code, namespace):
    """Runs a block and returns None, or its error with the page's line, without pytest's copy of the whole page."""
    try:
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(page)]
        return f"{page}:{lines[0]}: {linecache.getline(str(page), lines[0]).strip()}\n{error!r}"
    return None


@pytest.fixture(scope="session")
def page_state(tmp_path_factory):
    """Returns a page's directory and namespace."""
    states = {}

    def of(page):
        if page not in states:
            directory = tmp_path_factory.mktemp(page.stem)
            write_samples(directory)
            states[page] = directory, {"__name__": page.stem}
        return states[page]

    return of


CASES = [pytest.param(page, line, words, code, id=f"{page.relative_to(ROOT)}:{line}")
         for page in PAGES for line, words, code in blocks(page)]


@pytest.mark.parametrize("page, line, words, code", CASES)
def test_block(page, line, words, code, page_state, monkeypatch, capsys):
    for word in words:
        need(word)
    directory, namespace = page_state(page)
    monkeypatch.chdir(directory)
    problem = run(page, line, code, namespace)
    if problem:
        pytest.fail(problem, pytrace=False)
    printed, wanted = capsys.readouterr().out.splitlines(), shown(code)
    assert len(printed) == len(wanted) and all(map(matches, printed, wanted)), \
        f"{page}:{line}: printed {printed}, but the page shows {wanted}"


def test_every_page_of_the_package_has_blocks():
    assert {page for page in PAGES if not list(blocks(page))} == set()


def test_the_index_has_every_public_name():
    index = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    assert [name for name in imgpipe.__all__ if not re.search(rf"`{name}\b", index)] == []


@pytest.mark.parametrize("code, wanted", [
    ("print(1)  # 1\n", ["1"]),
    ("x = 1  # one\nprint(x)\n", []),
    ("for x in 1, 2:\n    print(x)\n# 1\n# 2\n\n# not shown\n", ["1", "2"]),
    ("print(1)  # 1\n          # 2\n# 3\ny = 0\n# no\n", ["1", "2", "3"]),
    ("print('# no')\n", [])])
def test_shown_lines(code, wanted):
    assert shown(code) == wanted


def test_matching_of_lines():
    assert matches("a.jpg: cut (3)", "a.jpg: ...") and matches(" x", "x") and not matches("x", "y...")
    assert not matches("a(3)", "a.3.")
