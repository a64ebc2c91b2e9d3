#!/usr/bin/env python3
"""Checks README and docs/ against the program and the tree, comments against the tree, and the lengths of lines.

    docs.py IMGPIPE     exit 1 and a line for each problem
    docs.py --check     tests itself on wrong pages

The docstring of each check says what it requires. Standard library only.
"""
import fnmatch
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMANDS = {"": "imgpipe", "bench": "imgpipe bench", "synth": "imgpipe synth", "devices": "imgpipe devices",
            "contract": "imgpipe contract",
            "stats": "imgpipe stats", "info": "imgpipe info", "report": "imgpipe report", "help": "imgpipe help",
            "verify": "imgpipe verify", "diff": "imgpipe diff",
            "docs": "imgpipe docs"}
LEAST, MOST, COLUMNS = 8 * 1024, 10 * 1024, 120
SOURCES = (".h", ".cpp", ".cu", ".cuh")
TEXTS = (".md", ".sh", ".py", ".cmake", "CMakeLists.txt", "CMakePresets.json", "run") + SOURCES
MAP = "docs/hacking.md"
FLOORS = "app|docs|images|kernels|lab|pipeline|tests"


# ---- Markdown ----------------------------------------------------------------------------------------

def code_of(page):
    """The page's code: (lines of blocks, with continuation lines joined; spans)."""
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in re.sub(r"\\\n\s*", " ", block).splitlines()]
    rest = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    return lines, [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", rest)]


def anchors_of(page):
    """The anchors that links into the page may use, as GitHub derives them from headings."""
    found, text = set(), re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        number, anchor = 0, plain
        while anchor in found:
            number += 1
            anchor = f"{plain}-{number}"
        found.add(anchor)
    return found


def link_complaints(name, page, files, pages):
    """Every relative link leads to a file, and its #anchor to a heading."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        if path not in files:
            yield f"{name}: the link ({target}) leads nowhere"
        elif anchor and anchor not in anchors_of(pages.get(path, "")):
            yield f"{name}: the link ({target}) names no heading of {path}"


# ---- options -----------------------------------------------------------------------------------------

def options_in(text):
    return re.findall(r"(?<![\w-])--[a-z][\w-]*", text)


def calls_of(code):
    """(command, options) of every imgpipe call in a line of code; (None, options) of options without a call."""
    for part in re.split(r"[|;&'()]+", code):
        words = part.strip().lstrip("$ ").split()
        if words and os.path.basename(words[0]) == "imgpipe":
            command = words[1] if len(words) > 1 and words[1] in COMMANDS else ""
            yield command, options_in(" ".join(words[1:]))
        elif words and words[0].startswith("--"):
            yield None, options_in(part)


def option_complaints(name, page, helps):
    """Every option of an imgpipe call belongs to that command; one without a call belongs to some command."""
    lines, spans = code_of(page)
    for command, options in (call for code in lines + spans for call in calls_of(code)):
        known = set().union(*helps.values()) if command is None else helps[command]
        for option in options:
            if option.replace("colour", "color") not in known:  # the program accepts both spellings
                yield f"{name}: {option} is not an option of {COMMANDS[command or '']}"


def missing_options(name, page, helps):
    """Every option in --help is on the page."""
    lines, spans = code_of(page)
    shown = set(options_in(" ".join(lines + spans)))
    for command, options in helps.items():
        for option in sorted(options - shown):
            yield f"{name}: {option} of {COMMANDS[command]} is missing"


# ---- the tree ----------------------------------------------------------------------------------------

def map_rows(page):
    """The paths of the map: the first code block after "## The map"."""
    block = re.search(r"^## The map$.*?^```\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return re.findall(r"^(\S+)(?: |$)", block.group(1), re.MULTILINE) if block else []


def map_complaints(page, files):
    """Every path on the map exists; every second-level directory, except in kernels/, is on the map."""
    rows = map_rows(page)
    if not rows:
        yield f"{MAP}: the map is missing"
    paths = [file.split("/") for file in files]
    folders = {"/".join(path[:depth]) + "/" for path in paths for depth in range(1, len(path))}
    for row in rows:
        if row not in folders and row not in files:
            yield f"{MAP}: the map names {row}, which is not there"
    for folder in sorted(folders):
        if folder.count("/") == 2 and not folder.startswith("kernels/") and folder not in rows:
            yield f"{MAP}: {folder} is not on the map"


def comments_of(name, text):
    """(number, comment) of each line with a comment; for a page, its code spans and blocks, which may hold paths."""
    mark = r"//(.*)" if name.endswith(SOURCES) else r"(?:^|\s)#(.*)"
    for number, line in enumerate(text.splitlines(), 1):
        if name.endswith(".md"):
            yield number, " ".join(re.findall(r"`([^`]+)`", line))
        elif found := re.search(mark, line):
            yield number, found.group(1)


def stale_complaints(name, text, files, foreign):
    """Comments name only existing files, headings and documents."""
    names = {os.path.basename(file) for file in files}
    for number, comment in comments_of(name, text):
        for path in re.findall(r"(?<![\w/.~<$}*-])[\w*][\w./*-]*\.(?:h|cpp|cu|cuh|py|sh|md)\b(?![\w/(])", comment):
            known = files if "/" in path else names
            if not (path in known or path in foreign or re.match(r"(?:.*/)?[A-Z_]+\.", path) or
                    fnmatch.filter(known, "*" + path if path.startswith("_") else path) or
                    any(file.endswith("/" + path) for file in files)):
                yield f"{name}:{number}: {path} is not there"
        for path in re.findall(rf"(?<![\w/.~<$}}*-])(?:{FLOORS})/\w[\w/]*(?!\.\w|[\w/*-])", comment):
            if not re.search(r"\b[A-Z]{2,}\b", path) and not any(file.startswith(path) for file in files):
                yield f"{name}:{number}: {path} is not there"
        for word in re.findall(r"\b(?:SPEC|DESIGN|RESULTS)\b", comment):
            yield f"{name}:{number}: {word} is a document that is not there"


def heading_complaints(name, text, pages):
    """A comment that names a page with a quoted heading names an existing heading."""
    for page, heading in re.findall(r'\b(README|docs/\w+\.md),? (?:section )?"([^"\n]+)"', text):
        page = "README.md" if page == "README" else page
        if not re.search(rf"^#+ {re.escape(heading)}$", pages.get(page, ""), re.MULTILINE):
            yield f'{name}: {page} has no heading "{heading}"'


def column_complaints(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, at most {COLUMNS}"


def size_complaints(size):
    if not LEAST <= size <= MOST:
        yield f"README.md: {size} bytes, which is not {LEAST} to {MOST}"


def variant_complaints(name, page, count, ladders):
    """The lab's page names every ladder and the number of variants."""
    said = re.findall(r"(\d+) variants in all", page)
    if said != [str(count)]:
        yield f"{name}: says {said} variants in all, imgpipe bench --list names {count}"
    for ladder in sorted(ladders):
        if f"`{ladder}`" not in page:
            yield f"{name}: names no ladder `{ladder}`"


def version_complaints(version, texts):
    """CMakeLists.txt has the version; the few pages that repeat it say the same."""
    short = ".".join(version.split(".")[:2])
    repeats = [("CHANGELOG.md", r"\A# Changes\n+## (\S+)", version), ("README.md", r"^Status: (\S+)", version)]
    repeats += [(name, r"find_package\(imgpipe ([\d.]+)", short)
              for name in texts if "find_package(imgpipe " in texts[name]]
    for name, pattern, wanted in repeats:
        said = re.findall(pattern, texts[name], re.MULTILINE)
        if set(said) != {wanted}:
            yield f"{name}: names version {said}, CMakeLists.txt {version}"


# ---- all of it ---------------------------------------------------------------------------------------

def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def tree():
    """Every file of the project: those at its top, and those in the directories that the map begins with."""
    tops = sorted({row.split("/")[0] for row in map_rows(read(MAP))})
    files = {entry.name for entry in os.scandir(ROOT) if entry.is_file()}
    for top in tops:
        for folder, below, names in os.walk(os.path.join(ROOT, top)):
            below[:] = [name for name in below if name != "__pycache__"]
            files.update(os.path.relpath(os.path.join(folder, name), ROOT) for name in names)
    return files


def helps_of(program):
    """The options of each command, as listed by its --help."""
    helps = {}
    for command in COMMANDS:
        shown = subprocess.run([program, *command.split(), "--help"], check=True, capture_output=True, text=True,
                               env={**os.environ, "COLUMNS": "120"}).stdout
        flags = re.findall(r"^ +(?:-\w, )?(--[a-z][\w-]*(?:, --[a-z][\w-]*)*)", shown, re.MULTILINE)
        helps[command] = {flag for line in flags for flag in line.split(", ")}
        assert "--help" in helps[command], shown
    return helps


def variants_of(program):
    """The number of the lab's variants, and the names of its ladders, as --stage accepts them."""
    shown = subprocess.run([program, "bench", "--list", "--format", "json"], check=True, capture_output=True, text=True)
    rows = json.loads(shown.stdout)["tables"][0]["rows"]
    return len(rows), {row["stage"].split(",")[0] for row in rows}


def complaints(program):
    files, helps = tree(), helps_of(program)
    texts = {name: read(name) for name in sorted(files) if name.endswith(TEXTS)}
    foreign = {path for name, text in texts.items() if name.endswith(SOURCES)
               for path in re.findall(r"#include <([^>]+)>", text)}
    foreign |= {os.path.basename(path) for path in foreign}
    pages = {name: text for name, text in texts.items() if name.endswith(".md")}
    manual = {name: page for name, page in pages.items() if name != "CHANGELOG.md"}
    yield from size_complaints(len(texts["README.md"].encode()))
    yield from missing_options("docs/options.md", pages["docs/options.md"], helps)
    yield from variant_complaints("docs/lab.md", pages["docs/lab.md"], *variants_of(program))
    yield from map_complaints(pages[MAP], files)
    (version,) = re.findall(r"project\(imgpipe VERSION (\S+)", read("CMakeLists.txt"))
    yield from version_complaints(version, {**pages, "examples": read("examples/library/CMakeLists.txt")})
    for name, page in pages.items():
        yield from link_complaints(name, page, files, pages)
    for name, page in manual.items():
        yield from option_complaints(name, page, helps)
    for name, text in texts.items():
        yield from column_complaints(name, text)
        if name not in ("CHANGELOG.md", "tests/checks/docs.py"):
            yield from stale_complaints(name, text, files, foreign)
            yield from heading_complaints(name, text, pages)


def check():
    """Every check finds each problem, and none in correct text."""
    files = {"README.md", "docs/a.md", "app/main.cpp", "app/jobs/glob.cpp", "tests/x_test.cpp"}
    pages = {"README.md": "# Top\n", "docs/a.md": "# A b\n## C, d: `e`\n## C d e\n```\n## no\n```\n"}
    helps = {"": {"--cpu", "--help"}, "bench": {"--stage", "--help"}, "synth": set(), "devices": {"--json"}}
    tree_map = "## The map\n```\nREADME.md   x\napp/   y\napp/jobs/   z\n  \ndocs/\ntests/\n```\n"
    trials = [
        (lambda t: link_complaints("docs/a.md", t, files, pages),
         "[x](../README.md#top) [y](#a-b) ![z](a.md#c-d-e-1) [w](https://x.y/z)",
         ["[x](../READMe.md)", "[x](#no)", "[x](../README.md#a-b)", "![x](b.png)"]),
        (lambda t: option_complaints("a", t, helps),
         "`imgpipe a b --cpu`, `cmake --build x`, `--json`\n```\n$ x --y | imgpipe bench \\\n  --stage hist\n```\n",
         ["`imgpipe a --stage`", "`--gpu`", "```\nx --y | build/imgpipe bench \\\n  --cpu\n```\n"]),
        (lambda t: missing_options("a", t, helps), "`--cpu`, `--help`, `--stage`\n```\n--json\n```\n",
         ["`--cpu` `--help` `--stage`", "`--cpu`, `--help`, `--stages`, `--json`"]),
        (lambda t: map_complaints(t, files), tree_map,
         [tree_map.replace("app/jobs/ ", "app/help/ "), tree_map.replace("app/jobs/   z\n", ""), "none"]),
        (lambda t: stale_complaints("x.cpp", t, files, {"zlib.h"}),
         "// app/main.cpp, glob.cpp, jobs/glob.cpp, tests/*_test.cpp, NAME.h, zlib.h, docs/a, app/NAME/, _test.cpp\n"
         'x("no.h");\n',
         ["// app/glob.cpp", "int x;  // main.h", "// SPEC section 1", "// tests/*_check.cpp", "// docs/SPEC.md",
          "// app/report has it"]),
        (lambda t: heading_complaints("x.cpp", t, pages), '// README "Top"; docs/a.md, "A b"', ['// README, "A b"']),
        (lambda t: variant_complaints("x", t, 12, {"hist", "hist16"}), "`hist`, `hist16`: 12 variants in all",
         ["`hist`, `hist16`: 13 variants in all", "`hist`, `hist16`", "`hist`: 12 variants in all"]),
        (lambda t: version_complaints("1.2.3", {"CHANGELOG.md": "# Changes\n\n## 1.2.3\n## 1.2.2\n",
                                                "README.md": t, "x": t}),
         "Status: 1.2.3 x\nfind_package(imgpipe 1.2 R)\n",
         ["find_package(imgpipe 1.2 R)\n", "Status: 1.2.4\nfind_package(imgpipe 1.2 R)",
          "Status: 1.2.3\nfind_package(imgpipe 1.1 R)"]),
        (lambda t: column_complaints("x", t), "x" * 120 + "\n" + "é" * 120, ["x" * 121]),
        (lambda t: size_complaints(len(t)), "x" * 9000, ["x" * 8191, "x" * 10241]),
    ]
    for trial, right, wrong in trials:
        assert not list(trial(right)), list(trial(right))
        for text in wrong:
            assert list(trial(text)), text
    return 0


def main(arguments):
    if arguments == ["--check"]:
        return check()
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    found = list(complaints(arguments[0]))
    print("\n".join(found) if found else "docs: match the program and the tree")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
