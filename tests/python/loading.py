"""Loaders of names: the pipelines have no images to decode."""
from imgpipe import Batch


class Names:
    """Instead of a Pipeline: the "images" of a batch are its sources."""

    def __init__(self, on_error="raise"):
        self.on_error = on_error
        self.calls = []

    def batch(self, sources, *, boxes=None, flips=None):
        self.calls.append((boxes, flips))
        images = [source.read().decode() if hasattr(source, "read") else source for source in sources]
        return images if self.on_error == "raise" else Batch(images, [None] * len(images), range(len(images)))


class Raw(Names):
    def batch(self, sources, *, boxes=None, flips=None):
        images = [source.read() for source in sources]
        return images if self.on_error == "raise" else Batch(images, [None] * len(images), range(len(images)))


def keys_of(loader):
    return [key for batch in loader for key in batch.keys]


def numbers(count):
    return [f"{number}.png" for number in range(count)]
