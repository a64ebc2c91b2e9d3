#include "app/log_subject.h"

#include <utility>

namespace imgpipe {

SplitReason split_reason(const std::string& reason, const std::string& input, const std::string& output) {
  using About = SplitReason::About;
  for (const auto& [about, path] : {std::pair(About::output, &output), std::pair(About::input, &input)}) {
    if (path->empty() || !reason.starts_with(*path)) continue;
    const std::string rest = reason.substr(path->size());
    if (rest.starts_with(": ") || rest.starts_with(", page ")) return {about, rest.substr(2)};
  }
  return {About::neither, reason};
}

LogSubject subject_of(const std::string& reason, const std::string& input, const std::string& output) {
  return {input, output, split_reason(reason, input, output).alone};
}

LogSubject subject_of(const Error& error, const std::string& input, const std::string& output) {
  SplitReason split = split_reason(error.what(), input, output);
  if (error.kind() == ErrorKind::usage && split.about == SplitReason::About::neither) return {};
  return {input, output, std::move(split.alone)};
}

}  // namespace imgpipe
