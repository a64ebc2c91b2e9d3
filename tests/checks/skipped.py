#!/usr/bin/env python3
"""Summarises skipped tests by program and reason.

    skipped.py JUNIT.xml...     files from `ctest --output-junit`, one per build, in the build's directory
    skipped.py --check          tests itself on made-up files

Exit 1: a test was skipped without a reason.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

NAMED = 3  # groups of up to this many tests are listed by name; larger ones are only counted


def reason_of(output):
    """The reason from GTEST_SKIP() or a script's SKIPPED: line, as one line; None if there is none."""
    googletest = re.search(r": Skipped\n(.*?)\n\s*(?:\n|\[)", output, re.DOTALL)
    script = re.search(r"^SKIPPED: (.*)$", output, re.MULTILINE)
    found = googletest or script
    return " ".join(found.group(1).split()) if found and found.group(1).strip() else None


def programs_of(build):
    """The program of each googletest test; JUnit files do not name it."""
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, check=True)
    commands = {test["name"]: test.get("command", []) for test in json.loads(shown.stdout)["tests"]}
    return {name: os.path.basename(command[0]) for name, command in commands.items()
            if any(argument.startswith("--gtest_filter=") for argument in command)}


def skipped_tests(path):
    """The number of all tests, and the skipped ones by program and reason."""
    cases = list(xml.parse(path).iter("testcase"))
    programs = programs_of(os.path.dirname(os.path.abspath(path)))
    groups = {}
    for case in cases:
        if case.find("skipped") is None:
            continue
        name = case.get("name")
        key = programs.get(name, ""), reason_of(case.findtext("system-out") or "")
        groups.setdefault(key, []).append(name)
    return len(cases), groups


def line(program, reason, names):
    said = (f"{program}: " if program else "") + (reason or "NO REASON GIVEN")
    return f"{len(names):6}  {said}" + (": " + ", ".join(names) if len(names) <= NAMED or reason is None else "")


def summary(path, title):
    count, groups = skipped_tests(path)
    order = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0][0], group[0][1] or ""))
    lines = [f"{title}: {sum(map(len, groups.values()))} of {count} tests skipped"]
    lines += [line(program, reason, names) for (program, reason), names in order]
    return lines, all(reason is not None for _, reason in groups)


def made_up_build(folder, cases):
    """Writes the tests of a build for ctest, and the results of a run; returns the path of the results."""
    with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
        for program in ("a_test", "b_test"):
            path = os.path.join(folder, program)
            with open(path, "w", encoding="utf-8"):  # ctest shows no command for a missing program
                os.chmod(path, 0o700)
            for i in range(4):
                file.write(f"add_test([=[{program}.{i}]=] [=[{path}]=] --gtest_filter={program}.{i})\n")
        file.write("add_test(C sh -c c)\n")
    path = os.path.join(folder, "tests.xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("<testsuite>" + "".join(cases) + "</testsuite>")
    return path


def check():
    case = '<testcase name="{}" status="notrun"><skipped message="x"/><system-out>{}</system-out></testcase>'
    skip = "[ RUN      ] T\n../t.cpp:7: Skipped\n{}\n[  SKIPPED ] T (0 ms)\n"
    cases = [case.format(f"a_test.{i}", skip.format("no GPU")) for i in range(4)]
    cases += [case.format(f"b_test.{i}", skip.format("no GPU")) for i in range(2)]
    cases += [case.format("b_test.2", skip.format("one\nreason")), case.format("C", "SKIPPED: no Pillow\nmore\n")]
    cases += ['<testcase name="run"><system-out>x.cpp:1: Skipped\nno\n[</system-out></testcase>']
    silent = case.format("D", "nothing said")
    for more, right in (([], True), ([silent], False)):
        with tempfile.TemporaryDirectory() as folder:
            lines, all_say_why = summary(made_up_build(folder, cases + more), "t")
        want = [f"t: {8 + len(more)} of {9 + len(more)} tests skipped", "     4  a_test: no GPU",
                "     2  b_test: no GPU: b_test.0, b_test.1", "     1  no Pillow: C",
                "     1  b_test: one reason: b_test.2"]
        if more:
            want.insert(3, "     1  NO REASON GIVEN: D")
        assert lines == want, lines
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
