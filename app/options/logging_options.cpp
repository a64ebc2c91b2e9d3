#include "app/options/logging_options.h"

#include "app/options/option_parser.h"

namespace imgpipe {

std::vector<OptionRow> logging_rows() {
  return {{"General", "q,quiet", nullptr, nullptr, "No tables; errors and warnings only"},
          {"General", "v,verbose", nullptr, nullptr, "Report what is done and why"},
          {"General", "no-color", nullptr, nullptr, "No colour (NO_COLOR does the same)"},
          {"General", "log-format", "NAME", "text",
           "Format of stderr: text, or json (one object per line for programs, no tables)",
           choice_names(kLogFormats)},
          {"General", "version", nullptr, nullptr, "Version, commit, compiler, libraries"},
          {"General", "h,help", nullptr, nullptr, "This text"}};
}

LoggingOptions read_logging(const Parser& parser) {
  LoggingOptions logging{parser.has("quiet"), parser.has("verbose"), parser.has("no-color"),
                         parse_choice("log-format", parser.text("log-format"), kLogFormats)};
  if (logging.quiet && logging.verbose) usage("-q: cannot be combined with -v");
  return logging;
}

}  // namespace imgpipe
