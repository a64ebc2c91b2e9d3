"""Batches on a CUDA device."""
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ._pipeline import Pipeline


def batch(pipeline: "Pipeline", sources: list[Any], boxes: npt.NDArray[np.int64] | None,
          flips: npt.NDArray[np.bool_] | None, out: Any) -> tuple[Any, list[Exception | None] | None]:
    """Return the results on the device, and the errors by source (None: all succeeded)."""
    raise RuntimeError(f"device: {pipeline.device} cannot be used by this build; use run() or device='cpu'")
