"""imgpipe: an image-processing pipeline that is exact to the byte. See run() and stages()."""
from ._core import __version__, run, stages

__all__ = ["__version__", "run", "stages"]
