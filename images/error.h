// The one exception type of imgpipe, thrown by app, pipeline and images; kernels never throw.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

namespace imgpipe {

// The kind of failure; it decides the exit code (app/exit_code.h).
enum class ErrorKind {
  usage,   // invalid command line or arguments
  input,   // an input is missing, damaged, unsupported or too large
  memory,  // not enough memory for this input
  device,  // the requested device cannot be used
  output,  // the output cannot be written: disk full, read-only, missing directory
};

// A failure that the user can act on. The message is one line without control characters (see printable() in
// images/text.h); the code that reports it adds the file name.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

// Prefixes the message of any Error that `action` throws with "NAME: ". std::bad_alloc becomes Error(memory).
template <class Action>
auto naming(const std::string& name, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw Error(error.kind(), name + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory, name + ": not enough memory");
  }
}

// The same for work on two files: errors of kind `output` name `output`, all others `input`.
template <class Action>
auto naming(const std::string& input, const std::string& output, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw Error(error.kind(), (error.kind() == ErrorKind::output ? output : input) + ": " + error.what());
  }
}

}  // namespace imgpipe
