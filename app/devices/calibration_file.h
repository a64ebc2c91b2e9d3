// The file of measurements: one entry for each machine and device that shares the folder it lies in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/cost_model.h"

namespace imgpipe {

// What a measurement holds for.
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
  std::vector<CalibrationEntry> entries;  // those that can be meant, oldest first
  std::string note;                       // what was not, in words; printable
};

// True for costs that can have been measured: finite, none negative, no image longer than an hour.
[[nodiscard]] bool can_be_meant(const CostModel& model);

// Reads what calibration_text() writes, and the single entry that 0.1.0 wrote. Never throws for what the text
// says.
[[nodiscard]] CalibrationEntries parse_calibration(std::string_view text);
[[nodiscard]] std::string calibration_text(const std::vector<CalibrationEntry>& entries);

// A file that is not there has no entries and no note.
[[nodiscard]] CalibrationEntries read_calibration(const std::string& path);

// Adds the entry to the file, or replaces the one with its key, and leaves the others. The file is always a
// whole one; of two processes at the same time both entries are kept where the folder can be locked, else the
// later one's. Makes the folder. Throws Error.
void keep_calibration(const std::string& path, const CalibrationEntry& entry);

}  // namespace imgpipe
