#!/usr/bin/env python3
"""Plain English: the words that docs/hacking.md rejects, everywhere in the tree.

    prose.py            exit 1 and a line for each rejected phrase, and for each directory that uses an ambiguous word
                        more often than tests/checks/prose_counts.json allows
    prose.py --write    lowers the counts in that file to those of today; it never raises one
    prose.py --check    tests itself on text that is rejected

The rules are the two tables of docs/hacking.md under "Words": phrases that are rejected, and ambiguous words that are
counted. Standard library only.
"""
import collections
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = "docs/hacking.md"
COUNTS = "tests/checks/prose_counts.json"
# The rules quote what they reject; data and licences are not ours to word.
EXCLUDED = re.compile(r"^(\.git-blame-ignore-revs|docs/hacking\.md|tests/checks/prose(\.py|_counts\.json)|LICENSE|"
                      r"app/package/conda/meta\.yaml|tests/(golden|fuzz/seeds)/.*|.*\.(png|jpg|json|svg))$")
ROW = re.compile(r"^\| `([^`]+)` \| (.+) \|$", re.MULTILINE)


def rules(text):
    """({phrase: replacement}, {ambiguous word: replacement}) of the two tables; "..." stands for a few words."""
    def table(title):
        found = re.search(rf"^{title}\n\n((?:\|.*\n)+)", text, re.MULTILINE)
        return dict(ROW.findall(found[1])) if found else {}

    rejected, counted = table("Rejected phrases:"), table("Ambiguous words:")
    if not rejected or not counted:
        sys.exit(f"prose: {RULES} lacks the table of rejected phrases or of ambiguous words")
    return rejected, counted


def pattern(phrase):
    """Matches a phrase as words, also where a line break or the start of a comment line is between them.
    "is no longer" and "is no more" are not "is no"."""
    gap = r"(?:\s|//|#|\*)+"
    words = [r"(?:\w+" + gap + "){0,4}?" if word == "..." else re.escape(word) for word in phrase.split()]
    joined = ""
    for i, word in enumerate(words):
        joined += word + (gap if i + 1 < len(words) and not word.startswith("(?:") else "")
    return re.compile(r"\b" + joined + r"\b(?!\s(?:longer|more|less)\b)", re.IGNORECASE)


def complaints(path, text, rejected):
    for phrase, instead in rejected.items():
        for found in pattern(phrase).finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{path}:{line}: '{' '.join(found[0].split())}': {instead}"


def directory(path):
    return "/".join(path.split("/")[:2]) if path.count("/") > 1 else path.split("/")[0]


def count(texts, counted):
    """{directory: {word: uses}}"""
    counts = collections.defaultdict(collections.Counter)
    for path, text in texts.items():
        for word in counted:
            uses = len(pattern(word).findall(text))
            if uses:
                counts[directory(path)][word] += uses
    return {name: dict(sorted(words.items())) for name, words in sorted(counts.items())}


def rises(counts, allowed):
    for name, words in counts.items():
        for word, uses in words.items():
            most = allowed.get(name, {}).get(word, 0)
            if uses > most:
                yield f"{name}: '{word}' is used {uses} times, and {most} are allowed: {RULES} has better words"


def texts():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\n")
    read = {}
    for path in listed:
        file = os.path.join(ROOT, path)
        if not path or EXCLUDED.match(path) or not os.path.isfile(file):
            continue
        try:
            read[path] = open(file, encoding="utf-8").read()
        except UnicodeDecodeError:
            pass  # not text
    return read


def self_test():
    rejected, counted = rules("Rejected phrases:\n\n| phrase | write |\n|---|---|\n| `is no` | is not a |\n"
                              "| `there is no ... that` | no |\n| `nobody` | no caller |\n\n"
                              "Ambiguous words:\n\n| word | write |\n|---|---|\n| `way` | method |\n")
    for text in ("x is no file", "// It is\n// no file", "nobody reads it", "There is no such file that ends"):
        assert list(complaints("a.h", text, {**rejected})), text
    for text in ("x is not a file", "is nothing", "is northern", "is no longer", "there is not",
                 "nobody_reads_it = 1"):
        assert not list(complaints("a.h", text, rejected)), (text, list(complaints("a.h", text, rejected)))
    assert [one.split(":")[1] for one in complaints("a.h", "\n\nit is\nno file", rejected)] == ["3"]
    counts = count({"a/b/c.h": "a way, one Way", "a/b/d/e.h": "way", "a/f.h": "ways", "g.md": "way"}, counted)
    assert counts == {"a/b": {"way": 3}, "g.md": {"way": 1}}, counts
    assert not list(rises(counts, counts)) and len(list(rises(counts, {"a/b": {"way": 2}}))) == 2


def main():
    if sys.argv[1:] == ["--check"]:
        return self_test()
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    rejected, counted = rules(open(os.path.join(ROOT, RULES), encoding="utf-8").read())
    tree = texts()
    counts, file = count(tree, counted), os.path.join(ROOT, COUNTS)
    allowed = json.load(open(file, encoding="utf-8")) if os.path.exists(file) else counts
    found = [one for path, text in tree.items() for one in complaints(path, text, rejected)]
    found += rises(counts, allowed)
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    if found:
        sys.exit(f"prose: {len(found)} phrases")
    if sys.argv[1:]:
        with open(file, "w", encoding="utf-8") as out:
            out.write(json.dumps(counts, indent=1) + "\n")
    print("prose: no rejected phrase, and no ambiguous word more often than allowed")


if __name__ == "__main__":
    main()
