// Loading the CUDA toolkit's libraries that the program is not linked with.
#pragma once

#include <string>

#include <cuda_runtime.h>
#include <dlfcn.h>

namespace imgpipe {

// `folder`: where the toolkit that this was built with keeps its libraries; then wherever the loader looks.
// nullptr: it is nowhere.
inline void* open_toolkit_library(const std::string& folder, const std::string& name) {
  const std::string file = "lib" + name + ".so." + std::to_string(CUDART_VERSION / 1000);
  if (void* library = ::dlopen((folder + "/" + file).c_str(), RTLD_NOW)) return library;
  return ::dlopen(file.c_str(), RTLD_NOW);
}

// False when it is not there.
template <class Function>
bool find_function(void* library, const char* name, Function*& found) {
  if (library != nullptr) found = reinterpret_cast<Function*>(::dlsym(library, name));
  return found != nullptr;
}

}  // namespace imgpipe
