"""torch's DataLoader over a map-style data set: torch's samplers and workers, imgpipe's decoding and resizing.

    torch_dataset.py DIRECTORY [WORKERS]     DIRECTORY/CLASS/*.jpg, as in torchvision's ImageFolder
"""
import pathlib
import sys
import time

import imgpipe
import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.dataloader import default_collate

STAGES = "rgb,resize:224:224:bilinear,normalize:imagenet:formula=totensor"


class Photos(Dataset):
    """Images in a directory for each class. A Pipeline can be pickled, so workers may be forked or spawned."""

    def __init__(self, directory):
        self.paths = sorted(pathlib.Path(directory).glob("*/*.jpg"))
        self.classes = sorted({path.parent.name for path in self.paths})
        self.pipeline = imgpipe.Pipeline(STAGES, threads=1)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.__getitems__([index])[0]

    def __getitems__(self, indices):
        """Load a whole batch in one call, which torch prefers to one call per image."""
        images = torch.from_numpy(self.pipeline.batch([self.paths[index] for index in indices]))
        labels = [self.classes.index(self.paths[index].parent.name) for index in indices]
        return list(zip(images, labels))


def main(directory, workers="2"):
    photos = Photos(directory)
    loader = DataLoader(photos, batch_size=8, shuffle=True, num_workers=int(workers), collate_fn=default_collate)
    start, images = time.perf_counter(), 0
    for tensors, labels in loader:
        assert tensors.shape[1:] == (3, 224, 224) and len(labels) == len(tensors)
        images += len(tensors)
    print(f"{images} images of {len(photos.classes)} classes, {images / (time.perf_counter() - start):.0f} per second")


if __name__ == "__main__":
    main(*sys.argv[1:])
