// imgpipe INPUT OUTPUT of one input: whether there is anything to do, and what is remembered of it.
#include "app/image_command.h"

#include <string>

#include "app/batch/one_image.h"
#include "app/exit_code.h"
#include "app/image_run.h"
#include "app/image_set_up.h"
#include "app/log.h"
#include "app/print.h"
#include "app/report/report_names.h"
#include "app/result_files.h"
#include "app/standard_streams.h"
#include "app/update/batch_update.h"

namespace imgpipe {
namespace {

int update_one(ProcessOptions options, const EngineFactory& factory) {
  const ImageUpdate update(options);
  if (update.is_done()) {
    if (!options.logging.quiet)
      print_table(output_name(options.output.path) + ": is up to date\n", reports_to_stdout(options));
    return kExitDone;
  }
  if (update.state() != UpdateState::up_to_date)
    log_detail(output_name(options.output.path) +
               ": to be made: " + std::string(update_reason(update.state())));
  options.output.is_stamped = update.is_stamped();
  const int code = run_input(options, factory);
  if (code == kExitDone) update.stamp();
  return code;
}

}  // namespace

int run_image(const ProcessOptions& options, const EngineFactory& factory) {
  check_options_of_one_file(options);
  const Format format = output_format(options.output.path, options.output.format);
  const bool is_left = options.output.skip_existing && has_output(options, format);
  if (options.dry_run) {
    FilesInUse in_use;
    if (!is_left) check_paths(options, format, in_use);
    print_text((is_left ? "0 to do, 1 skipped"
                        : input_name(options.input.path) + " -> " + output_name(options.output.path) +
                              "\n1 to do, 0 skipped") +
               ", stages " + options.stages.list + "\n");
    return kExitDone;
  }
  if (is_left) {
    if (!options.logging.quiet)
      print_table(output_name(options.output.path) + ": is there already\n", reports_to_stdout(options));
    return kExitDone;
  }
  return options.output.update ? update_one(options, factory) : run_input(options, factory);
}

}  // namespace imgpipe
