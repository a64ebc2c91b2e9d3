"""A row of the table of options: the option, a line of bash that shows it, and the check of its outcome."""
import dataclasses
import json
import os
import pty
import re
import subprocess
import typing


@dataclasses.dataclass(frozen=True)
class Row:
    """`flags`: the option's flags, for example "-q --quiet"; `line` is run once per flag, which replaces {}.
    `shows`: the expected outcome, for people. `check`: the same as a function of an Outcome, which returns True.
    `code`: the expected exit code. `cuda`: None, or whether the row needs a machine with a device (True) or
    without (False). `terminal`: the output goes to a terminal."""
    flags: str
    line: str
    shows: str
    check: typing.Callable
    code: int = 0
    cuda: typing.Optional[bool] = None
    terminal: bool = False


class Outcome:
    """The results of a line, and the directory in which it ran."""

    def __init__(self, folder, path, line, terminal=False):
        self.folder, self.path = folder, path
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("SLURM_") and name not in ("NO_COLOR", "COLUMNS", "IMGPIPE_SIMD")}
        environment["PATH"] = f"{path}:{environment['PATH']}"
        environment["small"] = "--device cpu --size 64x64 --repeat 1 --format json"
        environment["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        run = ["bash", "-c", line]
        if terminal:
            self.code, self.out = on_terminal(run, folder, environment)
            self.err = ""
            return
        ended = subprocess.run(run, cwd=folder, env=environment, capture_output=True, check=False)
        self.code = ended.returncode
        self.raw = ended.stdout
        self.out, self.err = (text.decode(errors="replace") for text in (ended.stdout, ended.stderr))
        # Builds with sanitizers print this warning in bench.
        self.err = re.sub("imgpipe: warning: sanitizer build.*\n", "", self.err)

    def run(self, line, terminal=False):
        return Outcome(self.folder, self.path, line, terminal)

    def bytes(self, name):
        """A file without the hashes in our mark, which differ with names and options, and without their CRC in PNG."""
        with open(os.path.join(self.folder, name), "rb") as file:
            data = file.read()
        return re.sub(rb"Software\0imgpipe(?: [0-9a-f]{16}){3}.{4}|imgpipe(?: [0-9a-f]{16}){3}", b"", data,
                      flags=re.DOTALL)

    def text(self, name):
        return self.bytes(name).decode()

    def json(self, name=None):
        """The JSON of a file, or of stdout."""
        return json.loads(self.out if name is None else self.text(name))

    def lines(self, name):
        return self.text(name).splitlines()

    def log(self):
        """The objects on stderr, with --log-format json."""
        return [json.loads(line) for line in self.err.splitlines()]

    def there(self, name):
        return os.path.exists(os.path.join(self.folder, name))

    def files(self, folder):
        """All files in the directory and below, sorted."""
        top = os.path.join(self.folder, folder)
        return sorted(os.path.relpath(os.path.join(below, name), top)
                      for below, _, names in os.walk(top) for name in names)

    def size(self, name):
        return len(self.bytes(name))

    def info(self, name):
        """The information of imgpipe info on an image."""
        return self.run(f"imgpipe info {name} --json - -q").json()["images"][0]

    def same(self, name, line, other=None):
        """Runs another line; returns whether it wrote `name`, or `other` if given, with the bytes that `name` had."""
        before = self.bytes(name)
        again = self.run(line)
        assert again.code == 0, again.err
        return before == self.bytes(other or name)


def on_terminal(run, folder, environment):
    """(exit code, the terminal's output: stdout and stderr)."""
    main, other = pty.openpty()
    with subprocess.Popen(run, cwd=folder, env=environment, stdin=other, stdout=other, stderr=other) as process:
        os.close(other)
        shown = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
    os.close(main)
    return process.returncode, shown.decode(errors="replace")
