"""imgpipe: an image-processing pipeline that is exact to the byte."""
from ._core import __version__
from ._errors import DamageWarning, DecodeError
from ._pipeline import Report, run, stages

__all__ = ["DamageWarning", "DecodeError", "Report", "__version__", "run", "stages"]
