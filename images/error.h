// The one exception type of imgpipe, thrown by app, pipeline and images; kernels never throw.
// It stands on the lowest floor because every floor above includes downward only.
#pragma once

#include <stdexcept>
#include <string>

namespace imgpipe {

// What went wrong, in the terms that decide the exit code (app/exit_code.h).
enum class ErrorKind {
  usage,   // the command line asks for something that cannot be meant
  input,   // an input is missing, damaged, unsupported or too large
  memory,  // not enough memory for this input
  device,  // the device asked for cannot be used
  output,  // the output side is broken: full, read-only, missing
};

// A failure that a person can act on: the message says what failed and why, in one line, without
// control characters (see printable() in images/text.h). Who reports it adds the file's name.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

// Runs `action`; an Error on its way out gets "NAME: " in front, for the file that it is about. `name` is
// printable.
template <class Action>
auto naming(const std::string& name, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw Error(error.kind(), name + ": " + error.what());
  }
}

// The same for work that reads one file and writes another: an Error of the output side is about the second.
template <class Action>
auto naming(const std::string& input, const std::string& output, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw Error(error.kind(), (error.kind() == ErrorKind::output ? output : input) + ": " + error.what());
  }
}

}  // namespace imgpipe
