// Starts threads where the system may provide fewer: `ulimit -u`, a container's limit, no memory for a stack.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace imgpipe {

// Makes a thread that runs a function; throws std::system_error if the system provides none.
using ThreadStarter = std::function<std::thread(std::function<void()>)>;

// Starts one library thread (is_library_thread()). Throws std::system_error.
[[nodiscard]] std::thread start_thread(std::function<void()> body);

// Starts body(0) to body(count - 1), each on a thread of its own, until the system provides no more, possibly
// none. The caller must join the threads. A body must not throw.
[[nodiscard]] std::vector<std::thread> start_threads(int count,
                                                     const std::function<void(int)>& body) noexcept;

// Returns true on a thread that start_thread() or start_threads() started. On any other thread, its state,
// such as the current CUDA device, belongs to the library's user.
[[nodiscard]] bool is_library_thread() noexcept;

}  // namespace imgpipe
