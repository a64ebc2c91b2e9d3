// Finds the file that a message is about.
#pragma once

#include <string>

#include "app/log_line.h"
#include "images/error.h"

namespace imgpipe {

// A reason split into the path that it begins with and the rest.
struct SplitReason {
  enum class About { input, output, neither } about = About::neither;
  std::string alone;  // without that path
};
// Splits "PATH: why" and "PATH, page 3: why". `input` and `output` are names as in messages, or empty.
[[nodiscard]] SplitReason split_reason(const std::string& reason, const std::string& input,
                                       const std::string& output);

[[nodiscard]] LogSubject subject_of(const std::string& reason, const std::string& input,
                                    const std::string& output);
// Returns the subject of an error that ends a run with a single image. A usage error has no subject unless it
// begins with one of the names.
[[nodiscard]] LogSubject subject_of(const Error& error, const std::string& input, const std::string& output);

}  // namespace imgpipe
