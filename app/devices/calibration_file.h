// The calibration file: one entry for each machine and device that shares its directory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/cost_model.h"

namespace imgpipe {

// The conditions under which a measurement is valid.
struct CalibrationKey {
  std::string version;  // of imgpipe
  std::string processor;
  std::string instructions;
  int threads = 0;
  std::string device;

  friend bool operator==(const CalibrationKey&, const CalibrationKey&) = default;
};

struct CalibrationEntry {
  CalibrationKey key;
  CostModel model;
};

struct CalibrationEntries {
  std::vector<CalibrationEntry> entries;  // the valid ones, oldest first
  std::string note;                       // the problem with an invalid one; printable
};

// Returns true for plausible costs: finite, not negative, at most an hour per image.
[[nodiscard]] bool is_plausible(const CostModel& model);

// Reads the output of calibration_text(), and 0.1.0's single entry. Never throws because of the content.
[[nodiscard]] CalibrationEntries parse_calibration(std::string_view text);
[[nodiscard]] std::string calibration_text(const std::vector<CalibrationEntry>& entries);

// Returns no entries and no note if the file does not exist.
[[nodiscard]] CalibrationEntries read_calibration(const std::string& path);

// Adds the entry, or replaces the one with the same key; other entries stay. The file is replaced atomically.
// If two processes write at once, both entries are kept where locks work, otherwise the later one. Creates
// the directory. Throws Error.
void store_calibration(const std::string& path, const CalibrationEntry& entry);

}  // namespace imgpipe
