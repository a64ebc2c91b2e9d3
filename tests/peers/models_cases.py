"""The processors of transformers and transforms of torchvision for models_compare.py, each with the stages that make
the same tensor. Configured by hand; nothing is downloaded."""
import math

import numpy as np
import PIL
from PIL import Image

RULE = "" if int(PIL.__version__.split(".")[0]) >= 13 else ":rule=pillow12"
MEANS = {"imagenet": ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
         "clip": ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]),
         "siglip": ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])}
METHODS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}


def planes(tensor):
    """The result of a server for layout=nchw, as channels x height x width."""
    return tensor.reshape(3, tensor.shape[0] // 3, tensor.shape[1])


# ---- transformers --------------------------------------------------------------------------------------------------

def processor(transformers, name, preset, **settings):
    """The numpy processor: the class NAMEPil since 5.0, the slow class before."""
    kind = getattr(transformers, f"{name}ImageProcessorPil", None) or getattr(transformers, f"{name}ImageProcessor")
    mean, std = MEANS[preset]
    return kind(do_resize=True, do_rescale=True, rescale_factor=1 / 255, do_normalize=True, image_mean=mean,
                image_std=std, **settings)


def pixel_values(made, image, **options):
    if not type(made).__name__.endswith("Pil"):  # the slow classes take an image of 1 or 3 rows for 1 or 3 channels
        options["input_data_format"] = "channels_last"
    return np.asarray(made(image, return_tensors="np", **options)["pixel_values"])[0]


def shortest(side, method, crop, preset):
    return (f"resize:shortest={side}:sizes=transformers:method={method}{RULE},"
            f"crop:{crop}x{crop}:rule=transformers:pad=black,normalize:{preset}")


class Whole:
    """A processor that makes one tensor of an image."""

    def __init__(self, name, made, stages):
        self.name, self.made, self.stages = name, made, stages

    def results(self, image, server):
        yield self.stages, planes(server.run(self.stages)), pixel_values(self.made, image)
        stages = f"{self.stages}:layout=nhwc"
        yield stages, server.run(stages), pixel_values(self.made, image, data_format="channels_last")


class LastOnly(Whole):
    """Without channels_last, which the classes of 5.x do not have."""

    def results(self, image, server):
        yield self.stages, planes(server.run(self.stages)), pixel_values(self.made, image)


class Tiles:
    """LLaVA-NeXT: the whole image, and tiles of a larger one on a black canvas."""
    name = "LLaVA-NeXT"
    side = 336
    pinpoints = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]

    def __init__(self, transformers):
        self.made = processor(transformers, "LlavaNext", "clip", resample=Image.BICUBIC, do_center_crop=True,
                              size={"shortest_edge": self.side}, crop_size={"height": self.side, "width": self.side},
                              image_grid_pinpoints=self.pinpoints, do_pad=True, do_convert_rgb=True)
        from transformers.image_processing_utils import select_best_resolution  # pylint: disable=all
        self.best = select_best_resolution

    def results(self, image, server):
        expected = pixel_values(self.made, image)
        stages = f"resize:{self.side}:{self.side}:bicubic{RULE},normalize:clip"
        yield stages, planes(server.run(stages)), expected[0]
        height, width = self.best((image.height, image.width), self.pinpoints)
        across, down = width / image.width, height / image.height
        if across < down:
            size = width, min(math.ceil(image.height * across), height)
        else:
            size = min(math.ceil(image.width * down), width), height
        tiles = [(x, y) for y in range(0, height, self.side) for x in range(0, width, self.side)]
        for number, (x, y) in enumerate(tiles, 1):
            # Not `pad`, which rounds half of the difference as Pillow does: LLaVA-NeXT rounds it down.
            stages = (f"resize:{size[0]}:{size[1]}:bicubic{RULE},crop:{width}x{height}:rule=torchvision:pad=black,"
                      f"crop:{self.side}x{self.side}+{x}+{y},normalize:clip")
            yield stages, planes(server.run(stages)), expected[number]


class SmartResize:
    """Qwen2-VL: sides are multiples of the patches. The patches are reassembled into an image."""
    name = "Qwen2-VL"
    patch, merge, times = 14, 2, 2
    least, most = 56 * 56, 28 * 28 * 1280

    def __init__(self, transformers):
        sizes = {"size": {"shortest_edge": self.least, "longest_edge": self.most}}
        self.made = processor(transformers, "Qwen2VL", "clip", resample=Image.BICUBIC, do_convert_rgb=True,
                              patch_size=self.patch, merge_size=self.merge, temporal_patch_size=self.times, **sizes)

    def size(self, width, height):
        factor = self.patch * self.merge
        h, w = round(height / factor) * factor, round(width / factor) * factor
        if h * w > self.most:
            scale = math.sqrt(height * width / self.most)
            h = max(factor, math.floor(height / scale / factor) * factor)
            w = max(factor, math.floor(width / scale / factor) * factor)
        elif h * w < self.least:
            scale = math.sqrt(self.least / (height * width))
            h, w = math.ceil(height * scale / factor) * factor, math.ceil(width * scale / factor) * factor
        return w, h

    def results(self, image, server):
        if max(image.size) > 150 * min(image.size):
            return
        width, height = self.size(*image.size)
        made = self.made(image, return_tensors="np", input_data_format="channels_last")
        rows, columns = height // self.patch, width // self.patch
        assert tuple(made["image_grid_thw"][0]) == (1, rows, columns), (made["image_grid_thw"], width, height)
        patches = np.asarray(made["pixel_values"]).reshape(rows // self.merge, columns // self.merge, self.merge,
                                                           self.merge, 3, self.times, self.patch, self.patch)
        whole = patches.transpose(5, 4, 0, 2, 6, 1, 3, 7).reshape(self.times, 3, height, width)
        stages = f"resize:{width}:{height}:bicubic{RULE},normalize:clip"
        got = planes(server.run(stages))
        for time in range(self.times):
            yield stages, got, whole[time]


def transformers_checks(transformers):
    edge, square = {"shortest_edge": 224}, {"height": 224, "width": 224}
    whole = LastOnly if int(transformers.__version__.split(".")[0]) >= 5 else Whole
    yield whole("CLIP", processor(transformers, "CLIP", "clip", resample=Image.BICUBIC, size=edge, crop_size=square,
                                  do_center_crop=True, do_convert_rgb=True), shortest(224, "bicubic", 224, "clip"))
    yield whole("DINOv2", processor(transformers, "Bit", "imagenet", resample=Image.BICUBIC, crop_size=square,
                                    size={"shortest_edge": 256}, do_center_crop=True, do_convert_rgb=True),
                shortest(256, "bicubic", 224, "imagenet"))
    yield whole("a crop larger than the image",
                processor(transformers, "CLIP", "clip", resample=Image.LANCZOS, size={"shortest_edge": 101},
                          crop_size={"height": 224, "width": 224}, do_center_crop=True, do_convert_rgb=True),
                shortest(101, "lanczos", 224, "clip"))
    yield whole("ConvNeXt 224", processor(transformers, "ConvNext", "imagenet", resample=Image.BICUBIC, size=edge,
                                          crop_pct=224 / 256), shortest(256, "bicubic", 224, "imagenet"))
    yield whole("ConvNeXt 384", processor(transformers, "ConvNext", "siglip", resample=Image.BICUBIC,
                                          size={"shortest_edge": 384}, crop_pct=224 / 256),
                f"resize:384:384:bicubic{RULE},normalize:siglip")
    yield whole("SigLIP", processor(transformers, "Siglip", "siglip", resample=Image.BICUBIC, size=square,
                                    do_convert_rgb=True), f"resize:224:224:bicubic{RULE},normalize:siglip")
    yield whole("ViT", processor(transformers, "ViT", "siglip", resample=Image.BILINEAR, size=square),
                f"resize:224:224:bilinear{RULE},normalize:mean=0.5:std=0.5")
    yield whole("BLIP", processor(transformers, "Blip", "clip", resample=Image.BICUBIC,
                                  size={"height": 384, "width": 384}, do_convert_rgb=True),
                f"resize:384:384:bicubic{RULE},normalize:clip")
    yield Tiles(transformers)
    yield SmartResize(transformers)


class Alpha:
    """RGBA through a processor that converts to RGB."""
    name = "CLIP with alpha"

    def __init__(self, transformers):
        # Since 5.21 transparent pixels are blended with white; before, alpha is dropped.
        self.stages = shortest(224, "bicubic", 224, "clip")
        self.made = processor(transformers, "CLIP", "clip", resample=Image.BICUBIC, size={"shortest_edge": 224},
                              crop_size={"height": 224, "width": 224}, do_center_crop=True, do_convert_rgb=True)
        clear = Image.new("RGBA", (8, 8), (0, 0, 0, 0))
        self.first = "flatten:white" if pixel_values(self.made, clear).max() > 0 else "rgb"

    def results(self, image, server):
        made = np.random.Generator(np.random.PCG64(image.width * 4096 + image.height))
        alpha = Image.fromarray(made.integers(0, 256, (image.height, image.width), np.uint8))
        image = Image.merge("RGBA", (*image.split(), alpha))
        server.image(np.asarray(image))
        stages = f"{self.first},{self.stages}"
        yield stages, planes(server.run(stages)), pixel_values(self.made, image)


class Fused:
    """The normalisation of the fast processors, which resize by torchvision's arithmetic."""
    name = "fast CLIP without resizing"

    def __init__(self, transformers):
        kind = getattr(transformers, "CLIPImageProcessorFast", None) or transformers.CLIPImageProcessor
        mean, std = MEANS["clip"]
        self.made = kind(do_resize=False, do_center_crop=False, do_rescale=True, rescale_factor=1 / 255,
                         do_normalize=True, image_mean=mean, image_std=std, do_convert_rgb=True)

    def results(self, image, server):
        stages = "normalize:clip:formula=transformers-fused"
        expected = self.made(image, return_tensors="pt")["pixel_values"][0].numpy()
        yield stages, planes(server.run(stages)), expected


# ---- torchvision ---------------------------------------------------------------------------------------------------

class Transform:
    def __init__(self, name, made, stages):
        self.name, self.made, self.stages = name, made, stages

    def results(self, image, server):
        yield self.stages, planes(server.run(self.stages)), self.made(image).numpy()


class Halves(Transform):
    """The tensor rounded to 16 bits."""

    def results(self, image, server):
        import torch  # pylint: disable=import-outside-toplevel
        tensor = self.made(image)
        stages = f"{self.stages}:dtype=float16"
        yield stages, planes(server.run(stages)), tensor.to(torch.float16).numpy()
        stages = f"{self.stages}:dtype=bfloat16"
        yield stages, planes(server.run(stages)), tensor.to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)


def torchvision_checks(torch, torchvision):
    from torchvision.transforms import v2  # pylint: disable=import-outside-toplevel
    modes = torchvision.transforms.InterpolationMode

    def steps(side, mode, crop, preset, **limit):
        return [v2.Resize(side, getattr(modes, mode.upper()), **limit), v2.CenterCrop(crop)], MEANS[preset]

    def stages(side, mode, crop, preset, formula):
        return (f"resize:shortest={side}:sizes=torchvision:method={mode}{RULE},"
                f"crop:{crop}x{crop}:rule=torchvision:pad=black,normalize:{preset}:formula={formula}")

    for side, mode, crop, preset in ((256, "bilinear", 224, "imagenet"), (224, "bicubic", 224, "clip"),
                                     (257, "lanczos", 180, "siglip"), (101, "bicubic", 224, "clip")):
        first, (mean, std) = steps(side, mode, crop, preset)
        scaled = v2.Compose([*first, v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean, std)])
        yield Transform(f"v2 {side} {mode} {crop}", scaled, stages(side, mode, crop, preset, "torchvision-v2"))
        divided = v2.Compose([*first, torchvision.transforms.ToTensor(), v2.Normalize(mean, std)])
        yield Transform(f"ToTensor {side} {mode} {crop}", divided, stages(side, mode, crop, preset, "totensor"))
        yield Halves(f"v2 {side} {mode} {crop}, 16 bits", scaled, stages(side, mode, crop, preset, "torchvision-v2"))
