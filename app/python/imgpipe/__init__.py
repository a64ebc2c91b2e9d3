"""imgpipe: an image-processing pipeline that is exact to the byte."""
from ._core import __version__
from ._errors import DamageWarning, DecodeError, MissingFileError
from ._io import ImageInfo, Pages, Source, decode, encode, info, pages, read, write
from ._pipeline import Report, run, stages

__all__ = ["DamageWarning", "DecodeError", "ImageInfo", "MissingFileError", "Pages", "Report", "Source", "__version__",
           "decode", "encode", "info", "pages", "read", "run", "stages", "write"]
