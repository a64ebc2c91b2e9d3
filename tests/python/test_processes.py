"""Processes: what the package leaves unchanged, forks, workers of multiprocessing, subinterpreters."""
import concurrent.futures
import gc
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time

import numpy as np
import pytest

import imgpipe
from imgpipe import Loader, Pipeline
from made import noise

METHODS = [method for method in ("fork", "spawn", "forkserver") if method in multiprocessing.get_all_start_methods()]
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork() is missing")

STATE = """
import ctypes, os, sys, threading, numpy
def state():
    environment = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    variables = []
    while environment[len(variables)] is not None:
        variables.append(environment[len(variables)])
    with open("/proc/self/status") as status, open("/proc/self/limits") as limits:
        lines = [line for line in status if line.startswith(("SigBlk", "SigIgn", "SigCgt", "Umask"))]
        return variables, lines, limits.read(), os.getcwd()
def threads():
    return set(os.listdir("/proc/self/task"))
def opened():
    return {os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")
            if os.path.exists(f"/proc/self/fd/{number}")}
threading.Thread(target=int).start()  # with its first thread the C library handles signal 33
before, running, files = state(), threads(), opened()
import imgpipe
assert state() == before, (before, state())
assert threads() <= running, "importing starts threads"
assert opened() == files, opened() - files
with open("/proc/self/maps") as maps:
    assert "libcuda.so" not in maps.read(), "importing loads the driver of CUDA"
assert not {"torch", "cupy", "PIL"} & set(sys.modules), sys.modules.keys()
imgpipe.run(numpy.zeros((300, 300, 3), numpy.uint8), device="cpu", threads=3)
imgpipe.run(numpy.zeros((3, 3, 3), numpy.uint8))
assert state() == before, (before, state())
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="this system has no /proc/self/status")
def test_the_process_stays_as_it_was():
    """Its environment, signals, limits and directory; importing also opens no files and starts no threads."""
    subprocess.run([sys.executable, "-c", STATE], check=True)


DAEMON = """
import threading, imgpipe
pipeline, begun = imgpipe.Pipeline("gray"), threading.Event()
def wait(of):
    begun.set()
    threading.Event().wait()
threading.Thread(target=wait, args=(pipeline,), daemon=True).start()
begun.wait()
"""


def test_a_process_ends_silently_while_a_thread_has_a_pipeline():
    ended = subprocess.run([sys.executable, "-c", DAEMON], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


SUBINTERPRETER = """
import sys
try:
    import _interpreters as interpreters  # Python 3.13
    shared = "legacy"
except ImportError:
    import _xxsubinterpreters as interpreters
    shared = False
if "first" in sys.argv:
    import imgpipe
for isolation in [(), (shared,)]:  # mod_wsgi's are not isolated
    number = interpreters.create(*isolation) if shared else interpreters.create(isolated=not isolation)
    error = interpreters.run_string(number, '''
try:
    import imgpipe
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    raise AssertionError("it was imported")
''')
    assert error is None, error
    interpreters.destroy(number)
import imgpipe, numpy
assert imgpipe.Pipeline("gray").batch([numpy.zeros((3, 3), numpy.uint8)]).shape == (1, 3, 3)
"""


@pytest.mark.parametrize("imported", ["first", "after"])
def test_a_subinterpreter_raises(imported):
    """The package works in the main interpreter, imported first or after a subinterpreter tried."""
    ended = subprocess.run([sys.executable, "-c", SUBINTERPRETER, imported], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def exit_of_child(work):
    """The exit code of a forked child that runs `work`: 0 if that returns True; "it hangs" after a minute."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            status = 0 if work() else 1
        finally:
            os._exit(status)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "it hangs"


def same_result(array, wanted):
    return np.array_equal(imgpipe.run(array, device="cpu", threads=3)[0], wanted)


@needs_fork
def test_forked_processes_have_threads_of_their_own():
    array = noise((200, 200, 3))
    wanted = imgpipe.run(array, device="cpu", threads=3)[0]
    assert exit_of_child(lambda: same_result(array, wanted)) == 0


@needs_fork
def test_a_process_that_forked_before_the_first_use():
    script = ("import os, sys, imgpipe, numpy as np\n"
              "child = os.fork()\n"
              "imgpipe.run(np.zeros((200, 200, 3), np.uint8), device='cpu', threads=3)\n"
              "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if child else 0)\n")
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@needs_fork
def test_forked_processes_drop_results():
    array = noise((200, 200, 3))
    results = [imgpipe.run(array, device="cpu", threads=threads)[0] for threads in range(2, 12)]
    wanted = results[0].copy()

    def drop_all():
        results.clear()
        gc.collect()
        return same_result(array, wanted)

    assert exit_of_child(drop_all) == 0
    assert len(results) == 10


# A thread that waits for a contended lock may be handed it during the fork, and the child lacks that thread. This holds
# for every lock of the interpreter and its objects; two threads that call a function with functools.lru_cache suffice.
@needs_fork
@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
                    reason="free-threaded CPython: a fork while other threads run can leave the child locked")
def test_forks_while_others_run(tmp_path):
    pixels = [noise((1, 1))] * 300
    pipeline = Pipeline("gray", threads=1)
    wanted, of_run = pipeline.batch(pixels[:3]), imgpipe.run(pixels[0], device="cpu", threads=3)[0]
    ending = threading.Event()

    def repeat(work):
        while not ending.is_set():
            work()

    def works_in_child():
        imgpipe.write(tmp_path / "of a child.png", wanted[0], overwrite=True)
        return np.array_equal(pipeline.batch(pixels[:3]), wanted) and same_result(pixels[0], of_run)

    others = [lambda: pipeline.batch(pixels), lambda: imgpipe.run(pixels[0], device="reference"),
              lambda: imgpipe.write(tmp_path / "of a thread.png", wanted[0], overwrite=True)]
    threads = [threading.Thread(target=repeat, args=(work,)) for work in others]
    for thread in threads:
        thread.start()
    try:
        for _ in range(40):
            assert exit_of_child(works_in_child) == 0
    finally:
        ending.set()
        for thread in threads:
            thread.join()


SOURCES = [noise((30 + number, 40, 3), seed=number) for number in range(24)]


def a_loader(**arguments):
    return Loader(SOURCES, Pipeline("gray,resize:16:16"), 4, shuffle=True, **arguments)


def images_of(loader):
    return [(key, image.tobytes()) for batch in loader for key, image in zip(batch.keys, batch.images)]


@needs_fork
def test_forks_during_an_iteration():
    whole = images_of(a_loader())
    loader = a_loader(prefetch=3)
    iterator = iter(loader)
    next(iterator)

    def continued():
        with pytest.raises(RuntimeError, match="began before a fork.*iterate again"):
            next(iterator)
        copy = a_loader()
        copy.load_state_dict(loader.state_dict())
        return images_of(copy) == whole[4:] and images_of(loader) == whole

    for _ in range(10):
        assert exit_of_child(continued) == 0
    assert len(list(iterator)) == 5


@pytest.mark.parametrize("method", METHODS)
def test_workers_of_pools(method):
    context = multiprocessing.get_context(method)
    pipeline = Pipeline("gray,resize:16:16", threads=2)
    wanted = [pipeline(array) for array in SOURCES]
    whole = images_of(a_loader())
    begun = a_loader()
    next(iter(begun))
    with context.Pool(2) as pool:
        np.testing.assert_array_equal(pool.map(pipeline, SOURCES), wanted)
        parts = pool.map(images_of, [a_loader(shard=(rank, 2)) for rank in range(2)])
    assert sorted(itertools.chain(*parts)) == sorted(whole)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        np.testing.assert_array_equal(list(pool.map(pipeline, SOURCES)), wanted)
        assert pool.submit(images_of, begun).result() == whole


CUDA_FORK = """
import os, sys, imgpipe, numpy as np
image = np.zeros((30, 40, 3), np.uint8)
try:
    pipeline = imgpipe.Pipeline("gray,resize:16:16", device="cuda")
    result = pipeline(image)
except RuntimeError as error:
    print(error)
    sys.exit(77)
child = os.fork()
if child == 0:
    status = 1
    try:
        messages = []
        for call in (lambda: pipeline(image), lambda: pipeline.run(image),
                     lambda: imgpipe.run_directory(".", "out", "gray", device="cuda")):
            try:
                call()
            except RuntimeError as error:
                messages.append(str(error))
        on_cpu = imgpipe.Pipeline("gray,resize:16:16")(image).shape == (16, 16)
        refused = [message.startswith("CUDA was used before this process forked") for message in messages]
        status = 0 if on_cpu and refused == [True, True, True] else 2
    finally:
        del result
        os._exit(status)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
pipeline(image)
sys.exit(status)
"""


@needs_fork
def test_a_device_used_before_a_fork_raises_in_the_child():
    ended = subprocess.run([sys.executable, "-c", CUDA_FORK], capture_output=True, text=True, timeout=120)
    if ended.returncode == 77 and os.environ.get("IMGPIPE_REQUIRE_GPU") != "1":
        pytest.skip(ended.stdout.strip())
    assert ended.returncode == 0, ended.stdout + ended.stderr
