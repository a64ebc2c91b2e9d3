// Functions of a shared library that is loaded when the first of them is called. The libraries of the
// optional codecs load some thirty others, and few runs need them.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include <dlfcn.h>

#include "images/error.h"

namespace imgpipe {

// `why`: of dlerror(), which gives reasons as text only: "PATH: reason". For a failed mmap() the reason does
// not mention memory; a file system without execution has the same.
[[nodiscard]] inline bool is_for_lack_of_memory(const std::string& why) {
  const std::size_t reason = why.rfind(':') + 1;  // without a colon 0
  return why.find("memory", reason) != why.npos || why.find("failed to map segment", reason) != why.npos;
}

// Thread-safe; never unloads the library.
class LateLibrary {
 public:
  // `file`: the library's name as recorded in programs that link it, such as "libavif.so.15".
  explicit constexpr LateLibrary(const char* file) : file_(file) {}

  // Throws Error(input) if the library or the function is missing, and Error(memory).
  [[nodiscard]] void* find(const char* function) {
    const std::lock_guard lock(mutex_);
    if (handle_ == nullptr) handle_ = ::dlopen(file_, RTLD_NOW | RTLD_LOCAL);
    void* const found = handle_ == nullptr ? nullptr : ::dlsym(handle_, function);
    if (found != nullptr) return found;
    const std::string why = ::dlerror();
    if (is_for_lack_of_memory(why)) throw Error(ErrorKind::memory, "not enough memory to load " + why);
    throw Error(ErrorKind::input, "cannot load " + why);
  }

 private:
  const char* const file_;
  std::mutex mutex_;
  void* handle_ = nullptr;
};

// One function; called like the library's.
template <class Function>
class LateFunction {
 public:
  constexpr LateFunction(LateLibrary& library, const char* name) : library_(library), name_(name) {}

  // Throws as LateLibrary::find().
  template <class... Arguments>
  std::invoke_result_t<Function, Arguments...> operator()(Arguments&&... arguments) const {
    return found()(std::forward<Arguments>(arguments)...);
  }

 private:
  Function found() const {
    void* function = function_.load(std::memory_order_acquire);
    if (function == nullptr) {
      function = library_.find(name_);
      function_.store(function, std::memory_order_release);
    }
    return reinterpret_cast<Function>(function);
  }

  LateLibrary& library_;
  const char* const name_;
  mutable std::atomic<void*> function_{nullptr};
};

// Returns "NAME VERSION", or "NAME, not installed" if `version()` throws because the library is missing.
template <class Version>
[[nodiscard]] std::string library_version(const std::string& name, const Version& version) {
  try {
    return name + " " + version();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) throw;
    return name + ", not installed";
  }
}

}  // namespace imgpipe

// Declares a LateFunction with the name of the library's function.
// NOLINTBEGIN(bugprone-macro-parentheses): a name, which cannot be in parentheses
#define IMGPIPE_LATE(library, name)                       \
  inline constinit LateFunction<decltype(&::name)> name { \
    library, #name                                        \
  }
// NOLINTEND(bugprone-macro-parentheses)
