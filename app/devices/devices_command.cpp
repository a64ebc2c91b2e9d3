#include "app/devices/devices_command.h"

#include "app/devices/devices_report.h"
#include "app/exit_code.h"
#include "app/files/text_file.h"
#include "app/jobs/result_files.h"
#include "app/log.h"
#include "app/options/coding_options.h"
#include "app/options/option_parser.h"
#include "app/report/text_columns.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

struct DevicesOptions {
  std::string json_file;  // "-": stdout; empty: none
  bool calibrate = false;
  Replace replace = Replace::own;
  LoggingOptions logging;
};

AutoChoice make_auto_choice(const HostInfo& host, const CudaDevices& cuda, bool calibrate_now) {
  AutoChoice judged;
  judged.device = usable_device(cuda);
  judged.threads = host.threads;
  if (!judged.device) {
    judged.without = why_no_device(cuda);
    if (calibrate_now) throw Error(ErrorKind::device, "--calibrate: needs a CUDA device; " + judged.without);
    return judged;
  }
  std::string store_error;
  judged.calibration =
      calibrate_now ? calibrate(*judged.device, store_error) : load_calibration(*judged.device);
  if (!store_error.empty()) log_warning("calibration not stored: " + printable(store_error));
  if (!judged.calibration.note.empty()) log_warning(judged.calibration.note);
  return judged;
}

// Logs all limits; the table shows only the effective ones.
void log_limits(const HostInfo& host) {
  for (const ProcessorLimit& limit : host.processor_limits)
    log_detail("processor limit of " + limit.source + ": " + number(limit.processors, 2));
  for (const MemoryBound& bound : host.memory_bounds)
    log_detail("memory limit of " + bound.source + ": " + gib(bound.available_bytes) + " of " +
               gib(bound.limit_bytes) + " available");
}

int run_devices(const DevicesOptions& options) {
  check_result_files({}, options.replace, {{"--json", options.json_file}});
  Machine machine{host_info(), list_cuda_devices(), {}};
  log_limits(machine.host);
  machine.judged = make_auto_choice(machine.host, machine.cuda, options.calibrate);
  if (!options.json_file.empty()) write_text(options.json_file, devices_json(machine));
  if (!options.logging.quiet) print_table(devices_table(machine), options.json_file == kStandardStream);
  return kExitDone;
}

std::vector<OptionRow> devices_rows() {
  std::vector<OptionRow> rows{
      json_row("Output", "Write all of it as JSON"),
      {"Output", "calibrate", nullptr, nullptr,
       "Measure the image size from which auto uses the GPU, and store it in the user's cache directory"}};
  add_rows(rows, replace_rows());
  add_rows(rows, logging_rows());
  return rows;
}

}  // namespace

CommandRow devices_command() {
  return {.name = "devices",
          .summary = "processors, CUDA devices and limits of this machine",
          .description =
              "Lists the processors, CUDA devices, memory and limits of this machine, and the choice of "
              "--device auto.",
          .usage = {{"imgpipe devices [options]", ""}},
          .rows = devices_rows,
          .exits = {kExitDone, kExitUsage, kExitDevice, kExitOutput, kExitSignalBase},
          .read = [](const Parser& parser) {
            return ready(DevicesOptions{read_json_file(parser), parser.has("calibrate"), read_replace(parser),
                                        read_logging(parser)},
                         run_devices);
          }};
}

}  // namespace imgpipe
