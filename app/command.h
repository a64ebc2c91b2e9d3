// From arguments to an exit code.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "app/process_options/process_options.h"
#include "pipeline/device.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {

struct StatsOptions;
struct InfoOptions;
struct SumsOptions;

// Makes the engine for a choice of device, with so many threads of the host; tests hand in one that errs.
using EngineFactory = std::function<std::unique_ptr<Engine>(const DeviceChoice&, int threads)>;

// Runs one command line (without the program's name) and returns its exit code. Never throws: every
// error becomes one line on stderr.
[[nodiscard]] int run_command(const std::vector<std::string>& arguments,
                              const EngineFactory& factory = make_engine);

// The commands; each throws Error or returns an exit code.
[[nodiscard]] int run_image(const ProcessOptions& options, const EngineFactory& factory);
// A batch: directories, patterns, lists (app/batch/batch_files.h); `factory` for one that is reported as an
// image (app/image/one_input.h).
[[nodiscard]] int run_batch(const ProcessOptions& options, const EngineFactory& factory);
[[nodiscard]] int run_synth(const SynthOptions& options);
[[nodiscard]] int run_devices(const DevicesOptions& options);
[[nodiscard]] int run_stats(const StatsOptions& options);  // app/stats/stats_options.h
[[nodiscard]] int run_info(const InfoOptions& options);    // app/info/info_options.h
[[nodiscard]] int run_sums(const SumsOptions& options);    // app/sums/sums_options.h

// The format to write: the one of OUTPUT's ending, else the option's. Throws Error(usage) without either, and
// where they contradict each other.
[[nodiscard]] Format output_format(const std::string& output, const std::optional<Format>& option);

}  // namespace imgpipe
