// Device memory for results that callers keep, and the order between the callers' work and imgpipe's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace imgpipe {

// A cudaStream_t as a number: 0 and 1 are the legacy default stream, 2 is the calling thread's default
// stream, as in the Python array API standard's __dlpack__() and in the CUDA Array Interface, version 3.
using StreamHandle = std::uintptr_t;

// A block of device memory. Its destructor returns it to its ResultMemory, which reuses it after all work
// that was queued on the device before, on any stream. The destructor makes no CUDA calls, unless it returns
// more than the limit of idle memory: consumers may drop a block while they capture a graph. In a process
// forked after the block was made, the destructor does nothing.
class ResultBlock {
 public:
  virtual ~ResultBlock() = default;
  ResultBlock(const ResultBlock&) = delete;
  ResultBlock& operator=(const ResultBlock&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 protected:
  ResultBlock() = default;
  std::byte* data_ = nullptr;
};

// The results of one device. Thread-safe. The calling thread's current device is preserved.
class ResultMemory {
 public:
  virtual ~ResultMemory() = default;
  ResultMemory(const ResultMemory&) = delete;
  ResultMemory& operator=(const ResultMemory&) = delete;

  // Returns memory on a 256-byte boundary that no queued work uses. Throws Error(memory) or Error(device).
  // This must outlive the block.
  [[nodiscard]] virtual std::shared_ptr<ResultBlock> take(std::size_t bytes) = 0;
  // Lets blocks that were returned be reused after the work that is queued by now. take() does so, too; an
  // earlier call gives the work time to end.
  virtual void settle() noexcept = 0;
  // Makes a stream, for a producer to order its work on. Throws Error(device).
  [[nodiscard]] virtual std::shared_ptr<const StreamHandle> make_stream() = 0;
  // Whether `data` is in memory of this device, or managed by CUDA.
  [[nodiscard]] virtual bool holds(const void* data) const = 0;
  // Waits for the work queued on `stream`. Throws Error(device).
  virtual void wait_for(StreamHandle stream) = 0;
  // These return when their work is complete. Throw Error(device).
  virtual void download(const std::byte* from, std::span<std::byte> to) = 0;
  virtual void clear(std::byte* memory, std::size_t bytes) = 0;
  // Copies within the device's memory, in order; a copy must not overlap with itself.
  struct Copy {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::size_t bytes = 0;
  };
  virtual void copy(std::span<const Copy> copies) = 0;

  // Blocks that no work uses are kept for later results, at most `bytes` of them.
  virtual void limit_idle(std::size_t bytes) = 0;
  // Frees the idle blocks, after waiting for the work that uses them.
  virtual void trim() = 0;

 protected:
  ResultMemory() = default;
};

// Initialises the CUDA device. Throws Error(device), in a build without CUDA always.
[[nodiscard]] std::unique_ptr<ResultMemory> make_result_memory(int device);

}  // namespace imgpipe
