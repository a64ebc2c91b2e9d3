"""imgpipe: an image-processing pipeline that is exact to the byte."""
from . import ops
from ._batch import Batch
from ._core import VERSION as __version__
from ._directory import Summary, run_directory
from ._errors import DamageWarning, DecodeError, MissingFileError
from ._io import ImageInfo, Pages, Source, decode, encode, info, pages, read, write
from ._loader import Loader, LoaderBatch, LoaderState
from ._map import Result
from ._pipeline import Pipeline, run
from ._report import Report
from ._stages import Op, stages

__all__ = ["Batch", "DamageWarning", "DecodeError", "ImageInfo", "Loader", "LoaderBatch", "LoaderState",
           "MissingFileError", "Op", "Pages", "Pipeline", "Report", "Result", "Source", "Summary", "__version__",
           "decode", "encode", "info", "ops", "pages", "read", "run", "run_directory", "stages", "write"]
