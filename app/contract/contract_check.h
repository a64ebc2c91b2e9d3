// Computes and compares the results of the contract, on several threads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/contract/contract_file.h"
#include "pipeline/device.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {

// The device, and the number of threads; each makes an engine.
struct ContractRunSettings {
  std::string device_name;  // as --device
  DeviceChoice device;
  int threads = 1;
  EngineFactory make_engine;
};

// Returns the lines of each row's results. Throws Error(device), Error(memory).
[[nodiscard]] std::vector<std::vector<std::string>> contract_results(const std::vector<ContractRow>& rows,
                                                                     const ContractRunSettings& settings);

// A result that differs, for people: "smooth:gauss, u8, 17x5x3" and how.
struct ContractDifference {
  std::string result, problem;
};
struct ContractDifferences {
  std::vector<ContractDifference> first;  // of the first rows that differ
  std::size_t rows = 0;                   // that differ
};
// Returns the differences of the rows' results from their digests. To find the images of a row, compares them
// with those of the reference, if its digest is right.
[[nodiscard]] ContractDifferences contract_differences(const std::vector<DigestRow>& rows,
                                                       const ContractRunSettings& settings);

}  // namespace imgpipe
