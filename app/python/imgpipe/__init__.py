"""imgpipe: an image-processing pipeline that is exact to the byte."""
from . import ops
from ._batch import Batch
from ._core import __version__
from ._errors import DamageWarning, DecodeError
from ._map import Result
from ._pipeline import Pipeline, run
from ._report import Report
from ._stages import Op, stages

__all__ = ["Batch", "DamageWarning", "DecodeError", "Op", "Pipeline", "Report", "Result", "__version__", "ops", "run",
           "stages"]
