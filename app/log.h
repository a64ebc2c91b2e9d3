// Messages on stderr, one line each: text that begins with "imgpipe: ", or a JSON object (docs/json.md); and
// tables, which are for people. The only user of spdlog.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "app/log_line.h"

namespace imgpipe {

struct LoggingOptions;  // app/options/logging_options.h

// quiet: errors and warnings only; verbose: what is done and why as well.
void set_up_log(const LoggingOptions& options);
// Else lines of text.
[[nodiscard]] bool logs_json();

// The text must be printable (images/text.h); these add what stands before it, and the newline.
void log_error(std::string_view text, const LogSubject& subject = {});
void log_warning(std::string_view text, const LogSubject& subject = {});
void log_notice(std::string_view text,
                const LogSubject& subject = {});  // what is as it must be and worth knowing; not with -q
void log_always(std::string_view text);           // what a run never leaves unsaid, with -q too
void log_detail(std::string_view text, const LogSubject& subject = {});  // with -v only

// Temporary files of killed runs.
void log_removed(std::size_t files);

// How far a run is; not with -q.
void log_progress(std::string_view text, const RunCounts& counts);
// What a run came to, where a program reads along: text has the table. Not with -q.
void log_summary(std::string_view text, const RunCounts& counts);

// The line of log_summary(), for text too, with its newline; nothing is written.
[[nodiscard]] std::string summary_line(std::string_view text, const RunCounts& counts);

// An error where there may be no memory for its line. The text has no character that JSON escapes.
void log_error_without_memory(std::string_view text) noexcept;

// Writes the table to stdout, or to stderr where stdout has an image or JSON, unless stderr has JSON too.
// Throws Error(output) for stdout alone: a table that cannot be read does not make what is on stdout any
// worse.
void print_table(const std::string& table, bool stdout_is_taken);

// True when `fd` is a terminal and neither --no-color nor NO_COLOR (no-color.org) speaks against colour.
[[nodiscard]] bool wants_color(int fd, bool no_color_option);

}  // namespace imgpipe
