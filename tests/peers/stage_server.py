"""A client of tests/peers/stage_server.cpp: runs stages over numpy arrays on any device and instruction set."""
import subprocess

import numpy as np


class StageError(Exception):
    """The message of imgpipe's error."""


class StageServer:
    def __init__(self, program):
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        self._process.stdin.close()
        self._process.wait()

    def targets(self):
        """The instruction sets of the CPU, best first."""
        return self._ask("targets").split()

    def why_no_cuda(self):
        """Empty if a CUDA device runs stages."""
        self.image(np.zeros((2, 2), np.uint8))
        try:
            self.run("invert", "cuda")
        except StageError as error:
            return str(error)
        return ""

    def image(self, array):
        """Sets the image of the following runs: HxW or HxWxC."""
        height, width = array.shape[:2]
        channels = 1 if array.ndim == 2 else array.shape[2]
        self._process.stdin.write(f"image {width} {height} {channels} {array.dtype.name}\n".encode() + array.tobytes())

    def run(self, stages, device="cpu", target="best", threads=1):
        """Returns the result, HxW or HxWxC; bfloat16 as the uint16 of its bits."""
        return self.timed_run(stages, device, target, threads)[0]

    def timed_run(self, stages, device="cpu", target="best", threads=1):
        """Returns the result, and the milliseconds of the run: [wall, of all processors]."""
        kind, _, rest = self._ask(f"run {device} {target} {threads} {stages}").partition(" ")
        if kind == "error":
            raise StageError(rest)
        width, height, channels = map(int, rest.split()[:3])
        sample, *milliseconds = rest.split()[3:]
        dtype = np.dtype("uint16" if sample == "bfloat16" else sample)
        shape = (height, width) if channels == 1 else (height, width, channels)
        samples = self._process.stdout.read(width * height * channels * dtype.itemsize)
        return np.frombuffer(samples, dtype).reshape(shape), [float(time) for time in milliseconds]

    def _ask(self, request):
        self._process.stdin.write(request.encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().decode().rstrip("\n")
        if not answer:
            raise RuntimeError(f"the server ended at: {request}")
        return answer
