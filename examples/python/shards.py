"""Resizes the images of tar shards into new shards, in WebDataset's format. Other members are copied.

    shards.py SHARDS OUTPUT     SHARDS: 'train-{0000..0099}.tar'; OUTPUT: a directory

The program does the same, faster: imgpipe SHARDS OUTPUT/ --stages resize:shortest=256. This form is for data sets
that Python code changes further.
"""
import glob
import io
import pathlib
import re
import sys
import tarfile

import imgpipe


def expand(pattern):
    """The names of 'train-{0000..0099}.tar'; other patterns are those of glob."""
    if not (found := re.search(r"\{(\d+)\.\.(\d+)\}", pattern)):
        return sorted(glob.glob(pattern))
    first, last = found.groups()
    numbers = [f"{number:0{len(first)}}" for number in range(int(first), int(last) + 1)]
    return [pattern[:found.start()] + number + pattern[found.end():] for number in numbers]


def add(archive, name, contents):
    member = tarfile.TarInfo(name)
    member.size = len(contents)
    archive.addfile(member, io.BytesIO(contents))


def main(shards, output):
    pipeline = imgpipe.Pipeline("rgb,resize:shortest=128:method=lanczos", on_error="skip")
    pathlib.Path(output).mkdir(exist_ok=True)
    for shard in expand(shards):
        target = pathlib.Path(output) / pathlib.Path(shard).name
        samples = 0
        with tarfile.open(target, "w") as archive:
            for batch in imgpipe.Loader([shard], pipeline, batch_size=32):
                images = imgpipe.encode(list(batch.images), "jpeg", quality=95)
                for key, image, members in zip(batch.keys, images, batch.members):
                    add(archive, f"{key}.jpg", image)
                    for extension, contents in members.items():
                        add(archive, f"{key}.{extension}", contents)
                samples += len(images)
        print(f"{target}: {samples} samples")


if __name__ == "__main__":
    main(*sys.argv[1:])
