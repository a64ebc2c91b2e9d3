#include <string>
#include <vector>

#include "app/program.h"
#include "lab/bench/bench_program.h"

int main(int argc, char** argv) {
  imgpipe::set_up_process();
  return imgpipe::run_bench_program(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
