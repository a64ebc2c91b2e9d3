// The threads of a call: several for one large image, or one per item of a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>

namespace imgpipe::python {

// Returns the number of threads for a call: `requested`, or as many as this process may use if that is 0.
[[nodiscard]] int call_threads(int requested);
// Returns the number of threads that speed up one image of `pixels` pixels: at most call_threads().
[[nodiscard]] int image_threads(int requested, std::int64_t pixels);

struct ItemFailure {
  std::size_t index = 0;
  std::exception_ptr error;
};

// Calls work(0) to work(count - 1), which may throw, on up to `threads` threads, in the order of the items.
// After a failure or a signal (such as Ctrl-C) starts no further item. Returns the first of the failed items,
// once all items have ended. Called without the GIL.
[[nodiscard]] std::optional<ItemFailure> run_items(std::size_t count, int threads,
                                                   const std::function<void(std::size_t)>& work);

}  // namespace imgpipe::python
