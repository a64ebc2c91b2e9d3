// Writes the seeds of fuzz_tiff into a directory: tiff_seeds DIRECTORY
#include <fstream>
#include <string>

#include "tests/support/tiff_seeds.h"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  int number = 0;
  for (const auto& seed : imgpipe::test::tiff_seeds()) {
    std::ofstream file(std::string(arguments[1]) + "/made_" + std::to_string(number++) + ".tif",
                       std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
    if (!file) return 1;
  }
  return 0;
}
