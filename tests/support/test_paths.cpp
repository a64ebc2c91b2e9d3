#include "tests/support/test_paths.h"

namespace imgpipe::test {

const char* const kProgram = IMGPIPE_PROGRAM;
const char* const kSourceDirectory = IMGPIPE_SOURCE_DIR;

}  // namespace imgpipe::test
