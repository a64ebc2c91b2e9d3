// Functions of a shared library that is loaded when the first of them is called. The libraries of the
// optional codecs load some thirty others, and few runs need them.
#pragma once

#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <dlfcn.h>

#include "images/error.h"

namespace imgpipe {

// Thread-safe; never unloads the library.
class LateLibrary {
 public:
  // `file`: the library's name as recorded in programs that link it, such as "libavif.so.15".
  explicit constexpr LateLibrary(const char* file) : file_(file) {}

  // Throws Error(input) if the library or the function is missing, and std::bad_alloc.
  [[nodiscard]] void* find(const char* function) {
    const std::lock_guard lock(mutex_);
    if (handle_ == nullptr) handle_ = ::dlopen(file_, RTLD_NOW | RTLD_LOCAL);
    void* const found = handle_ == nullptr ? nullptr : ::dlsym(handle_, function);
    if (found != nullptr) return found;
    // The loader gives its reason only as text, and for a failed mmap() does not mention memory.
    const std::string why = ::dlerror();
    if (why.find("memory") != why.npos || why.find("failed to map segment") != why.npos)
      throw std::bad_alloc();
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

}  // namespace imgpipe

// Declares a LateFunction with the name of the library's function.
// NOLINTBEGIN(bugprone-macro-parentheses): a name, which cannot be in parentheses
#define IMGPIPE_LATE(library, name)                       \
  inline constinit LateFunction<decltype(&::name)> name { \
    library, #name                                        \
  }
// NOLINTEND(bugprone-macro-parentheses)
