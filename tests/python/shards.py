"""Tar shards for the tests."""
import io
import tarfile


def write_shard(path, members, mode="w", format=tarfile.PAX_FORMAT):
    """Writes (name, bytes) members to a tar archive."""
    with tarfile.open(path, mode, format=format) as archive:
        for name, data in members:
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))


def write_shards(directory, counts, ending=".tar"):
    """Writes shards with these numbers of samples, "KEY.jpg" and "KEY.cls" each, and returns their pattern and keys.

    The images are no images: their bytes are the key.
    """
    keys = []
    for number, count in enumerate(counts):
        members = []
        for sample in range(count):
            key = f"{number}/{sample:03}"
            keys.append(key)
            members += [(key + ".jpg", key.encode() * 50), (key + ".cls", str(sample).encode())]
        write_shard(directory / f"shard-{number:02}{ending}", members, {".tar": "w", ".tar.gz": "w:gz"}[ending])
    return str(directory / f"shard-{{00..{len(counts) - 1:02}}}{ending}"), keys
