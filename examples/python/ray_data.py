"""Ray Data reads files, and imgpipe makes tensors of them in actors, each of which checks its pipeline once.

    ray_data.py DIRECTORY [ACTORS]
"""
import sys

import imgpipe
import ray

STAGES = "rgb,resize:shortest=224:method=bicubic,crop:224x224,normalize:clip:dtype=float16"


class Tensors:
    def __init__(self):
        self.pipeline = imgpipe.Pipeline(STAGES, threads=1, on_error="skip")  # one thread: Ray counts one processor

    def __call__(self, rows):
        batch = self.pipeline.batch(list(rows["bytes"]))
        return {"image": batch.images, "path": rows["path"][batch.indices]}


def main(directory, actors="1"):
    ray.init()
    files = ray.data.read_binary_files(directory, include_paths=True)
    tensors = files.map_batches(Tensors, batch_size=32, compute=ray.data.ActorPoolStrategy(size=int(actors)))
    images = 0
    for batch in tensors.iter_batches(batch_size=64):
        assert batch["image"].shape[1:] == (3, 224, 224) and batch["image"].dtype == "float16"
        images += len(batch["image"])
    print(f"{images} images")


if __name__ == "__main__":
    main(*sys.argv[1:])
