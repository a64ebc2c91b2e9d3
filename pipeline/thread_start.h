// Threads where the system may give fewer than are asked for: `ulimit -u`, a container's limit of processes.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace imgpipe {

// Makes a thread that runs a function; throws std::system_error where the system gives none.
using ThreadStarter = std::function<std::thread(std::function<void()>)>;

// Starts body(0) to body(count - 1), each on a thread of its own, until the system gives no more; the caller
// joins those that there are.
[[nodiscard]] std::vector<std::thread> start_threads(int count, const std::function<void(int)>& body);

// How many of `count` threads can run at once, the calling one among them: 1 to `count`. It tries, by
// starting as many, unless so many have been had before or fewer were all that there were. For libraries that
// end the process when they cannot start a thread: oneTBB throws, and on a thread of its own nobody catches
// that.
[[nodiscard]] int threads_to_be_had(int count);

// The largest answer so far; 1 before the first.
[[nodiscard]] int most_threads_had() noexcept;

}  // namespace imgpipe
