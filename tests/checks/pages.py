#!/usr/bin/env python3
"""Compares the HTML pages of imgpipe (--report FILE.html, bench --html) with the JSON of the same run.

    pages.py IMGPIPE              checks structure and numbers with a parser
    pages.py IMGPIPE --browser    checks the pages in Chromium: the same text, no label hidden by another or cut off,
                                  no overflow; light and dark, 400 and 1600 pixels wide. Exit 77 without Chromium

Standard library only. PAGES_FOLDER=FOLDER keeps the pages and their screenshots there.
"""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HOSTILE = "<b>&\"'x.png"
HOSTILE_NAMES = (b"a\nb.png", b"esc\x1b[31m.png", b"turned\xe2\x80\xaegnp.png", b"bad\xff\xfe1.png",
                 b"none\xef\xbf\xbf.png", b"it's $(id) `x` \\n.png", b"--></title><i>.png".replace(b"/", b"_"))
VOID = {"meta", "img", "link", "br"}


class Page(html.parser.HTMLParser):
    """Elements in order, errors in their nesting, and tables by caption."""

    def __init__(self, text):
        super().__init__()
        self.open, self.faults, self.tags, self.words = [], [], [], []
        self.tables, self.table, self.cell, self.keys, self.links = [], None, None, [], []
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        for name in ("src", "href"):
            if name in attributes:
                self.links.append(attributes[name])
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.table = {"keys": [], "rows": []}
            self.tables.append(self.table)
        elif tag == "tr" and self.table is not None:
            self.table["rows"].append([])
        elif tag in ("th", "td") and self.table is not None:
            if "data-key" in attributes:
                self.table["keys"].append(attributes["data-key"])
            self.cell = [attributes.get("data-value"), ""]

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))  # in a drawing: <line .../>

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()
        if tag in ("th", "td") and self.table is not None:
            self.table["rows"][-1].append(self.cell)
            self.cell = None
        elif tag == "table":
            self.table = None

    def handle_data(self, data):
        self.words.append(data)
        if self.cell is not None:
            self.cell[1] += data.strip()

    def rows_of(self, *keys):
        """The rows of the table with these keys, as dictionaries, with numbers as programs see them."""
        table = next(each for each in self.tables if set(keys) <= set(each["keys"]))
        rows = [dict(zip(table["keys"], row)) for row in table["rows"] if len(row) == len(table["keys"])][1:]
        return [{key: cell[1] if cell[0] is None else float(cell[0]) for key, cell in row.items()} for row in rows]


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def run(program, folder, *arguments):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
    check(done.returncode == 0, f"{arguments}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def check_structure(name, text):
    """Well-formed and self-contained, with a title, a heading, a language and labels of drawings."""
    page = Page(text)
    check(not page.faults, f"{name}: {page.faults[:3]}")
    tags = [tag for tag, _ in page.tags]
    for tag in ("title", "h1", "main", "figure", "figcaption", "table"):
        check(tag in tags, f"{name}: <{tag}> is missing")
    check("script" not in tags, f"{name}: there is a script")
    check(("html", {"lang": "en"}) in page.tags, f"{name}: the language is missing")
    for link in page.links:
        check(link.startswith(("data:image/png;base64,", "#")), f"{name}: leads outside: {link[:60]}")
    check(all("alt" in attributes for tag, attributes in page.tags if tag == "img"), f"{name}: a picture without alt")
    drawings = re.findall(r"<svg .*?</svg>", text, re.DOTALL)
    check(drawings, f"{name}: nothing is drawn")
    for drawing in drawings:
        root = xml.fromstring(drawing)  # raises unless it is well-formed
        check(root.get("role") == "img" and root.get("aria-label"), f"{name}: a drawing without a label")
        check(not re.search(r"\b(nan|inf)\b", drawing), f"{name}: a number that is none")
    return page


def close(a, b):
    return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def same(mine, theirs, what):
    if isinstance(theirs, (int, float)):
        check(isinstance(mine, float) and close(mine, theirs), f"{what}: {mine} on the page, {theirs} in the JSON")
    else:
        check(mine == (theirs or ""), f"{what}: {mine} on the page, {theirs} in the JSON")


def check_run(text, report):
    page = check_structure("run.html", text)
    rows = page.rows_of("name", "time_ms", "comparison")
    theirs = report["rows"] + report["totals"]
    check([row["name"] for row in rows] == [row["name"] for row in theirs], "run.html: other steps")
    for mine, row in zip(rows, theirs):
        for key in ("time_ms", "gb_per_s", "copy_bandwidth_share", "reference_ms", "speed_up", "comparison"):
            same(mine[key], row[key], f"{row['name']}, {key}")
    spans = page.rows_of("track", "start_ms", "end_ms")
    check(len(spans) == len(report["spans"]), "run.html: not every span is in the table")
    check({row["track"] for row in spans} == {span["track"] for span in report["spans"]}, "run.html: other tracks")
    bins = page.rows_of("bin", "before_grey", "after_grey")
    pixels = report["input"]["width_pixels"] * report["input"]["height_pixels"]
    check(len(bins) == 256 and sum(row["before_grey"] for row in bins) == pixels, "run.html: counts before")
    check(sum(row["after_grey"] for row in bins) == pixels, "run.html: counts after")
    shown = " ".join(page.words)
    for word in (HOSTILE, report["imgpipe"]["version"], report["imgpipe"]["commit"], report["device"]["name"],
                 "lo ", "hi ", "identical"):
        check(word in shown, f"run.html: {word!r} is not on the page")
    check(text.count("data:image/png;base64,") == 2, "run.html: not two pictures")


def refuse(program, folder, words, *arguments):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
    check(done.returncode == 2 and words in done.stderr, f"{arguments}: exit {done.returncode}: {done.stderr}")


def check_other_runs(program, folder):
    """Pages of piped input, of odd images and without counts; runs that must not write a page."""
    for size, channels, depth, stages in (("1x1", "1", "8", "hist,contrast"), ("997x1", "4", "16", "smooth"),
                                          ("3x700", "3", "16", "contrast,smooth"), ("64x64", "2", "8", "gray")):
        run(program, folder, "synth", "odd.png", "--pattern", "noise", "--size", size, "--channels", channels,
            "--depth", depth, "-q", "--overwrite")
        with open(f"{folder}/odd.png", "rb") as source, open(f"{folder}/piped.png", "wb") as target:
            subprocess.run([program, "-", "-", "--format", "png", "--stages", stages, "--device", "cpu", "-q",
                            "--report", "piped.html"], cwd=folder, stdin=source, stdout=target, check=True, timeout=300)
        run(program, folder, "odd.png", "even.png", "--stages", stages, "--device", "cpu", "-q", "--report", "odd.html")
        pages = []
        for name in ("piped.html", "odd.html"):
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                pages.append(check_structure(name, file.read()))
        counted = "hist" in stages or "contrast" in stages
        for page in pages:
            check(sum(tag == "img" for tag, _ in page.tags) == 2, f"{size}: not two pictures")
            check(("Histogram" in page.words) == counted, f"{size}: a histogram where nothing was counted, or none")
        pictures = [[attributes["src"] for tag, attributes in page.tags if tag == "img"] for page in pages]
        check(pictures[0] == pictures[1], f"{size}: other pictures through a pipe")
    os.mkdir(f"{folder}/many")
    shutil.copy(f"{folder}/odd.png", f"{folder}/many/odd.png")
    refuse(program, folder, "a batch report must end in .json, .ndjson or .csv", "many", "made/", "--report",
           "batch.html")
    refuse(program, folder, "choose a page with --pages N", "odd.png", "pages.tiff", "--pages", "all",
           "--report", "pages.html")
    with open(f"{folder}/foreign.html", "w", encoding="utf-8") as file:
        file.write("<!DOCTYPE html>\n<title>mine</title>")
    refuse(program, folder, "was not written by imgpipe", "odd.png", "even.png", "--report", "foreign.html")


def check_hostile_names(program, folder):
    """The page of a file with any name is UTF-8 without control characters, and bash parses its command again."""
    for number, name in enumerate(HOSTILE_NAMES):
        path = os.fsencode(folder) + b"/" + name
        shutil.copy(f"{folder}/source.png".encode(), path)
        arguments = [b"./" + name, b"out.png", b"--overwrite", b"--device", b"cpu", b"-q", b"--report",
                     b"hostile%d.html" % number]
        subprocess.run([os.fsencode(program), *arguments], cwd=folder, check=True, timeout=300)
        with open(f"{folder}/hostile{number}.html", "rb") as file:
            text = file.read().decode("utf-8")
        check(not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\uffff]", text),
              f"{name}: a control character")
        check_structure(f"hostile{number}.html", text)
        command = html.unescape(re.search("<dt>Command</dt>\\s*<dd>(.*?)</dd>", text, re.DOTALL).group(1))
        back = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True, timeout=60)
        check(back.stdout.split(b"\0")[:-1] == [b"imgpipe", *arguments], f"{name}: bash makes {back.stdout} of it")


def check_bench(text, report):
    page = check_structure("bench.html", text)
    shown = " ".join(" ".join(page.words).split())
    tables = [table for table in page.tables if "variant" in table["keys"]]
    check(len(tables) == len(report["tables"]), "bench.html: other ladders")
    for table, theirs in zip(tables, report["tables"]):
        rows = [dict(zip(table["keys"], row)) for row in table["rows"]][1:]
        check(len(rows) == len(theirs["rows"]), f"bench.html: rows of {theirs['title']}")
        for mine, row in zip(rows, theirs["rows"]):
            check(mine["variant"][1] == row["variant"], f"bench.html: {row['variant']} is missing")
            if row["median_us"] is not None:
                same(float(mine["median_us"][0]), row["median_us"], row["variant"])
    for row in (row for table in report["tables"] for row in table["rows"]):
        check(f"{row['variant']}" in shown, f"bench.html: {row['variant']} is not shown")
    codes = text.count("<pre tabindex")
    check(codes == sum(len(table["rows"]) for table in report["tables"]), f"bench.html: {codes} codes")


# ---- in a browser -------------------------------------------------------------------------------------

VERDICT = """
<pre id="verdict"></pre><script>
const faults = [];
const boxes = (list) => Array.from(list).map((each) => [each, each.getBoundingClientRect()]);
if (document.documentElement.scrollWidth > window.innerWidth + 1)
  faults.push(`the page is ${document.documentElement.scrollWidth} wide in ${window.innerWidth}`);
let texts = 0;
for (const drawing of document.querySelectorAll('svg')) {
  const name = drawing.getAttribute('aria-label');
  const frame = drawing.getBoundingClientRect(), labels = boxes(drawing.querySelectorAll('text'));
  texts += labels.length;
  for (const [each, box] of boxes(drawing.querySelectorAll('text,circle,rect,line,path'))) {
    if (box.left < frame.left - 0.5 || box.right > frame.right + 0.5 || box.top < frame.top - 0.5 ||
        box.bottom > frame.bottom + 0.5)
      faults.push(`${name}: ${each.tagName} ${each.textContent} sticks out`);
  }
  for (let i = 0; i < labels.length; ++i) for (let k = 0; k < i; ++k) {
    const [a, b] = [labels[i][1], labels[k][1]];
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 0.5 && high > 2.5)
      faults.push(`${name}: '${labels[i][0].textContent}' on '${labels[k][0].textContent}'`);
  }
}
document.getElementById('verdict').textContent = JSON.stringify(
  {faults: faults, width: window.innerWidth, texts: texts, title: document.title,
   dark: matchMedia('(prefers-color-scheme: dark)').matches,
   pictures: Array.from(document.images).map((each) => each.naturalWidth),
   sides: Array.from(document.images).flatMap((each) => [each.offsetWidth, each.offsetHeight]),
   shown: document.body.innerText.length});
</script>"""


def browser():
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


def chromium(folder, width, dark, *arguments):
    command = [browser(), "--headless", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},2600",
               f"--blink-settings=preferredColorScheme={0 if dark else 1}", f"--user-data-dir={folder}/profile",
               "--disable-dev-shm-usage"] + (["--no-sandbox"] if os.geteuid() == 0 else [])
    done = subprocess.run(command + list(arguments), cwd=folder, capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, f"chromium: exit {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def look(folder, name, pictures, widths=(400, 1600)):
    """Shows the page in frames of two widths, light and dark: Chromium's window cannot be narrower than 500 pixels."""
    with open(f"{folder}/{name}", encoding="utf-8") as file:
        text = file.read()
    check("Content-Security-Policy" in text, f"{name}: no policy")
    measured = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", text)
    with open(f"{folder}/measured-{name}", "w", encoding="utf-8") as file:
        file.write(measured.replace("</body>", VERDICT + "</body>"))
    for width in widths:
        frame = f"file://{folder}/frame-{name}"
        with open(f"{folder}/frame-{name}", "w", encoding="utf-8") as file:
            file.write(f"<!DOCTYPE html><title>-</title><body style='margin:0'><iframe id=f src='measured-{name}' "
                       f"style='border:0;height:2600px;width:{width}px'></iframe><pre id=out></pre><script>"
                       "onload=()=>{document.getElementById('out').textContent="
                       "document.getElementById('f').contentDocument.getElementById('verdict').textContent}</script>")
        for dark in (False, True):
            dom = chromium(folder, 1600, dark, "--allow-file-access-from-files", "--virtual-time-budget=5000",
                           "--dump-dom", frame)
            found = re.search(r'<pre id="out">(\{.*?\})</pre>', dom, re.DOTALL)
            check(found, f"{name}: no verdict in {dom[-300:]}")
            verdict = json.loads(html.unescape(found.group(1)))
            check(not verdict["faults"], f"{name}, {width} wide: {verdict['faults'][:5]}")
            check(verdict["width"] == width and verdict["dark"] == dark, f"{name}: looked at otherwise: {verdict}")
            check(verdict["texts"] > 10 and verdict["shown"] > 500, f"{name}: hardly anything is shown: {verdict}")
            check(all(wide > 0 for wide in verdict["pictures"]), f"{name}: a picture that is none")
            check(all(10 < side <= 322 for side in verdict["sides"]), f"{name}: pictures of {verdict['sides']} pixels")
            if pictures:
                picture = f"{pictures}/{name}-{width}-{'dark' if dark else 'light'}.png"
                chromium(folder, max(width, 500), dark, f"--screenshot={picture}",
                         frame if width < 500 else f"file://{folder}/{name}")


def main():
    program = os.path.abspath(sys.argv[1])
    in_browser = "--browser" in sys.argv
    if in_browser and browser() is None:
        print("SKIPPED: chromium is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        run(program, folder, "synth", "source.png", "--pattern", "photo", "--size", "331x257", "-q")
        shutil.copy(f"{folder}/source.png", f"{folder}/{HOSTILE}")
        run(program, folder, f"./{HOSTILE}", "out.png", "--device", "cpu", "--cpu", "--repeat", "2", "-q",
            "--report", "run.json", "--report", "run.html")
        bench = run(program, folder, "bench", "--device", "cpu", "--size", "131x97", "--repeat", "3", "--group", "2",
                    "--stage", "gray,hist,smooth,jpeg,png", "--format", "json", "--html", "bench.html")
        texts = {}
        for name in ("run.html", "bench.html", "run.json"):
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                texts[name] = file.read()
        if in_browser:
            kept = os.environ.get("PAGES_FOLDER")
            for name in ("run.html", "bench.html"):
                look(folder, name, kept)
                if kept:
                    shutil.copy(f"{folder}/{name}", kept)
            for size in ("1x4000", "4000x3"):
                run(program, folder, "synth", f"{size}.png", "--pattern", "photo", "--size", size, "-q")
                run(program, folder, f"{size}.png", "thin.png", "--overwrite", "--device", "cpu", "-q", "--report",
                    f"{size}.html")
                look(folder, f"{size}.html", kept, widths=(400,))
        else:
            check_run(texts["run.html"], json.loads(texts["run.json"]))
            check_bench(texts["bench.html"], json.loads(bench))
            check_other_runs(program, folder)
            check_hostile_names(program, folder)
    print("pages: as they should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
