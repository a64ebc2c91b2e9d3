// Threads where the system may give fewer than are asked for: `ulimit -u`, a container's limit of processes,
// no room for a stack.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace imgpipe {

// Makes a thread that runs a function; throws std::system_error where the system gives none.
using ThreadStarter = std::function<std::thread(std::function<void()>)>;

// Starts one thread of our own (is_own_thread()). Throws std::system_error.
[[nodiscard]] std::thread start_thread(std::function<void()> body);

// Starts body(0) to body(count - 1), each on a thread of its own, until the system gives no more, be it none
// at all; the caller joins those that there are. Nothing that a body throws may leave it.
[[nodiscard]] std::vector<std::thread> start_threads(int count,
                                                     const std::function<void(int)>& body) noexcept;

// Returns true on a thread that start_thread() or start_threads() started. On any other thread the state of
// the thread, such as its current CUDA device, belongs to the library's user.
[[nodiscard]] bool is_own_thread() noexcept;

}  // namespace imgpipe
