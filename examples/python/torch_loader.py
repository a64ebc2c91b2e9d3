"""torch's DataLoader over imgpipe.Loader: every worker of every rank loads its part of the data set.

    torch_loader.py SOURCE [WORKERS]     SOURCE: a directory, or tar shards such as 'train-{0000..0099}.tar'
"""
import sys
import time

import imgpipe
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

STAGES = ("rgb,resize:shortest=256:method=bilinear:sizes=torchvision,crop:224x224:rule=torchvision,"
          "normalize:imagenet:formula=totensor")


class Batches(IterableDataset):
    def __init__(self, sources, batch_size):
        self.sources, self.batch_size = sources, batch_size

    def __iter__(self):
        worker, workers, rank, world = 0, 1, 0, 1
        if info := get_worker_info():
            worker, workers = info.id, info.num_workers
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
        # A worker process uses one thread, because there are as many workers as the caller asked for.
        pipeline = imgpipe.Pipeline(STAGES, threads=1 if info else 0, on_error="skip")
        loader = imgpipe.Loader(self.sources, pipeline, self.batch_size, shuffle=True,
                                shard=(rank * workers + worker, world * workers))
        for batch in loader:
            yield torch.from_numpy(batch.images), batch.keys


def main(sources, workers="0"):
    # The data set makes the batches, so the DataLoader does not.
    loader = DataLoader(Batches(sources, batch_size=8), batch_size=None, num_workers=int(workers))
    start, images = time.perf_counter(), 0
    for tensors, keys in loader:
        assert tensors.shape[1:] == (3, 224, 224) and len(tensors) == len(keys)
        images += len(tensors)
    print(f"{images} images, {images / (time.perf_counter() - start):.0f} per second")


if __name__ == "__main__":
    main(*sys.argv[1:])
