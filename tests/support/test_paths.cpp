#include "tests/support/test_paths.h"

namespace imgpipe::test {

const char* const kProgram = IMGPIPE_PROGRAM;
const char* const kSourceFolder = IMGPIPE_SOURCE_DIR;

}  // namespace imgpipe::test
