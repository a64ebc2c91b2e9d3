"""The contestants of python_devices.py, which turn JPEGs in memory into normalised float16 tensors N x 3 x 224 x 224
on a CUDA device. Each takes the files and the batch size and returns a function that yields the tensors in order."""
import concurrent.futures

import numpy as np
import torch

import photo_jpegs
from models_cases import MEANS
from photo_jpegs import SIDE, TENSOR_STAGES


def chunks(items, size):
    return (items[start:start + size] for start in range(0, len(items), size))


def imgpipe_batch(files, size, threads=1):
    """Pipeline.batch(), called by several threads if asked to."""
    import imgpipe
    pipe = imgpipe.Pipeline(TENSOR_STAGES, device="cuda")
    pool = concurrent.futures.ThreadPoolExecutor(threads) if threads > 1 else None

    def tensors():
        made = (pool.map if pool else map)(pipe.batch, chunks(files, size))
        return map(torch.from_dlpack, made)
    return tensors


def imgpipe_loader(files, size):
    import imgpipe
    pipe = imgpipe.Pipeline(TENSOR_STAGES, device="cuda")
    return lambda: (torch.from_dlpack(batch.images) for batch in imgpipe.Loader(files, pipe, size))


def imgpipe_cpu(files, size):
    import imgpipe
    pipe = imgpipe.Pipeline(TENSOR_STAGES)
    return lambda: (torch.from_numpy(pipe.batch(chunk)).cuda(non_blocking=True) for chunk in chunks(files, size))


class Files(torch.utils.data.Dataset):
    def __init__(self, files, make):
        self.files, self.make = files, make

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return self.make(self.files[index])


def tensor_of(file):
    return torch.frombuffer(bytearray(file), dtype=torch.uint8)


def data_loader(make, workers=16):
    """torch's DataLoader over processes."""
    def contestant(files, size):
        loader = torch.utils.data.DataLoader(Files(files, make), size, num_workers=workers, pin_memory=True,
                                             persistent_workers=True, prefetch_factor=4,
                                             multiprocessing_context="fork")
        return lambda: (batch.cuda(non_blocking=True) for batch in loader)
    return contestant


def torchvision_pillow():
    """The usual transforms of torchvision on images of Pillow."""
    from PIL import Image
    from torchvision import transforms
    import io
    transform = transforms.Compose([transforms.Resize((SIDE, SIDE)), transforms.ToTensor(),
                                    transforms.Normalize(*MEANS["imagenet"])])
    return data_loader(lambda file: transform(Image.open(io.BytesIO(file)).convert("RGB")).half())


def torchvision_tensors():
    """torchvision's decoder, and v2 on tensors."""
    from torchvision.io import decode_jpeg
    from torchvision.transforms import v2
    transform = v2.Compose([v2.Resize((SIDE, SIDE), antialias=True), v2.ToDtype(torch.float32, scale=True),
                            v2.Normalize(*MEANS["imagenet"])])
    return data_loader(lambda file: transform(decode_jpeg(tensor_of(file), mode="RGB")).half())


def resized_on_device(images):
    """uint8 images 3 x H x W on the device: resized together where their shapes agree, normalised by v2."""
    from torchvision.transforms import v2
    resize = v2.Resize((SIDE, SIDE), antialias=True)
    if len({image.shape for image in images}) == 1 and images[0].numel() * len(images) < 1 << 30:
        small = resize(torch.stack(images))
    else:
        small = torch.stack([resize(image) for image in images])
    return v2.functional.normalize(v2.functional.to_dtype(small, torch.float32, scale=True), *MEANS["imagenet"]).half()


def torchvision_cuda(files, size):
    from torchvision.io import decode_jpeg
    encoded = [tensor_of(file) for file in files]
    return lambda: (resized_on_device(decode_jpeg(chunk, mode="RGB", device="cuda"))
                    for chunk in chunks(encoded, size))


def nvimagecodec(kinds=(), decoder_options=""):
    """nvImageCodec with backends in this order, or with its default ones."""
    def contestant(files, size):
        from nvidia import nvimgcodec
        backends = [nvimgcodec.Backend(getattr(nvimgcodec.BackendKind, kind)) for kind in kinds]
        decoder = nvimgcodec.Decoder(backends=backends or None, options=decoder_options)
        params = nvimgcodec.DecodeParams(apply_exif_orientation=False)

        def decoded(chunk):
            images = decoder.decode(chunk, params=params, cuda_stream=torch.cuda.current_stream().cuda_stream)
            return [torch.from_dlpack(image).permute(2, 0, 1) for image in images]
        return lambda: (resized_on_device(decoded(chunk)) for chunk in chunks(files, size))
    return contestant


def lazily(maker):
    return lambda files, size: maker()(files, size)


CONTESTANTS = {
    "imgpipe, batch()": imgpipe_batch,
    "imgpipe, batch(), 3 threads": lambda files, size: imgpipe_batch(files, size, 3),
    "imgpipe, Loader": imgpipe_loader,
    "imgpipe, CPU": imgpipe_cpu,
    "torchvision CPU, Pillow, 16 workers": lazily(torchvision_pillow),
    "torchvision CPU, tensors, 16 workers": lazily(torchvision_tensors),
    "torchvision decode_jpeg(cuda) + v2": torchvision_cuda,
    "nvImageCodec + v2": nvimagecodec(),
    "nvImageCodec, hardware first + v2": nvimagecodec(("HW_GPU_ONLY", "GPU_ONLY", "HYBRID_CPU_GPU")),
    "nvImageCodec, fancy upsampling + v2": nvimagecodec((), ":fancy_upsampling=1"),
}


def check(make, files, expected, size):
    """(share of values equal, largest difference in levels from 0 to 255)."""
    got = np.concatenate([tensor.cpu().numpy() for tensor in make(files, size)()])
    if got.shape != expected.shape or got.dtype != expected.dtype:
        raise ValueError(f"{got.dtype} {got.shape}, expected {expected.dtype} {expected.shape}")
    return float(np.mean(got == expected)), float(np.abs(photo_jpegs.levels(got) - photo_jpegs.levels(expected)).max())
