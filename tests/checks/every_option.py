#!/usr/bin/env python3
"""Shows every option of every command by a line that is run, and makes docs/every-option.md from the same rows.

    every_option.py IMGPIPE            runs all rows; exit 1 and a line for each problem
    every_option.py IMGPIPE --write    rewrites docs/every-option.md, and runs nothing
    every_option.py --check            tests itself on wrong tables and rows

The rows are in option_rows/. The program lists its options (in its completions for bash). An option, letter or alias
without a row is an error. So are a row of an unknown option and an exit code that is not on the command's man page.
Standard library only.
"""
import concurrent.futures
import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from option_rows import ALL_ROWS, inputs
from option_rows.row import Outcome, Row

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "every-option.md")
COLUMNS = 120


# ---- what there is -----------------------------------------------------------------------------------

def commands_and_flags(path, folder):
    """{command: its flags}; the main command is ""."""
    line = ('source <(imgpipe docs bash); for command in "" $_imgpipe_commands; do '
            'echo "$command:$(_imgpipe_flags "$command")"; done')
    shown = Outcome(folder, path, line)
    assert shown.code == 0, shown.err
    found = {}
    for row in shown.out.splitlines():
        command, _, flags = row.partition(":")
        found[command] = flags.split()
    return found


def documented_exits(path, folder, command):
    """The exit codes on the command's man page."""
    page = Outcome(folder, path, f"imgpipe docs man {command}").out
    section = re.search(r"\.SH EXIT STATUS\n(.*?)\.SH ", page, re.DOTALL).group(1)
    return {int(code) for item in re.findall(r"^\\fB([\d, ]+)\\fR$", section, re.MULTILINE) for code in item.split(",")}


def coverage_complaints(there, all_rows):
    """Every flag has a row; every row has a known flag, which its line contains."""
    for command in sorted(set(all_rows) - set(there)):
        yield f"rows of a command that there is not: {command}"
    for command, flags in there.items():
        rows = all_rows.get(command, [])
        shown = {flag for row in rows for flag in row.flags.split()}
        for flag in flags:
            if flag not in shown:
                yield f"imgpipe {command}: {flag} has no row"
        for flag in sorted(shown - set(flags)):
            yield f"imgpipe {command}: {flag} has a row but does not exist"
        for row in rows:
            words = shlex.split(row.line, comments=True)
            yield from (f"{flag} does not stand in: {row.line}" for flag in row.flags.split()
                        if "{}" not in row.line and flag not in {word.split("=")[0] for word in words})
            calls = [word for word in words if word == "imgpipe"]
            if not calls or (command and f"imgpipe {command} " not in row.line + " "):
                yield f"a row of imgpipe {command} does not call it: {row.line}"


# ---- rows at work ------------------------------------------------------------------------------------

def copy_inputs(made, folder):
    shutil.copytree(made, folder, copy_function=os.link, symlinks=True)


def trial(path, made, number, row, flag):
    """(exit code, problem or None) of one row, run in its own directory."""
    folder = os.path.join(os.path.dirname(made), str(number))
    copy_inputs(made, folder)
    line = row.line.replace("{}", flag)
    outcome = Outcome(folder, path, line, row.terminal)
    said = f"\n  stdout: {outcome.out[-1500:]}\n  stderr: {outcome.err[-1500:]}"
    if row.code is not None and outcome.code != row.code:
        return outcome.code, f"{line}: ended with {outcome.code}, not with {row.code}{said}"
    try:
        right = row.check(outcome)
    except Exception as error:  # pylint: disable=broad-except
        return outcome.code, f"{line}: {type(error).__name__}: {error}{said}"
    shutil.rmtree(folder)
    return outcome.code, None if right else f"{line}: not so: {row.shows}{said}"


def has_cuda(path, folder):
    return bool(Outcome(folder, path, "imgpipe devices --json").json()["cuda"]["devices"])


def check_rows(path, work):
    made = os.path.join(work, "inputs")
    os.mkdir(made)
    inputs.make(lambda line: Outcome(made, path, line), made)
    cuda = has_cuda(path, work)
    tasks = [(command, row, flag) for command, rows in ALL_ROWS.items() for row in rows
             for flag in (row.flags.split() if "{}" in row.line else [""])
             if row.cuda is None or row.cuda == cuda]
    codes, complaints = {}, []
    with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
        results = pool.map(lambda task: trial(path, made, task[0], task[1][1], task[1][2]), enumerate(tasks))
        for (command, _, _), (code, complaint) in zip(tasks, results):
            codes.setdefault(command, set()).add(code)
            if complaint:
                complaints.append(complaint)
    for command, seen in codes.items():
        for code in sorted(seen - documented_exits(path, work, command)):
            complaints.append(f"imgpipe {command}: its man page does not name the exit code {code}")
    return complaints, len(tasks)


# ---- the page ----------------------------------------------------------------------------------------

def cell(text):
    return text.replace("|", "\\|")


def table(rows):
    yield "| option | line | what it shows |"
    yield "|---|---|---|"
    for row in rows:
        flags = row.flags.split()
        line = " ".join(row.line.replace("{}", flags[-1]).split())
        shows = row.shows
        if row.cuda is not None:
            shows += " (with CUDA)" if row.cuda else " (without CUDA)"
        yield f"| {', '.join(f'`{flag}`' for flag in flags)} | `{cell(line)}` | {cell(shows)} |"


def page():
    lines = ["# Every option, shown", "",
             "Every option of every command with a line that shows that it works: letters and other names too. A test",
             "runs each line and looks at what it says here; where an option has no line, it fails. This page is made",
             "of the test's own rows: `tests/checks/every_option.py IMGPIPE --write`. What the options mean:",
             "[options.md](options.md).", "",
             "The lines are bash's, each in a folder of its own with these files:", "", "```"]
    lines += inputs.LINES
    lines += ["```", ""] + inputs.MORE + [""]
    for command, rows in ALL_ROWS.items():
        lines += [f"## imgpipe {command}".rstrip(), "", *table(rows), ""]
    return "\n".join(lines[:-1]) + "\n"


def page_complaints(text):
    for line in text.splitlines():
        if len(line) > COLUMNS:
            yield f"{len(line)} columns, at most {COLUMNS}: {line}"
    with open(PAGE, encoding="utf-8") as file:
        if file.read() != text:
            yield "docs/every-option.md is not made of these rows: every_option.py IMGPIPE --write"


def check():
    """Errors in a table are found, and so is a row whose check fails."""
    row = Row("-q --quiet", "imgpipe info a {}", "nothing", lambda r: r.out == "")
    there = {"info": ["-q", "--quiet"]}
    assert not list(coverage_complaints(there, {"info": [row]}))
    for flags, rows in ((["-q", "--quiet", "-v"], [row]), (["-q"], [row]), (["-q", "--quiet"], []),
                        (["-q", "--quiet"], [dataclasses.replace(row, line="imgpipe info a -q")]),
                        (["-q", "--quiet"], [dataclasses.replace(row, line="imgpipe a {}")])):
        assert list(coverage_complaints({"info": flags}, {"info": rows})), rows
    assert list(coverage_complaints(there, {"info": [row], "other": [row]}))
    with tempfile.TemporaryDirectory() as work:
        made, path = (os.path.join(work, name) for name in ("inputs", "bin"))
        os.mkdir(made)
        os.mkdir(path)
        with open(os.path.join(path, "imgpipe"), "w", encoding="utf-8") as program:
            program.write('#!/bin/sh\necho "$@"\n[ "$3" = -q ]\n')
        os.chmod(program.name, 0o755)
        said = dataclasses.replace(row, check=lambda r: r.out == "info a -q\n")
        trials = [(said, "-q", True), (said, "--quiet", False), (row, "-q", False),
                  (dataclasses.replace(said, code=1), "-q", False),
                  (dataclasses.replace(said, check=lambda r: r.bytes("none")), "-q", False)]
        for number, (trial_row, flag, right) in enumerate(trials):
            assert (trial(path, made, number, trial_row, flag)[1] is None) == right, trial_row
    return 0


def main(arguments):
    if arguments == ["--check"]:
        return check()
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["--write"]):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments[1:]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page())
        return 0
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "bin")
        os.mkdir(path)
        os.symlink(os.path.abspath(arguments[0]), os.path.join(path, "imgpipe"))
        complaints = list(coverage_complaints(commands_and_flags(path, work), ALL_ROWS)) + list(page_complaints(page()))
        wrong, count = check_rows(path, work)
    for complaint in complaints + wrong:
        print("every_option: " + complaint)
    print(f"every_option: {count} lines run" + (", something is wrong" if complaints + wrong else ", all as they say"))
    return 1 if complaints + wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
