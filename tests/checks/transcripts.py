#!/usr/bin/env python3
"""Runs transcripts: command lines with the output and the exit code that they must have.

    transcripts.py IMGPIPE FILE.txt...            exit 1 and a diff for each file that differs
    transcripts.py --accept IMGPIPE FILE.txt...   rewrites the files; review the diff like code
    transcripts.py --check                        tests this program

A transcript is text with marked lines, in this order for each command:

    $ COMMAND         run by bash with pipefail; the next lines of one command begin with "> "
    | LINE            expected on stdout
    ! LINE            expected on stderr
    ? N               expected exit code, if not 0

"# HEADING" begins a test in a fresh directory. Commands before the first heading are the setup: they run once, and
every test begins with a copy of the files they made. Paragraphs without marks are comments.

Placeholders in expected lines:

    {DIR}      the directory of the test        {TIME}     a number and a unit of time: 3.1 ms
    {VERSION}  the version of imgpipe           {BYTES}    a number and a unit of size: 1.2 KB
    {N}        a number                         {ANY}      any text in a line
    {LINES}    alone on a line: any lines, or none

--accept keeps expected lines that still match and replaces the others. In new lines it substitutes {DIR}, {VERSION} and
{TIME}. Bytes that are not printable are written {xNN}, as is the brace of a placeholder's name; "{NO NEWLINE}" stands
where the last line has no newline. No device is visible, stdin is empty, stdout is not a terminal. The programs in
tests/transcripts/tools/ are in PATH.
"""
import concurrent.futures
import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TIME_LIMIT_S = 120
NUMBER = r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
TIME = r"\d[\d,]*(?:\.\d+)? (?:ns|us|µs|ms|s|min|h)\b"
BYTES = r"\d[\d,]*(?:\.\d+)? (?:[kKMGT]i?B|bytes?|B)\b"
PLACEHOLDERS = {"{TIME}": TIME, "{N}": NUMBER, "{BYTES}": BYTES, "{ANY}": ".*"}
KEPT_VARIABLES = re.compile(r"PATH|LD_LIBRARY_PATH|TMPDIR|\w+SAN_OPTIONS")
TOOLS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "transcripts", "tools")


class Mistake(Exception):
    """A malformed transcript."""


class Sandbox:
    """The environment of a transcript: the directory of the test, the programs, the variables."""

    def __init__(self, program, root):
        self.directory = os.path.join(root, "test")
        programs, home = os.path.join(root, "programs"), os.path.join(root, "home")
        os.mkdir(programs)
        os.mkdir(home)
        os.symlink(os.path.abspath(program), os.path.join(programs, "imgpipe"))
        self.environment = {name: value for name, value in os.environ.items() if KEPT_VARIABLES.fullmatch(name)}
        self.environment.update(PATH=f"{programs}:{TOOLS}:{os.environ['PATH']}", HOME=home,
                                LC_ALL="C.UTF-8", TZ="UTC", CUDA_VISIBLE_DEVICES="")
        os.mkdir(self.directory)
        said = re.match(r"imgpipe (\S+)", self.run("imgpipe --version")[0])
        self.known = {"{DIR}": self.directory, "{VERSION}": said.group(1) if said else None}

    def run(self, command):
        """Stdout, stderr and the exit code of a command."""
        with subprocess.Popen(["bash", "-o", "pipefail", "-c", command], cwd=self.directory, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=TIME_LIMIT_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                err += f"transcripts.py: the command took more than {TIME_LIMIT_S} seconds\n".encode()
        return shown(out), shown(err), process.returncode

    def pattern(self, line):
        """The regular expression of an expected line."""
        if line == "{LINES}":
            return r"(?:[^\n]*\n)*?"
        parts = re.split(r"(\{[A-Z]+\})", line)
        return "".join(PLACEHOLDERS.get(part) or re.escape(self.known.get(part) or part) for part in parts) + r"\n"

    def accepted(self, expected, got):
        """The expected lines if they match the output, else new ones, keeping those that still match."""
        if re.fullmatch("".join(map(self.pattern, expected)), got):
            return expected
        expected = [line for line in expected if line != "{LINES}"]
        lines = []
        for line in got.splitlines(keepends=True):
            match = next((i for i, old in enumerate(expected) if re.fullmatch(self.pattern(old), line)), None)
            lines.append(self.substituted(line[:-1]) if match is None else expected[match])
            del expected[:0 if match is None else match + 1]
        return lines

    def substituted(self, line):
        for placeholder, value in self.known.items():
            line = line.replace(value, placeholder) if value else line
        return re.sub(TIME, "{TIME}", line)


def shown(data):
    """Output as lines of printable text, each with its newline."""
    text = data.decode("utf-8", "surrogateescape")
    text = "".join(c if c.isprintable() or c in "\n\t" else "".join(f"{{x{byte:02X}}}" for byte in
                   c.encode("utf-8", "surrogateescape")) for c in text)
    text = re.sub(r"\{(?=(DIR|VERSION|TIME|BYTES|N|ANY|LINES|NO NEWLINE)\})", "{x7B}", text)
    return text if not text or text.endswith("\n") else text + "{NO NEWLINE}\n"


def parse(text):
    """The parts of a transcript: ("text", LINE), ("heading", LINE) or ("command", LINES, OUT, ERR, CODE)."""
    parts = []
    for number, line in enumerate(text.splitlines(), 1):
        mark, rest = line[:1], line[2:]
        if mark in "$>|!?#" and mark and line[1:2] not in ("", " "):
            raise Mistake(f"line {number}: expected a space after the mark")
        if mark in (">", "|", "!", "?") and (not parts or parts[-1][0] != "command"):
            raise Mistake(f"line {number}: no command precedes this line")
        if mark == "$":
            parts.append(["command", [rest], [], [], 0])
        elif mark == "?":
            parts[-1][4] = int(rest)
        elif mark in (">", "|", "!"):
            parts[-1][{">": 1, "|": 2, "!": 3}[mark]].append(rest)
        elif mark and mark != "#" and parts and parts[-1][0] == "command":
            raise Mistake(f"line {number}: text follows a command without an empty line")
        else:
            parts.append(["heading" if mark == "#" else "text", line])
    return parts


def played(program, text):
    """Returns the transcript with the actual output: equal to the text if every expectation holds."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="transcript-") as root:
        place, setup = Sandbox(program, root), os.path.join(root, "setup")
        for kind, *part in parse(text):
            if kind == "heading":
                if not os.path.exists(setup):
                    os.rename(place.directory, setup)
                shutil.rmtree(place.directory, ignore_errors=True)
                shutil.copytree(setup, place.directory, symlinks=True)
            if kind != "command":
                lines += part
                continue
            command, expected_out, expected_err, _ = part
            out, err, code = place.run("\n".join(command))
            lines += [f"{'>' if i else '$'} {line}" for i, line in enumerate(command)]
            for mark, expected, got in (("|", expected_out, out), ("!", expected_err, err)):
                lines += [f"{mark} {line}" if line else mark for line in place.accepted(expected, got)]
            lines += [f"? {code}"] if code else []
    return "".join(line + "\n" for line in lines)


def run_file(program, path, accept):
    """The report on a file; "" if it is as expected or was accepted."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        got = played(program, text)
    except Mistake as mistake:
        return f"{path}: {mistake}\n"
    if got == text:
        return ""
    if not accept:
        return "".join(difflib.unified_diff(text.splitlines(True), got.splitlines(True), f"{path} (expected)",
                                            f"{path} (got)"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(got)
    return ""


def run_files(program, paths, accept):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = [report for report in pool.map(lambda path: run_file(program, path, accept), paths) if report]
    print("".join(reports), end="")
    return 1 if reports else 0


def check():
    """Plays made-up transcripts with a program that is a script."""
    good = """The setup.

$ echo a >a; mkdir d
$ imgpipe --version
| imgpipe {VERSION}

# Placeholders

$ pwd; imgpipe 3.25 KB; echo "12.5 ms, x"; seq 9
| {DIR}
| imgpipe {VERSION} {BYTES}
| {TIME}, {ANY}
| 1
| {LINES}
| {N}
$ printf '\\xE9\\033' >&2
! {xE9}{x1B}{NO NEWLINE}
$ json - k.1 k.# <<END
> {"k": [1, "b"]} {"k": []}
> END
| b 2
! json: IndexError: {ANY}
? 1
$ sleep 0 | false | cat; echo $LC_ALL${IMGPIPE_X}
| C.UTF-8
$ rm a; touch b

# A fresh directory

$ ls
| a
| d
$ echo {N}
| {x7B}N}
$ false
? 1
"""
    bad = [("| a\n", "| wrong\n"), ("$ false\n? 1\n", "$ false\n"), ("$ false\n? 1", "$ false\n? 2"),
           ("| a\n", ""), ("| d\n", "| d\n| e\n"), ("{TIME}", "{N}"), ("| {DIR}", "| {DIR}/x"),
           ("imgpipe {VERSION}\n", "imgpipe 1.2.4\n"), ("{NO NEWLINE}", ""), ("| d\n", "! d\n"),
           ("| {N}\n", "| 8\n"), ("IndexError", "KeyError"), ("{BYTES}", "{TIME}"), ("{x7B}N}", "{N}")]
    os.environ["IMGPIPE_X"] = "is not passed on"
    with tempfile.TemporaryDirectory() as directory:
        program, path = os.path.join(directory, "program"), os.path.join(directory, "t.txt")
        with open(program, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\n[ "$1" = --version ] && shift\necho imgpipe 1.2.3 "$@" | sed "s/ *$//"\n')
        os.chmod(program, 0o755)

        def report_of(text, accept=False):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return run_file(program, path, accept)

        assert report_of(good) == "", report_of(good)
        for right, wrong in bad:
            assert good.count(right) >= 1, right
            text = good.replace(right, wrong, 1)
            assert re.search("^[-+][^-+]", report_of(text), re.MULTILINE), f"{right!r} as {wrong!r} passed"
            assert report_of(text, accept=True) == "" and run_file(program, path, False) == "", wrong
        for text in ("| x\n", "$ true\nno empty line\n", "$true\n", "# h\n? 1\n"):
            assert ": line " in report_of(text), text
        report_of("$ pwd; imgpipe; echo 1,234.5 s; printf x\n", accept=True)
        with open(path, encoding="utf-8") as file:
            assert file.read().splitlines()[1:] == ["| {DIR}", "| imgpipe {VERSION}", "| {TIME}", "| x{NO NEWLINE}"]
    print("transcripts: the runner sees what it should")
    return 0


def main(arguments):
    if arguments == ["--check"]:
        return check()
    accept = arguments[:1] == ["--accept"]
    program, *paths = arguments[accept:] or [""]
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    return run_files(program, paths, accept)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
