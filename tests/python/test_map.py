"""Pipeline.map(): order, laziness, errors, the bound of memory."""
import gc
import io
import itertools
import threading
import time

import numpy as np
import PIL.Image
import pytest
from imgpipe import DecodeError, Pipeline
from imgpipe._map import map_sources

from made import encoded, noise


def mixed_sources(count):
    return [encoded(noise((9 + i % 5, 12, 3), seed=i)) if i % 4 else b"bad" for i in range(count)]


@pytest.mark.parametrize("memory", [None, 400_000, "1G"])
@pytest.mark.parametrize("workers", [0, 1, 4])
def test_map(workers, memory):
    pipe, sources = Pipeline("gray", threads=2), mixed_sources(23)
    for prefetch in (None, 1, 100):
        for ordered in (True, False):
            results = list(pipe.map(iter(sources), workers=workers, ordered=ordered, prefetch=prefetch, memory=memory))
            if ordered:
                assert all(result.source is source for result, source in zip(results, sources))
            assert sorted(id(result.source) for result in results) == sorted(map(id, sources))
            for source, image, error in results:
                if source == b"bad":
                    assert image is None and isinstance(error, DecodeError)
                else:
                    assert error is None
                    np.testing.assert_array_equal(image, pipe.read(source))


def test_map_of_arrays_and_wrong_sources():
    sources = [noise((5, 6)), 3, PIL.Image.fromarray(noise((5, 6)))]
    results = list(Pipeline("invert").map(sources))
    np.testing.assert_array_equal(results[0].image, results[2].image)
    assert isinstance(results[1].error, TypeError)


@pytest.mark.parametrize("memory", [None, 1 << 20])
def test_map_raises_what_ends_a_process(memory):
    """An exception that is not an Exception, of a file object's read(), ends the iteration instead of blocking it."""
    class Ending(io.BytesIO):
        def read(self, *arguments):
            raise SystemExit(3)

    with pytest.raises(SystemExit):
        list(Pipeline("gray").map([Ending()], workers=2, memory=memory))


def test_map_is_lazy_and_ends():
    taken = []

    def endless():
        for i in itertools.count():
            taken.append(i)
            yield encoded(noise((8, 8, 3), seed=i % 10))

    before = threading.active_count()
    iterator = Pipeline("gray").map(endless(), workers=3, prefetch=5)
    assert not taken
    for _ in range(20):
        assert next(iterator).error is None
        assert len(taken) <= 25
    iterator.close()
    assert threading.active_count() == before
    with pytest.raises(ZeroDivisionError):
        for _ in Pipeline("gray").map(endless(), workers=3, memory="1M"):
            1 / 0
    gc.collect()
    assert threading.active_count() == before

    def failing():
        yield encoded(noise((8, 8, 3)))
        raise OSError("no more names")

    results = []
    with pytest.raises(OSError, match="no more names"):
        for result in Pipeline("gray").map(failing(), prefetch=1):
            results.append(result)
    assert len(results) == 1 and threading.active_count() == before


def test_map_stays_within_memory():
    array = noise((200, 300, 3))
    single = next(iter(Pipeline("none").map([array], memory="1G")))
    assert single.error is None
    results = list(Pipeline("none").map([array, noise((3, 3)), array], memory=array.nbytes // 2))
    assert [type(result.error) for result in results] == [MemoryError, type(None), MemoryError]
    assert "the limit is" in str(results[0].error)


def test_map_begins_images_only_within_memory():
    """With memory for one and a half images, an image begins only once the caller has the one before."""
    lock, most, running = threading.Lock(), 0, 0

    class Opened:
        def needed_bytes(self, threads):
            return 50 * threads

        def run(self, threads):
            nonlocal most, running
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.002)
            with lock:
                running -= 1
            return threads

    class Engine:
        threads = 8

        def open(self, source):
            return Opened()

    for ordered, memory, limit in [(True, 150, 1), (False, 150, 1), (True, 399, 3), (False, None, 4)]:
        most = 0
        results = list(map_sources(Engine(), range(40), 4, ordered, None, memory))
        assert [result.image for result in results] == [2] * 40  # threads per image
        assert 1 <= most <= limit
