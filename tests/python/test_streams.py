"""Order between CUDA streams: device work follows the caller's streams, and memory in use is not overwritten."""
import importlib
import threading

import imgpipe
import numpy as np
import pytest

from cuda_modules import encoded, needs_cupy, needs_device, needs_torch, noise, smooth_noise

pytestmark = [needs_torch, needs_device]
STAGES = ("invert", "gray,resize:40:30:bicubic", "resize:24:24:bilinear,normalize:imagenet:dtype=float16")


@pytest.fixture(name="torch")
def torch_module():
    return importlib.import_module("torch")


def stress(pipe, stages="invert", seed=1):
    """A Stress over random images, with the results of the CPU as expected tensors."""
    import torch

    from stream_stress import Stress
    arrays = [noise((61, 67, 3), seed=seed) for seed in range(6)]
    expected = [torch.from_numpy(imgpipe.Pipeline(stages)(array)).cuda() for array in arrays]
    return Stress(pipe, [torch.from_numpy(array).cuda() for array in arrays], expected, seed)


@pytest.mark.parametrize("stages", STAGES)
def test_results_follow_the_callers_streams(stages):
    assert stress(imgpipe.Pipeline(stages, device="cuda"), stages).run(3000) == []


def test_a_third_stream_may_read_results():
    """The stream that reads last is not the one that imported the result, and only waits for that one."""
    work = stress(imgpipe.Pipeline("invert", device="cuda"))
    work.third_streams = True
    assert work.run(2000, ["result"]) == []


def test_threads_with_different_streams():
    pipe, wrong = imgpipe.Pipeline("invert", device="cuda"), []

    def work(seed):
        try:
            wrong.extend(stress(pipe, seed=seed).run(500))
        except Exception as error:  # the assertion below fails
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_stress_accepts_correct_waits():
    from stream_stress import Inverter
    assert stress(Inverter()).run(1000) == []


@pytest.mark.parametrize("wait", ("input ready", "input read", "out read", "out ready", "result ready", "result read"))
def test_the_stress_detects_a_missing_wait(wait):
    from stream_stress import Inverter
    assert wait in Inverter.WAITS
    kind = "out" if wait.startswith("out") else "result"
    assert {kind for _, kind in stress(Inverter(without=wait)).run(1000)} == {kind}


def test_the_stress_detects_a_call_on_another_stream(torch):
    """Proves that the pipeline reads too early unless it knows the stream that makes its input."""
    pipe, other = imgpipe.Pipeline("invert", device="cuda"), torch.cuda.Stream()

    def call(image):
        with torch.cuda.stream(other):
            return pipe(image)

    assert stress(call).run(300, ["result"])


def test_the_stream_argument(torch):
    """Work is ordered on `stream`, not on the current one. Given as an object of torch or as an integer."""
    array = noise((61, 67, 3))
    expected = torch.from_numpy(255 - array).cuda()
    for convert in (lambda stream: stream, lambda stream: stream.cuda_stream):
        wrong = torch.zeros(1, dtype=torch.int32, device="cuda")
        for _ in range(100):
            stream = torch.cuda.Stream()
            pipe = imgpipe.Pipeline("invert", device="cuda", stream=convert(stream))
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                image = torch.full(array.shape, 99, dtype=torch.uint8, device="cuda")
                torch.cuda._sleep(200_000)
                image.copy_(torch.from_numpy(array).cuda(non_blocking=True))
                result = torch.from_dlpack(pipe(image))
                image.fill_(99)
                wrong += (result != expected).any()
            torch.cuda.synchronize()
        assert wrong.item() == 0
    default = imgpipe.Pipeline("invert", device="cuda", stream=torch.cuda.default_stream().cuda_stream)  # 0
    np.testing.assert_array_equal(default(array).numpy(), 255 - array)
    for value in (-7, "a", 1.5, True):
        with pytest.raises((TypeError, ValueError), match="stream"):
            imgpipe.Pipeline("invert", device="cuda", stream=value)(array)


def test_batches_of_files(torch):
    """Batches of bytes on random streams, read on others and dropped; `out` is read before and after."""
    import random
    numbers = random.Random(5)
    stages = "resize:32:32:bilinear,normalize:imagenet:dtype=float16"
    files = [encoded(smooth_noise(40 + 9 * i, 90 - 7 * i, i), quality=90) for i in range(8)]
    rows = torch.from_numpy(imgpipe.Pipeline(stages).batch(files)).cuda()
    pipe = imgpipe.Pipeline(stages, device="cuda")
    streams = [torch.cuda.default_stream(), *(torch.cuda.Stream() for _ in range(3))]
    outs = {stream: torch.zeros((8, *rows.shape[1:]), dtype=rows.dtype, device="cuda") for stream in streams}
    torch.cuda.synchronize()
    wrong = torch.zeros(600, dtype=torch.int32, device="cuda")
    for number in range(len(wrong)):
        chosen = [numbers.randrange(8) for _ in range(8)]
        consumer = numbers.choice(streams)
        with torch.cuda.stream(numbers.choice(streams)) as _:
            if numbers.random() < 0.5:
                result = pipe.batch([files[i] for i in chosen])
            else:
                consumer = torch.cuda.current_stream()
                result = outs[consumer]
                pipe.batch([files[i] for i in chosen], out=result)
        with torch.cuda.stream(consumer):
            tensor = result if isinstance(result, torch.Tensor) else torch.from_dlpack(result)
            expected = rows[chosen]
            for _ in range(2):
                wrong[number] += (tensor != expected).any()
                torch.cuda._sleep(numbers.choice((0, 200_000, 1_000_000)))
            wrong[number] += (tensor != expected).any()
            del tensor, result
        if number % 50 == 49:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    assert wrong.nonzero().flatten().tolist() == []


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
@pytest.mark.parametrize("drop", ["result", "tensor", "batch of lists", "on another thread"])
def test_dropping_results_during_a_capture(torch, mode, drop):
    """The captured graph stays valid, and the dropped memory is reused only after the replayed work."""
    pipe, array = imgpipe.Pipeline("invert", device="cuda"), noise((61, 67, 3))
    held = [pipe(array) for _ in range(4)]
    if drop == "tensor":
        held = [torch.from_dlpack(result) for result in held]
    elif drop == "batch of lists":
        held = pipe.batch([array, noise((5, 7)), array])
    number = torch.zeros(1000, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode=mode):
        number += 1
        if drop == "on another thread":
            thread = threading.Thread(target=held.clear)
            thread.start()
            thread.join()
        else:
            held.clear()
        number += 1
    for _ in range(3):
        graph.replay()
        np.testing.assert_array_equal(pipe(array).numpy(), 255 - array)
    assert number.tolist() == [6] * 1000


def test_pipelines_run_during_a_capture(torch):
    """Other streams may allocate, copy and wait while one captures, as long as no dropped memory waits."""
    pipe, array = imgpipe.Pipeline("invert", device="cuda"), noise((61, 67, 3))
    results = [pipe(array)]
    imgpipe.trim()
    number = torch.zeros(1000, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        number += 1
        results.append(pipe(noise((610, 670, 3))))
        copy = results[0].numpy()
    graph.replay()
    np.testing.assert_array_equal(copy, 255 - array)
    assert number.tolist() == [1] * 1000


@needs_cupy
def test_cupy_streams():
    """Producers and consumers of cupy, each on another stream; the input's memory returns to cupy at once."""
    import cupy
    spin = cupy.RawKernel("extern \"C\" __global__ void spin(long long n) "
                          "{ for (long long end = clock64() + n; clock64() < end;); }", "spin")
    arrays = [noise((61, 67, 3), seed=seed) for seed in range(4)]
    images = [cupy.asarray(array) for array in arrays]
    expected = [cupy.asarray(255 - array) for array in arrays]
    producers, consumers = ([cupy.cuda.Stream(non_blocking=True) for _ in range(3)] for _ in "pc")
    pipes = [imgpipe.Pipeline("invert", device="cuda", stream=stream) for stream in producers]
    wrong = cupy.zeros(900, cupy.int32)
    cupy.cuda.Device().synchronize()
    for number in range(len(wrong)):
        image = number % len(images)
        with producers[number % 3]:
            late = cupy.full_like(images[image], 99)
            spin((1,), (1,), (200_000,))
            late[...] = images[image]
            result = pipes[number % 3](late)
            del late
            cupy.full_like(images[image], 99)
        with consumers[number // 3 % 3]:
            array = cupy.from_dlpack(result)
            for cycles in (200_000, 0):
                wrong[number] += (array != expected[image]).any()
                spin((1,), (1,), (cycles,))
            wrong[number] += (array != expected[image]).any()
            del array, result
        if number % 100 == 99:
            cupy.cuda.Device().synchronize()
    cupy.cuda.Device().synchronize()
    assert cupy.flatnonzero(wrong).tolist() == []
