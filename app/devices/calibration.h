// The cost model of this machine, kept in the user's cache folder.
#pragma once

#include <optional>
#include <string>

#include "app/devices/calibration_file.h"
#include "pipeline/cost_model.h"
#include "pipeline/device.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {

struct Calibration {
  CostModel model;
  bool measured = false;    // false: usual_cost_model()
  CalibrationKey key;       // of this machine with the device
  std::size_t entries = 0;  // that the file has, this machine's or not
  std::string note;         // what is wrong with the file; printable
};

// $XDG_CACHE_HOME/imgpipe/calibration.json, or the same below $HOME/.cache; empty when neither is set.
[[nodiscard]] std::string calibration_file();

// What was measured for this processor, this number of threads, this device and this version of imgpipe; what
// is usual where that is not there or cannot be meant; Calibration::note says so.
[[nodiscard]] Calibration load_calibration(const CudaDevice& device);

// Measures, and keeps the result where that is possible; `not_kept` says why not. Throws what
// measure_cost_model() does.
[[nodiscard]] Calibration calibrate(const CudaDevice& device, std::string& not_kept);

// "12.34 MP".
[[nodiscard]] std::string megapixels(std::int64_t pixels);

// What auto takes for one image of so many pixels by itself, and why. Asks for CUDA devices only if a cost
// model could choose one.
[[nodiscard]] DeviceChoice choose_for_image(std::int64_t pixels, int threads, int passes);

}  // namespace imgpipe
