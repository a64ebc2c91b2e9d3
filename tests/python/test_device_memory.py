"""Memory of devices and of the host over many batches; errors among good items; processes that fork."""
import gc
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time

import imgpipe
import numpy as np
import pytest

from cuda_modules import encoded, in_new_process, needs_device, needs_torch, noise, smooth_noise

pytestmark = needs_device
MIB = 1 << 20
STAGES = "resize:32:32:bilinear,normalize:imagenet:dtype=float16"


def used_on_device():
    import torch
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return total - free


def resident():
    with open("/proc/self/statm", encoding="ascii") as status:
        return int(status.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def files(count, height, width):
    return [encoded(smooth_noise(height + i, width - i, i), quality=90) for i in range(count)]


def growth_of_batches(batches):
    """The growth of device and host memory from a tenth of the batches to their end, on random streams."""
    import torch
    numbers = random.Random(3)
    good = files(12, 48, 64)
    damaged = [good[0][:300], b"", b"\xff\xd8\xff", bytes(range(256))]
    pipe = imgpipe.Pipeline(STAGES, device="cuda", on_error="skip")
    mixed = imgpipe.Pipeline("gray", device="cuda", on_error="return")
    streams = [torch.cuda.default_stream(), *(torch.cuda.Stream() for _ in range(3))]
    image = torch.zeros((40, 50, 3), dtype=torch.uint8, device="cuda")
    start = None
    for number in range(batches):
        with torch.cuda.stream(numbers.choice(streams)):
            sources = numbers.choices(good, k=8) + numbers.choices(damaged, k=numbers.randrange(3))
            batch = pipe.batch(sources)
            assert batch.images.shape == (8, 3, 32, 32)
            if number % 3:
                torch.from_dlpack(batch.images).sum()
            if number % 7 == 0:
                mixed.batch(sources)  # a list: the shapes differ
            if number % 11 == 0:
                mixed(image)
        if number == batches // 10:
            gc.collect()
            start = used_on_device(), resident()
    del batch
    gc.collect()
    return used_on_device() - start[0], resident() - start[1]


@needs_torch
def test_10000_batches_do_not_grow():
    device, host = in_new_process(growth_of_batches, 10_000)
    assert device <= 4 * MIB and host <= 16 * MIB, f"device {device / MIB:.1f} MiB, host {host / MIB:.1f} MiB"


class Peak:
    """Samples the device memory in use."""

    def __init__(self):
        self.most, self.running = 0, True
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()

    def sample(self):
        import torch
        while self.running:
            free, total = torch.cuda.mem_get_info()
            self.most = max(self.most, total - free)
            time.sleep(0.001)

    def end(self):
        self.running = False
        self.thread.join()
        return self.most


def memory_of_batches(limit):
    """The most device memory beyond the context and the results, and what remains after trim()."""
    import torch
    torch.zeros(1, device="cuda")
    before = used_on_device()
    if limit:
        imgpipe.memory_limit(limit)
    assert imgpipe.memory_limit() == (limit or 400 * MIB)
    large, small = files(4, 2448, 3264), files(16, 375, 500)
    pipe = imgpipe.Pipeline(STAGES, device="cuda")
    expected = imgpipe.Pipeline(STAGES).batch(large)
    most = 0
    for sources in (large * 16, small * 64, large[:1], [noise((2000, 3000, 3))] * 8):
        for _ in range(3):
            peak = Peak()
            result = pipe.batch(sources)
            most = max(most, peak.end() - before - int(np.prod(result.shape)) * 2)
            if sources[0] is large[0]:
                np.testing.assert_array_equal(result.numpy()[:1], expected[:1])
            del result
    peak = Peak()
    decoded = imgpipe.decode(large, device="cuda")
    most = max(most, peak.end() - before - sum(int(np.prod(image.shape)) for image in decoded))
    del decoded
    gc.collect()
    host = resident()
    imgpipe.trim()
    after = used_on_device() - before
    assert resident() <= host
    np.testing.assert_array_equal(pipe.batch(large).numpy(), expected)
    return most, after


@needs_torch
@pytest.mark.parametrize("limit", [None, 150 * MIB])
def test_memory_beyond_results(limit):
    most, after = in_new_process(memory_of_batches, limit)
    assert most <= (limit or 400 * MIB), f"{most / MIB:.0f} MiB"
    assert after <= 64 * MIB, f"{after / MIB:.0f} MiB after trim()"  # the kernels' code


def memory_of_files(limit, directory):
    """The most device memory beyond the context that run(), convert() and run_directory() take."""
    import torch
    torch.zeros(1, device="cuda")
    imgpipe.memory_limit(limit)
    image = np.tile(smooth_noise(500, 700, 1), (10, 10, 1))  # 105 MB
    inputs = os.path.join(directory, "in")
    os.mkdir(inputs)
    imgpipe.write(os.path.join(inputs, "large.png"), image, level=1)
    for i, file in enumerate(files(12, 2000, 3000)):
        with open(os.path.join(inputs, f"{i}.jpg"), "wb") as out:
            out.write(file)
    host, pipe = imgpipe.Pipeline("smooth"), imgpipe.Pipeline("smooth", device="cuda")
    expected = host(image)

    def convert(name):
        pipe.convert(os.path.join(inputs, "large.png"), os.path.join(directory, name))
        np.testing.assert_array_equal(imgpipe.read(os.path.join(directory, name)), expected)

    def whole_directory(name):
        out = os.path.join(directory, name)
        assert imgpipe.run_directory(inputs, out, "smooth", format="png", device="cuda").done == 13
        np.testing.assert_array_equal(imgpipe.read(os.path.join(out, "large.png")), expected)
        for i in range(12):
            np.testing.assert_array_equal(imgpipe.read(os.path.join(out, f"{i}.png")),
                                          host.read(os.path.join(inputs, f"{i}.jpg")))

    most = {}
    before = used_on_device()
    for call in (lambda: np.testing.assert_array_equal(pipe.run(image)[0], expected), lambda: convert("out.png"),
                 lambda: whole_directory("out")):
        peak = Peak()
        call()
        most[len(most)] = peak.end() - before
        imgpipe.trim()
    return most


@needs_torch
@pytest.mark.parametrize("limit", [150 * MIB, 400 * MIB])
def test_memory_of_the_programs_engines(limit, tmp_path):
    most = in_new_process(memory_of_files, limit, str(tmp_path))
    assert max(most.values()) <= limit, {call: f"{used / MIB:.0f} MiB" for call, used in most.items()}


def memory_after_dropping(count):
    """What remains on the device of many large results after they were dropped and a small one was made."""
    import torch
    torch.zeros(1, device="cuda")
    before = used_on_device()
    pipe, array = imgpipe.Pipeline("invert", device="cuda"), noise((4000, 5000, 3))
    results = [pipe(array) for _ in range(count)]
    most = used_on_device() - before
    results.clear()
    pipe(array[:30, :40])
    return most, used_on_device() - before


@needs_torch
def test_dropped_results_are_freed():
    most, left = in_new_process(memory_after_dropping, 20)
    assert most >= 1200 * 10**6 and left <= 400 * MIB, f"{most / MIB:.0f} and {left / MIB:.0f} MiB"


def mixed_sources():
    good = files(5, 61, 83)
    png = encoded(smooth_noise(50, 40, 9), "PNG")
    broken = bytearray(png)
    broken[len(png) // 2] ^= 255
    return [good[0], b"", good[1][: len(good[1]) // 2], good[2], bytes(broken), png, b"not an image", good[3],
            good[4][:-2], "/does/not/exist.jpg", noise((30, 20, 3))]


@pytest.mark.parametrize("lenient", [False, True])
def test_errors_among_good_items(lenient):
    sources = mixed_sources()
    for on_error in ("return", "skip"):
        batches = [imgpipe.Pipeline(STAGES, device=device, on_error=on_error, lenient=lenient).batch(sources)
                   for device in ("cuda", "cpu")]
        np.testing.assert_array_equal(batches[0].images.numpy(), batches[1].images)
        assert [str(error) for error in batches[0].errors] == [str(error) for error in batches[1].errors]
        assert list(batches[0].indices) == list(batches[1].indices)
        assert sum(error is not None for error in batches[0].errors) >= (3 if lenient else 5)
    messages = []
    for device in ("cuda", "cpu"):
        with pytest.raises(imgpipe.DecodeError) as raised:
            imgpipe.Pipeline(STAGES, device=device, lenient=lenient).batch(sources)
        messages.append(str(raised.value))
    assert messages[0] == messages[1] and "1" in messages[0]


def test_a_failed_batch_leaves_the_device_usable():
    pipe = imgpipe.Pipeline(STAGES, device="cuda")
    good = files(3, 61, 83)
    expected = imgpipe.Pipeline(STAGES).batch(good)
    for _ in range(50):
        with pytest.raises(imgpipe.DecodeError):
            pipe.batch([*good, b"\xff\xd8"])
        with pytest.raises(ValueError):
            pipe.batch(good, boxes=[(0, 0, 10, 10), (0, 0, 1000, 10), (0, 0, 10, 10)])
        np.testing.assert_array_equal(pipe.batch(good).numpy(), expected)


def fork_after_cuda():
    """What a forked child of a process that used CUDA sees: its messages, or "it hangs"."""
    array = noise((40, 30, 3))
    pipe = imgpipe.Pipeline("invert", device="cuda")
    results = [pipe(array) for _ in range(3)]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        seen = []
        for call in (lambda: pipe(array), lambda: pipe.batch([array]), lambda: results[0].numpy(),
                     lambda: imgpipe.Pipeline("gray", device="cuda")(array), lambda: imgpipe.Pipeline("invert")(array)):
            try:
                call()
                seen.append("")
            except Exception as error:
                seen.append(f"{type(error).__name__}: {error}")
        results.clear()
        gc.collect()
        imgpipe.trim()
        os.write(writing, pickle.dumps(seen))
        os._exit(0)
    os.close(writing)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            np.testing.assert_array_equal(pipe(array).numpy(), 255 - array)  # the parent goes on
            return pickle.loads(os.read(reading, 1 << 16)) if status == 0 else f"status {status}"
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "it hangs"


def test_fork_after_cuda_raises():
    seen = in_new_process(fork_after_cuda)
    assert isinstance(seen, list), seen
    for message in seen[:4]:
        assert message.startswith("RuntimeError: ") and "fork" in message and "spawn" in message, message
    assert seen[4] == ""


def run_pickled(pipe, sources):
    return pipe.batch(sources).numpy()


def test_spawned_processes_use_the_device():
    pipe, sources = imgpipe.Pipeline(STAGES, device="cuda"), files(3, 61, 83)
    np.testing.assert_array_equal(in_new_process(run_pickled, pipe, sources), pipe.batch(sources).numpy())


FORK_BEFORE_CUDA = """
import os, imgpipe, numpy
array = numpy.zeros((30, 40, 3), numpy.uint8)
imgpipe.Pipeline("invert").batch([array])
child = os.fork()
if child == 0:
    try:
        imgpipe.Pipeline("invert", device="cuda").batch([array]).numpy()
    except BaseException:
        os._exit(1)
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_fork_before_cuda_works():
    """A child that forks before its parent uses CUDA can use the device."""
    subprocess.run([sys.executable, "-c", FORK_BEFORE_CUDA], check=True)
