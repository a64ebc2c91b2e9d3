// Counts the system calls of an action, as a debugger does.
#pragma once

#include <functional>
#include <optional>

namespace imgpipe::test {

// Runs `before`, then `counted`, in a forked process, and returns the number of system calls that `counted`
// makes on the calling thread. nullopt if this system does not permit tracing. Throws std::runtime_error if
// either throws or ends the process.
[[nodiscard]] std::optional<int> system_calls_of(const std::function<void()>& before,
                                                 const std::function<void()>& counted);

}  // namespace imgpipe::test
