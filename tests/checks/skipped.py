#!/usr/bin/env python3
"""Sums up by reason what ctest skipped.

    skipped.py JUNIT.xml...     as `ctest --output-junit` writes them, one a build
    skipped.py --check          tries itself on a made-up one

Exit 1: a test was skipped and did not say why.
"""
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as xml

NAMED = 3  # so many tests of one reason are named, more are only counted


def reason_of(output):
    """What GTEST_SKIP() or a script's SKIPPED: said, in one line; None where neither did."""
    googletest = re.search(r": Skipped\n(.*?)\n\s*(?:\n|\[)", output, re.DOTALL)
    script = re.search(r"^SKIPPED: (.*)$", output, re.MULTILINE)
    found = googletest or script
    return " ".join(found.group(1).split()) if found and found.group(1).strip() else None


def skipped_tests(path):
    """The number of all tests, and those skipped by reason."""
    cases = list(xml.parse(path).iter("testcase"))
    by_reason = {}
    for case in cases:
        if case.find("skipped") is None:
            continue
        by_reason.setdefault(reason_of(case.findtext("system-out") or ""), []).append(case.get("name"))
    return len(cases), by_reason


def summary(path, title):
    count, by_reason = skipped_tests(path)
    lines = [f"{title}: {sum(map(len, by_reason.values()))} of {count} tests skipped"]
    for reason, names in sorted(by_reason.items(), key=lambda entry: (-len(entry[1]), entry[0] or "")):
        named = ": " + ", ".join(names) if len(names) <= NAMED or reason is None else ""
        lines.append(f"{len(names):6}  {reason or 'NO REASON GIVEN'}{named}")
    return lines, None not in by_reason


def check():
    case = '<testcase name="{}" status="notrun"><skipped message="x"/><system-out>{}</system-out></testcase>'
    skip = "[ RUN      ] T\n../t.cpp:7: Skipped\n{}\n[  SKIPPED ] T (0 ms)\n"
    cases = [case.format(f"A.{i}", skip.format("no GPU")) for i in range(4)]
    cases += [case.format("B", skip.format("one\nreason")), case.format("C", "SKIPPED: no Pillow\nmore\n")]
    cases += ['<testcase name="run"><system-out>x.cpp:1: Skipped\nno\n[</system-out></testcase>']
    for more, right in (([], True), ([case.format("D", "nothing said")], False)):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tests.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("<testsuite>" + "".join(cases + more) + "</testsuite>")
            lines, all_say_why = summary(path, "t")
        want = [f"t: {6 + len(more)} of {7 + len(more)} tests skipped", "     4  no GPU", "     1  no Pillow: C",
                "     1  one reason: B"]
        if more:
            want.insert(2, "     1  NO REASON GIVEN: D")
        assert sorted(lines) == sorted(want), lines
        assert lines[:2] == want[:2], lines
        assert all_say_why == right
    return 0


def main(arguments):
    if arguments == ["--check"]:
        return check()
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    fine = True
    for path in arguments:
        lines, all_say_why = summary(path, os.path.basename(os.path.dirname(os.path.abspath(path))))
        print("\n".join(lines))
        fine = fine and all_say_why
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
