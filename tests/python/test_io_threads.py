"""Reading and writing with threads, signals and forks; memory does not grow."""
import concurrent.futures
import gc
import os
import resource
import signal
import sys
import threading

import imgpipe
import numpy as np
import pytest

from image_files import files
from made import noise


def test_threads_of_the_caller(files):
    wanted = {name: imgpipe.read(data) for name, data in files.items()}
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for name, got in pool.map(lambda item: (item[0], imgpipe.decode([item[1]] * 3)[2]), [*files.items()] * 3):
            np.testing.assert_array_equal(got, wanted[name])


@pytest.mark.parametrize("name", ["decode", "encode"])
def test_the_lock_is_released(name):
    """Another thread runs during the call, which it can only if the call releases the interpreter's lock."""
    image = noise((800, 800, 3))
    data = imgpipe.encode(image, threads=1)
    call = {"decode": lambda: imgpipe.decode(data, threads=1), "encode": lambda: imgpipe.encode(image, threads=1)}[name]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # the interpreter itself does not switch
    try:
        for _ in range(50):  # in case the other thread gets no processor in time
            go, ran = threading.Event(), []
            other = threading.Thread(target=lambda go=go, ran=ran: (go.wait(), ran.append(True)))
            other.start()
            go.set()
            call()
            has_run = bool(ran)
            other.join()
            if has_run:
                return
        pytest.fail("no other thread ran in 50 calls")
    finally:
        sys.setswitchinterval(before)


def test_interrupts():
    """Ctrl-C ends the decoding of a long list."""
    data = imgpipe.encode(noise((1000, 1000, 3)), threads=1)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            imgpipe.decode([data] * 400, threads=2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_forks(files):
    large = imgpipe.encode(noise((1200, 1200, 3)), "jpeg")
    wanted = imgpipe.decode(large, threads=4)
    for _ in range(3):
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(imgpipe.decode([large] * 2, threads=4)[1], wanted) else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_memory_does_not_grow(files, tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(files["RGB.png"])
    broken = files["RGB.png"][:300]

    def calls(count):
        for _ in range(count):
            imgpipe.encode(imgpipe.read(path), "jpeg", metadata=path)
            imgpipe.decode([memoryview(files["LA.png"])], mode="RGBA", threads=1)
            imgpipe.info(path)
            imgpipe.pages(files["stack.tif"])[1]
            for source in (broken, str(tmp_path / "none")):
                with pytest.raises(imgpipe.DecodeError):
                    imgpipe.read(source)

    def resident():
        gc.collect()
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    calls(200)
    before = resident()
    calls(2000)
    assert resident() - before < 2 << 20
