// One line a message on stderr, each beginning with "imgpipe: ". The only user of spdlog.
#pragma once

#include <string>
#include <string_view>

namespace imgpipe {

enum class Verbosity { quiet, normal, verbose };

// quiet: errors and warnings only, no notices and no tables; verbose: what is done and why as well.
void set_up_log(Verbosity verbosity, bool color);

// The text must be printable (images/text.h); these add the prefix and the newline.
void log_error(std::string_view text);
void log_warning(std::string_view text);
void log_notice(std::string_view text);  // what is as it must be and worth knowing; not with -q
void log_always(std::string_view text);  // what a run never leaves unsaid, with -q too
void log_detail(std::string_view text);  // with -v only

// True when `fd` is a terminal and neither --no-color nor NO_COLOR (no-color.org) speaks against colour.
[[nodiscard]] bool wants_color(int fd, bool no_color_option);

}  // namespace imgpipe
