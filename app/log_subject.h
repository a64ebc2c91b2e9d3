// Which file a reason is about.
#pragma once

#include <string>

#include "app/log_line.h"
#include "images/error.h"

namespace imgpipe {

// A reason that begins with a path, and what follows it.
struct SplitReason {
  enum class About { input, output, neither } about = About::neither;
  std::string alone;  // without that path
};
// `input`, `output`: their names in messages; empty: there is none. "PATH: why", "PATH, page 3: why".
[[nodiscard]] SplitReason split_reason(const std::string& reason, const std::string& input,
                                       const std::string& output);

// Of an image's message.
[[nodiscard]] LogSubject subject_of(const std::string& reason, const std::string& input,
                                    const std::string& output);
// Of an error that ends a run whose only image this is: one of the command line is about none, unless it
// begins with its name.
[[nodiscard]] LogSubject subject_of(const Error& error, const std::string& input, const std::string& output);

}  // namespace imgpipe
