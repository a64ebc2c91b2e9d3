// The options of imgpipe bench, which imgpipe-bench (lab/) parses too.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "app/options/option_row.h"
#include "app/options/option_values.h"
#include "app/report/result_table.h"

namespace imgpipe {

enum class Study { none, colors, contention, crossover, pipeline };

inline constexpr Choices<TableFormat, 4> kBenchFormats{{{"table", TableFormat::text},
                                                        {"csv", TableFormat::csv},
                                                        {"json", TableFormat::json},
                                                        {"markdown", TableFormat::markdown}}};
inline constexpr Choices<Study, 4> kBenchStudies{{{"colors", Study::colors},
                                                  {"contention", Study::contention},
                                                  {"crossover", Study::crossover},
                                                  {"pipeline", Study::pipeline}}};

// Values of --stage: all, and the lab's ladders. A test compares them with the lab's tables, and
// kBenchTemplates with the existing templates.
inline constexpr std::array<std::string_view, 16> kBenchStages{
    "all",     "gray",   "hist",   "contrast",   "smooth",   "equalize", "clahe", "median",
    "median5", "gray16", "hist16", "contrast16", "smooth16", "transfer", "jpeg",  "png"};
// Values of --template.
inline constexpr std::array<std::string_view, 12> kBenchTemplates{
    "gray",    "hist",   "contrast", "smooth",     "equalize", "median",
    "median5", "gray16", "hist16",   "contrast16", "smooth16", "header"};

[[nodiscard]] std::vector<OptionRow> bench_rows();

}  // namespace imgpipe
