#include <string>
#include <vector>

#include "app/command.h"
#include "app/program.h"

int main(int argc, char** argv) {
  imgpipe::set_up_process();
  return imgpipe::run_command(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
