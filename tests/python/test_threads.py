"""Threads of the interpreter and of the module, and processes that fork."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import imgpipe
import numpy as np

from made import noise


def running_threads():
    """The ids of this process's threads."""
    return set(os.listdir("/proc/self/task"))


def settled_threads():
    """running_threads() once it is stable: a joined thread may remain visible a little longer."""
    for _ in range(100):
        before = running_threads()
        time.sleep(0.02)
        if running_threads() == before:
            break
    return before


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


STATE = """
import ctypes, os, threading, numpy
def state():
    environment = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    variables = []
    while environment[len(variables)] is not None:
        variables.append(environment[len(variables)])
    with open("/proc/self/status") as status, open("/proc/self/limits") as limits:
        lines = [line for line in status if line.startswith(("SigBlk", "SigIgn", "SigCgt", "Umask"))]
        return variables, lines, limits.read(), os.getcwd()
threading.Thread(target=int).start()  # with its first thread the C library handles signal 33
before = state()
import imgpipe
imgpipe.run(numpy.zeros((300, 300, 3), numpy.uint8), device="cpu", threads=3)
imgpipe.run(numpy.zeros((3, 3, 3), numpy.uint8))
assert state() == before, (before, state())
"""


def same_result(array, wanted):
    return np.array_equal(imgpipe.run(array, device="cpu", threads=3)[0], wanted)


class Threads(unittest.TestCase):
    def test_several_at_a_time(self):
        arrays = [noise((200 + i, 300 - i, 3), seed=i) for i in range(8)]
        wanted = [imgpipe.run(array, device="reference")[0] for array in arrays]
        wrong = []

        def work(i):
            for _ in range(5):
                if not np.array_equal(imgpipe.run(arrays[i], device="cpu", threads=2)[0], wanted[i]):
                    wrong.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_others_run_meanwhile(self):
        """Another thread runs during a run, which it can only if the run releases the interpreter's lock."""
        array = noise((800, 800, 3))
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        try:
            for _ in range(50):
                go, ran = threading.Event(), []
                other = threading.Thread(target=lambda go=go, ran=ran: (go.wait(), ran.append(True)))
                other.start()
                go.set()
                imgpipe.run(array, device="reference")
                seen = bool(ran)
                other.join()
                if seen:
                    return
            self.fail("no other thread ran in 50 runs")
        finally:
            sys.setswitchinterval(interval)

    @unittest.skipUnless(os.path.exists("/proc/self/status"), "this system has no /proc/self/status")
    def test_the_process_stays_as_it_was(self):
        """Its environment, signals, limits and directory."""
        subprocess.run([sys.executable, "-c", STATE], check=True)

    @unittest.skipUnless(hasattr(os, "fork"), "os.fork() is missing")
    def test_forked_processes_have_threads_of_their_own(self):
        array = noise((200, 200, 3))
        wanted = imgpipe.run(array, device="cpu", threads=3)[0]
        self.assertEqual(exit_of_child(lambda: same_result(array, wanted)), 0)

    @unittest.skipUnless(hasattr(os, "fork"), "os.fork() is missing")
    def test_forked_processes_drop_results(self):
        array = noise((200, 200, 3))
        results = [imgpipe.run(array, device="cpu", threads=threads)[0] for threads in range(2, 12)]
        wanted = results[0].copy()

        def drop_all():
            results.clear()
            gc.collect()
            return same_result(array, wanted)

        self.assertEqual(exit_of_child(drop_all), 0)
        self.assertEqual(len(results), 10)

    @unittest.skipUnless(hasattr(os, "fork"), "os.fork() is missing")
    def test_forks_while_others_run(self):
        small = noise((2, 2))
        wanted = imgpipe.run(small, device="cpu", threads=3)[0]
        ending = threading.Event()

        def work():
            while not ending.is_set():
                imgpipe.run(small, device="reference")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(40):
                self.assertEqual(exit_of_child(lambda: same_result(small, wanted)), 0)
        finally:
            ending.set()
            for thread in threads:
                thread.join()


@unittest.skipUnless(os.path.isdir("/proc/self/task"), "this system has no /proc/self/task")
class ThreadsStay(unittest.TestCase):
    def setUp(self):
        self.array = noise((50, 60, 3))
        for threads in range(2, 6):  # four sets
            self.run_with(threads)

    def run_with(self, threads, stages="gray,contrast"):
        return imgpipe.run(self.array, stages, device="cpu", threads=threads)

    def starts_threads(self, threads, **arguments):
        before = settled_threads()
        self.run_with(threads, **arguments)
        return bool(settled_threads() - before)

    def test_kept_results_keep_no_threads(self):
        before = settled_threads()
        results = [self.run_with(threads) for threads in range(20, 40)]
        self.assertLess(len(settled_threads() - before), 4 * 40)
        del results[:]

    def test_a_fifth_set_replaces_the_one_used_least_recently(self):
        self.assertFalse(self.starts_threads(2))
        self.assertTrue(self.starts_threads(6))  # instead of 3
        for threads in (6, 2, 4, 5):
            self.assertFalse(self.starts_threads(threads), threads)
        self.assertTrue(self.starts_threads(3))

    def test_errors_leave_them(self):
        for stages in ("blur", "resize:100000:100000", "crop:900x900"):
            with self.subTest(stages):
                with self.assertRaises(ValueError):
                    self.run_with(2, stages)
                self.assertFalse(self.starts_threads(2))
