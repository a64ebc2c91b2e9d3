#include <cstdlib>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/signals.h"
#include "app/standard_streams.h"

int main(int argc, char** argv) {
  // All CUDA kernels load with the context, on its thread, not each with its first launch.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  imgpipe::open_standard_streams();
  imgpipe::install_signal_handlers();
  imgpipe::install_last_resort();
  return imgpipe::run_command(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
