#!/usr/bin/env python3
"""Makes README's drawings: docs/chart.svg from a table of docs/measured.md, docs/terminal.svg by recording commands.

    drawing.py chart               draws the chart
    drawing.py terminal IMGPIPE    runs the commands in a terminal and records them, with their times
    drawing.py --check             exit 1 if the chart does not show the table's numbers
"""
import os
import pty
import re
import subprocess
import sys
import tempfile
import time
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
CHART, TERMINAL = (os.path.join(HERE, name) for name in ("chart.svg", "terminal.svg"))
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
SANS, MONO = "font-family='DejaVu Sans, Verdana, sans-serif'", "font-family='DejaVu Sans Mono, Menlo, monospace'"

# ---- the chart ---------------------------------------------------------------------------------------
TABLE = "**A directory**"  # the paragraph of measured.md above the table
BAR, GAP, NAMES, BARS = 20, 8, 200, 520


def table():
    """Machine, date, and the rows (name, images per second) of TABLE."""
    with open(os.path.join(HERE, "measured.md"), encoding="utf-8") as file:
        facts, text = file.read().split(TABLE, 1)
    count = int(re.match(r": (\d+) photographs", text)[1])
    cells = [[cell.strip().replace("**", "") for cell in line.split("|")[1:-1]]
             for line in text.split("\n\n", 2)[1].splitlines()]
    seconds = cells[0].index("wall s")
    machine, date = re.search(r"^([^,\n]+, [^,\n]+), (\d{4}-\d\d-\d\d)", facts, re.MULTILINE).groups()
    return machine, date, [(row[0], count / float(row[seconds].split()[0])) for row in cells[2:]
                           if not row[0].startswith("commit")]


def chart():
    machine, date, rows = table()
    most = max(value for _, value in rows)
    width, top = NAMES + BARS + 70, 34
    height = top + len(rows) * (BAR + GAP) + 24
    parts = [SVG.format(width=width, height=height), f"<rect width='{width}' height='{height}' fill='#fff'/>",
             f"<text x='10' y='20' {SANS} font-size='14' font-weight='bold'>Photographs of 8 to 12 MP, JPEG to "
             "PNG through four stages: images per second</text>"]
    for number, (name, value) in enumerate(rows):
        y = top + number * (BAR + GAP)
        color = "#1f6f54" if name == "imgpipe" else "#9aa5b1"
        length = BARS * value / most
        parts += [f"<text x='{NAMES - 8}' y='{y + 15}' {SANS} font-size='12' text-anchor='end'>{escape(name)}</text>",
                  f"<rect x='{NAMES}' y='{y}' width='{length:.1f}' height='{BAR}' fill='{color}'/>",
                  f"<text x='{NAMES + length + 6:.1f}' y='{y + 15}' {SANS} font-size='12'>{value:.1f}</text>"]
    parts += [f"<text x='10' y='{height - 8}' {SANS} font-size='10' fill='#555'>{escape(machine)}; {date}</text>",
              "</svg>"]
    return "\n".join(parts) + "\n"


# ---- the recording -----------------------------------------------------------------------------------
COMMANDS = ["imgpipe photos/ out/ --format png", "imgpipe photos/01.jpg clean.png --clip 0.5 --cpu"]
NO_BREAK_SPACE = "\u00a0"  # SVG viewers join other spaces
COLUMNS, LINE, LETTER, PAUSE_S = 128, 17, 7.83, 1.2


class Screen:
    """What each line of a terminal showed, and since when. Knows CR, LF and erasing the rest of a line; no colours."""

    def __init__(self):
        self.lines = [[(0.0, "")]]
        self._column = 0

    def write(self, now, text):
        line = self.lines[-1][-1][1]
        for part in re.split(r"(\r|\n|\x1b\[K)", re.sub(r"\x1b\[[\d;]*m", "", text)):
            if part == "\n":
                self._keep(now, line)
                self.lines.append([])
                line, self._column = "", 0
            elif part == "\r":
                self._column = 0
            elif part == "\x1b[K":
                line = line[:self._column]
            elif part:
                line = line[:self._column] + part + line[self._column + len(part):]
                self._column += len(part)
        self._keep(now, line)

    def _keep(self, now, line):
        shown = self.lines[-1]
        if not shown or shown[-1][1] != line:
            shown.append((now, line))


def record(command, screen, start_s, environment):
    """Runs a command in a terminal. Returns when the next one begins, in seconds of the recording."""
    screen.write(start_s, f"$ {command}\n")
    begin = time.monotonic() - start_s - PAUSE_S / 2
    program, terminal = pty.fork()
    if program == 0:
        os.execvpe("sh", ["sh", "-c", f"stty cols {COLUMNS}; {command}"], environment)
    while True:
        try:
            text = os.read(terminal, 65536).decode()
        except OSError:  # the other end is closed
            break
        screen.write(time.monotonic() - begin, text.replace("\r\n", "\n"))
    if os.waitpid(program, 0)[1] != 0:
        raise SystemExit(f"drawing.py: {command}: failed")
    return time.monotonic() - begin + PAUSE_S


def drawn(screen, machine):
    """The recording as SVG. Viewers that do not animate show the last state of each line."""
    width, height = round(COLUMNS * LETTER) + 24, (len(screen.lines) + 1) * LINE + 30
    parts = [SVG.format(width=width, height=height),
             f"<rect width='{width}' height='{height}' rx='8' fill='#16191d'/>",
             f"<g {MONO} font-size='13' fill='#d7dce2'>"]
    for number, states in enumerate(screen.lines):
        ends = [begin for begin, _ in states[1:]] + [None]
        for (begin, text), end in zip(states, ends):
            if not text.strip():
                continue
            color = " fill='#7fd1a5'" if text.startswith("$ ") else ""
            final = "" if end is None else " visibility='hidden'"
            change = (f"to='hidden' begin='0s' end='{begin:.2f}s'" if end is None else
                      f"to='visible' begin='{begin:.2f}s' end='{end:.2f}s'")
            line = escape(text.replace(" ", NO_BREAK_SPACE))
            parts.append(f"<text x='12' y='{(number + 1) * LINE + 8}'{color}{final}>{line}"
                         f"<set attributeName='visibility' {change}/></text>")
    parts += ["</g>", f"<text x='12' y='{height - 10}' {SANS} font-size='10' fill='#8a939c'>{escape(machine)}</text>",
              "</svg>"]
    return "\n".join(parts) + "\n"


def terminal(program):
    with tempfile.TemporaryDirectory() as directory:
        os.makedirs(f"{directory}/bin")
        os.symlink(os.path.abspath(program), f"{directory}/bin/imgpipe")
        environment = {**os.environ, "PATH": f"{directory}/bin:{os.environ['PATH']}", "TERM": "xterm"}
        os.chdir(directory)
        os.mkdir("photos")
        for number in range(1, 41):
            subprocess.run([program, "synth", f"photos/{number:02}.jpg", "--pattern", "photo", "--size", "3264x2448",
                            "--seed", str(number), "-q"], check=True)
        screen, now = Screen(), 0.5
        for command in COMMANDS:
            now = record(command, screen, now, environment)
        os.chdir("/")
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        processor = re.search(r"model name\s*: (.*)", file.read())
    name = processor[1] if processor else "unknown processor"
    return drawn(screen, f"{name}, {os.cpu_count()} virtual processors; {time.strftime('%F')}")


def main(arguments):
    if arguments == ["--check"]:
        with open(CHART, encoding="utf-8") as file:
            if file.read() == chart():
                return 0
        print("docs/chart.svg: not what docs/measured.md says; run docs/drawing.py chart")
        return 1
    if arguments == ["chart"]:
        path, text = CHART, chart()
    elif len(arguments) == 2 and arguments[0] == "terminal":
        path, text = TERMINAL, terminal(os.path.abspath(arguments[1]))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
