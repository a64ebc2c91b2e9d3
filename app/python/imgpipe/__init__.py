"""imgpipe: an image-processing pipeline that is exact to the byte."""
from . import ops
from ._batch import Batch
from ._core import __version__
from ._device import memory_limit, trim
from ._device_array import DeviceArray
from ._errors import DamageWarning, DecodeError
from ._map import Result
from ._pipeline import Pipeline, run
from ._report import Report
from ._stages import Op, stages

__all__ = ["Batch", "DamageWarning", "DecodeError", "DeviceArray", "Op", "Pipeline", "Report", "Result", "__version__",
           "memory_limit", "ops", "run", "stages", "trim"]
