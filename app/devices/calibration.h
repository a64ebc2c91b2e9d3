// The cost model of this machine, stored in the user's cache directory.
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
  bool measured = false;    // false: default_cost_model()
  CalibrationKey key;       // of this machine and device
  std::size_t entries = 0;  // in the file, for any machine
  std::string note;         // what is wrong with the file; printable
};

// Returns $XDG_CACHE_HOME/imgpipe/calibration.json, or the same in $HOME/.cache; empty if neither is set.
[[nodiscard]] std::string calibration_file();

// Returns the stored measurement for this processor, number of threads, device and version of imgpipe. If it
// is missing or implausible, returns default_cost_model(); Calibration::note has the reason for a bad file.
[[nodiscard]] Calibration load_calibration(const CudaDevice& device);

// Measures and stores the cost model. `store_error`: why it was not stored. Throws like measure_cost_model().
[[nodiscard]] Calibration calibrate(const CudaDevice& device, std::string& store_error);

// Chooses the device that auto uses for a single image, and says why. Lists CUDA devices only if some cost
// model could choose one.
[[nodiscard]] DeviceChoice choose_for_image(std::int64_t pixels, int threads, int passes);

}  // namespace imgpipe
