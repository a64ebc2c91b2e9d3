"""imgpipe: an image-processing pipeline that is exact to the byte."""
from . import ops
from ._batch import Batch, Result
from ._core import VERSION as __version__
from ._device import memory_limit, trim
from ._device_array import DeviceArray
from ._directory import Summary, run_directory
from ._errors import DamageWarning, DecodeError, MissingFileError
from ._io import ImageInfo, Pages, Source, decode, encode, info, pages, read, write
from ._loader import Loader, LoaderBatch, LoaderState
from ._pipeline import Pipeline, run
from ._report import Report
from ._stages import Op, stages

__all__ = ["Batch", "DamageWarning", "DecodeError", "DeviceArray", "ImageInfo", "Loader", "LoaderBatch", "LoaderState",
           "MissingFileError", "Op", "Pages", "Pipeline", "Report", "Result", "Source", "Summary", "__version__",
           "decode", "encode", "info", "memory_limit", "ops", "pages", "read", "run", "run_directory", "stages", "trim",
           "write"]
