"""Threads of the interpreter and of the module."""
import os
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
