"""The options of every command for the amount and the format of messages."""
import re

from .row import Row

COLOR = re.compile(r"\x1b\[[0-9;]+m")


def version_and_help(command):
    call = f"imgpipe {command}".strip()
    return [
        Row("--version", f"{call} --version", "version, compiler, libraries",
            lambda r: r.out.startswith("imgpipe 0.") and "\ncompiler: " in r.out and "\nlibrary: " in r.out),
        Row("-h --help", f"{call} {{}}", "the command's options, like `imgpipe help COMMAND`",
            lambda r: "\nGeneral:\n" in r.out and r.out == r.run(f"imgpipe help {command}").out) if command else
        Row("-h", "imgpipe -h", "usage, examples and the most used options, on one screen",
            lambda r: "\nExamples:\n" in r.out and len(r.out.splitlines()) <= 60),
        *([] if command else [Row("--help", "imgpipe --help", "every option, like `imgpipe help`",
                                  lambda r: "\nGeneral:\n" in r.out and r.out == r.run("imgpipe help").out)]),
    ]


def rows(command, right, quiet, verbose, wrong):
    """`right`, `wrong`: arguments that succeed, and that cause an error naming a file. `quiet`: the rest of stdout with
    -q. `verbose`: a text on stderr with -v."""
    call = f"imgpipe {command} {right}".strip()
    wrong_call = f"imgpipe {command} {wrong}".strip()
    return [
        Row("-q --quiet", f"{call} {{}}", "no table" if quiet == "" else "no table, only the results",
            lambda r: r.out == quiet and r.err == ""),
        Row("-v --verbose", f"{call} {{}}", f"stderr: `{verbose}`", lambda r: verbose in r.err),
        Row("--no-color", f"{wrong_call} --no-color", "no colour, even on a terminal",
            lambda r: not COLOR.search(r.out) and "imgpipe: " in r.out and
            COLOR.search(r.run(wrong_call, terminal=True).out), code=None, terminal=True),
        Row("--log-format", f"{wrong_call} --log-format json", "the error is a JSON object",
            lambda r: [line["schema"] for line in r.log() if line["level"] == "error"] == ["imgpipe/log/1"] and
            r.code != 0, code=None),
        *version_and_help(command),
    ]


def main_rows():
    return rows("", "a.png o.png", "", "steps: gray hist contrast smooth", "cut.jpg o.png") + [
        Row("--log-format", "imgpipe mixed out/ --log-format json",
            "a line for `cut.jpg` with its reason, and a summary",
            lambda r: [(line["input"], line["output"]) for line in r.log() if line["level"] == "error"] ==
            [("mixed/cut.jpg", "out/cut.jpg")] and r.log()[-1]["progress"]["done"] == 2, code=1)]
