// Messages on stderr, one per line: text that begins with "imgpipe: ", or a JSON object (docs/json.md). Also
// tables for people. The only user of spdlog.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "app/log_line.h"

namespace imgpipe {

struct LoggingOptions;  // app/options/logging_options.h

// Sets the level and the format. quiet: errors and warnings only; verbose: adds details and reasons.
void set_up_log(const LoggingOptions& options);
// Returns true if log lines are JSON, false if they are text.
[[nodiscard]] bool logs_json();

// The text must be printable (images/text.h). These functions add the prefix and the newline.
void log_error(std::string_view text, const LogSubject& subject = {});
void log_warning(std::string_view text, const LogSubject& subject = {});
void log_notice(std::string_view text,
                const LogSubject& subject = {});  // normal but worth knowing; not with -q
void log_always(std::string_view text);           // printed even with -q
void log_detail(std::string_view text, const LogSubject& subject = {});  // with -v only

// Logs the number of temporary files of killed runs that were removed; with -v only.
void log_removed(std::size_t files);

// Logs the progress of a run; not with -q.
void log_progress(std::string_view text, const RunCounts& counts);
// Logs the summary of a run, in JSON only: text output has the table instead. Not with -q.
void log_summary(std::string_view text, const RunCounts& counts);

// Returns the line that log_summary() would write in JSON, or its equivalent as text, with its newline.
[[nodiscard]] std::string summary_line(std::string_view text, const RunCounts& counts);

// Logs an error when there may be no memory for its line. The text must have no character that JSON escapes.
void log_error_without_memory(std::string_view text) noexcept;

// Writes the table to stdout. If stdout is taken by an image or JSON, writes it to stderr, unless the log is
// JSON. Throws Error(output) for stdout only: a table lost on stderr does not harm the output on stdout.
void print_table(const std::string& table, bool stdout_is_taken);

// Returns true if `fd` is a terminal and neither --no-color nor NO_COLOR (no-color.org) disables colour.
[[nodiscard]] bool should_use_color(int fd, bool no_color_option);

}  // namespace imgpipe
