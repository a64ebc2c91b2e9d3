"""DeviceArray: exchange with torch, cupy and numpy without a copy, by DLPack and __cuda_array_interface__."""
import gc
import weakref

import imgpipe
import numpy as np
import pytest

from cuda_modules import encoded, needs_cupy, needs_device, needs_torch, noise, smooth_noise

pytestmark = needs_device
INVERT = "invert"


def address(result):
    return result.__cuda_array_interface__["data"][0]


def device_array(shape=(37, 41, 3), stages=INVERT):
    return imgpipe.Pipeline(stages, device="cuda")(noise(shape))


def test_attributes():
    result = device_array()
    assert isinstance(result, imgpipe.DeviceArray)
    assert (result.shape, result.dtype, result.device, len(result)) == ((37, 41, 3), np.uint8, "cuda:0", 37)
    assert result.__dlpack_device__() == (2, 0)
    np.testing.assert_array_equal(result.numpy(), 255 - noise((37, 41, 3)))
    assert "cuda:0" in repr(result) and "\n" not in repr(result)


def test_items_are_views():
    batch = imgpipe.Pipeline(INVERT, device="cuda").batch([noise((5, 7), seed=seed) for seed in range(4)])
    expected = np.stack([255 - noise((5, 7), seed=seed) for seed in range(4)])
    assert batch.shape == (4, 5, 7)
    for index in (0, 3, -1, -4):
        np.testing.assert_array_equal(batch[index].numpy(), expected[index])
    assert address(batch[2]) == address(batch) + 2 * 35
    np.testing.assert_array_equal(batch[1:3].numpy(), expected[1:3])
    assert len(list(batch)) == 4
    for index in (4, -5):
        with pytest.raises(IndexError):
            batch[index]
    last = batch[3]
    del batch
    gc.collect()
    device_array()  # would reuse the memory if the view did not keep it
    np.testing.assert_array_equal(last.numpy(), expected[3])


@needs_torch
def test_torch_shares_the_memory():
    import torch
    for stages, dtype in ((INVERT, torch.uint8), ("normalize:imagenet", torch.float32),
                          ("normalize:imagenet:dtype=float16", torch.float16),
                          ("normalize:imagenet:dtype=bfloat16", torch.bfloat16)):
        result = device_array(stages=stages)
        tensors = [torch.from_dlpack(result) for _ in range(3)]
        assert {tensor.data_ptr() for tensor in tensors} == {tensors[0].data_ptr()}
        assert (tensors[0].dtype, tuple(tensors[0].shape), str(tensors[0].device)) == (dtype, result.shape, "cuda:0")
        assert tensors[0].is_contiguous()
        if dtype == torch.bfloat16:
            assert result.dtype == "bfloat16"
            assert not hasattr(result, "__cuda_array_interface__")  # typestr has no bfloat16
            with pytest.raises(TypeError, match="bfloat16"):
                result.numpy()
            continue
        assert tensors[0].data_ptr() == address(result)
        expected = imgpipe.Pipeline(stages)(noise((37, 41, 3)))
        del result
        device_array(stages=stages)
        np.testing.assert_array_equal(tensors[1].cpu().numpy(), expected)


@needs_torch
def test_torch_inputs_are_read_in_place():
    """Whole tensors and parts of them; the result is on the device, and the input is released afterwards."""
    import torch
    array = noise((64, 50, 3))
    pipe = imgpipe.Pipeline(INVERT, device="cuda")
    whole = torch.from_numpy(array).cuda()
    parts = {"whole": whole, "crop": whole[3:40, 5:21], "every second row": whole[::2], "grey": whole[..., 0].clone(),
             "row": whole[:1], "pixel": whole[:1, :1], "column": whole[:, 7:8]}
    for name, tensor in parts.items():
        result = pipe(tensor)
        assert isinstance(result, imgpipe.DeviceArray), name
        np.testing.assert_array_equal(result.numpy(), 255 - tensor.cpu().numpy(), name)
    for tensor in (whole[..., 1], whole.transpose(0, 1), whole[:, ::2]):
        with pytest.raises(ValueError, match=r"contiguous\(\)"):
            pipe(tensor)
    large = torch.zeros((3000, 4000, 3), dtype=torch.uint8, device="cuda")
    pipe(large)
    alive = weakref.ref(large)
    del large
    pipe(whole)
    gc.collect()
    assert alive() is None, "the call keeps its input"


@needs_torch
def test_torch_inputs_that_cannot_be_read():
    import torch
    pipe = imgpipe.Pipeline(INVERT, device="cuda")
    wrong = {"dtype": torch.zeros((8, 8, 3), dtype=torch.int64), "shape": torch.zeros((8, 8, 3, 3), dtype=torch.uint8),
             "channels": torch.zeros((8, 8, 7), dtype=torch.uint8),
             "gradient": torch.zeros((8, 8, 3), requires_grad=True), "empty": torch.zeros((0, 8, 3), dtype=torch.uint8)}
    for name, tensor in wrong.items():
        with pytest.raises((TypeError, ValueError, BufferError, RuntimeError)) as raised:
            pipe(tensor.detach().cuda().requires_grad_(tensor.requires_grad))
        assert "\n" not in str(raised.value) and len(str(raised.value)) < 250, name


@needs_torch
def test_out():
    import torch
    array = noise((37, 41, 3))
    pipe = imgpipe.Pipeline(INVERT, device="cuda")
    out = torch.zeros((37, 41, 3), dtype=torch.uint8, device="cuda")
    at = out.data_ptr()
    pipe(array, out=out)
    np.testing.assert_array_equal(out.cpu().numpy(), 255 - array)
    rows = torch.zeros((4, 37, 41, 3), dtype=torch.uint8, device="cuda")
    pipe.batch([array, 255 - array], out=rows[1:3])
    np.testing.assert_array_equal(rows.cpu().numpy(), np.stack([0 * array, 255 - array, array, 0 * array]))
    assert out.data_ptr() == at
    for wrong in (out[:-1], out.to(torch.int16), out.transpose(0, 1), out.cpu()):
        before = wrong.clone()
        with pytest.raises((TypeError, ValueError), match="out"):
            pipe(array, out=wrong)
        assert torch.equal(wrong, before)


@needs_torch
def test_capsules():
    result = device_array()
    versioned, old = result.__dlpack__(stream=1, max_version=(1, 0)), result.__dlpack__(stream=1)
    assert '"dltensor_versioned"' in repr(versioned) and '"dltensor"' in repr(old)
    for unused in (result.__dlpack__(), result.__dlpack__(stream=None, max_version=(0, 8)),
                   result.__dlpack__(stream=2), result.__dlpack__(stream=-1), result.__dlpack__(copy=False),
                   result.__dlpack__(dl_device=(2, 0), copy=None, max_version=(2, 1), stream=1)):
        del unused
    for stream, error in ((0, ValueError), (-2, ValueError), ("1", TypeError), (1.0, TypeError)):
        with pytest.raises(error, match="stream"):
            result.__dlpack__(stream=stream)
    with pytest.raises(BufferError):
        result.__dlpack__(dl_device=(4, 0))
    with pytest.raises(TypeError):
        result.__dlpack__(1)


def test_numpy_both_ways():
    array = noise((37, 41, 3))
    result = imgpipe.Pipeline(INVERT, device="cuda")(array)
    if tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1):
        np.testing.assert_array_equal(np.from_dlpack(result, device="cpu"), 255 - array)
        with pytest.raises(ValueError, match="copied"):
            np.array(result, copy=False)
    with pytest.raises((BufferError, RuntimeError, TypeError)):
        np.from_dlpack(result)
    np.testing.assert_array_equal(np.asarray(result), 255 - array)


@needs_cupy
def test_cupy_both_ways():
    import cupy
    array = noise((37, 41, 3))
    pipe = imgpipe.Pipeline(INVERT, device="cuda")
    result = pipe(cupy.asarray(array))
    for imported in (cupy.from_dlpack(result), cupy.asarray(result)):
        assert imported.data.ptr == address(result)
        np.testing.assert_array_equal(imported.get(), 255 - array)
    out = cupy.zeros((37, 41, 3), cupy.uint8)
    pipe(cupy.asarray(array), out=out)
    np.testing.assert_array_equal(out.get(), 255 - array)


@needs_torch
def test_cuda_array_interface():
    """Readers of the attribute see the finished result: torch ignores its stream."""
    import torch
    pipe = imgpipe.Pipeline(INVERT, device="cuda")
    array = noise((61, 67, 3))
    for _ in range(100):
        with torch.cuda.stream(torch.cuda.Stream()):
            late = torch.full(array.shape, 99, dtype=torch.uint8, device="cuda")
            torch.cuda._sleep(500_000)
            late.copy_(torch.from_numpy(array))
            result = pipe(late)
        with torch.cuda.stream(torch.cuda.Stream()):
            tensor = torch.as_tensor(result, device="cuda")
            assert tensor.data_ptr() == address(result)
            np.testing.assert_array_equal(tensor.cpu().numpy(), 255 - array)
    interface = result.__cuda_array_interface__
    assert interface["version"] == 3 and interface["typestr"] == "|u1" and interface["shape"] == array.shape
    assert interface.get("stream") != 0 and interface["data"][1] is False


class OnlyArrayInterface:
    """Device memory that offers no DLPack."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, "version": 3, "stream": 1}


@needs_torch
def test_inputs_by_cuda_array_interface():
    import torch
    array = noise((37, 41, 3))
    result = imgpipe.Pipeline(INVERT, device="cuda")(OnlyArrayInterface(torch.from_numpy(array).cuda()))
    np.testing.assert_array_equal(result.numpy(), 255 - array)


@needs_torch
def test_pipelines_of_the_cpu_refuse_device_arrays():
    import torch
    with pytest.raises(TypeError, match="device"):
        imgpipe.Pipeline(INVERT)(torch.zeros((8, 8, 3), dtype=torch.uint8, device="cuda"))


@needs_torch
def test_the_current_device_stays():
    import torch
    if torch.cuda.device_count() < 2:
        pytest.skip("one CUDA device")
    array = noise((37, 41, 3))
    for current, device in ((0, 1), (1, 0)):
        torch.cuda.set_device(current)
        result = imgpipe.Pipeline(INVERT, device=f"cuda:{device}")(array)
        assert torch.cuda.current_device() == current and result.device == f"cuda:{device}"
        assert str(torch.from_dlpack(result).device) == f"cuda:{device}"
        np.testing.assert_array_equal(result.numpy(), 255 - array)
    torch.cuda.set_device(0)


@needs_torch
def test_decoded_images():
    import torch
    array = smooth_noise(120, 90, 3)
    file = encoded(array, quality=90)
    expected = imgpipe.decode(file)
    one, many = imgpipe.decode(file, device="cuda"), imgpipe.decode([file] * 3, device="cuda")
    for result in (one, *many):
        np.testing.assert_array_equal(torch.from_dlpack(result).cpu().numpy(), expected)
