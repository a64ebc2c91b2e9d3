// The paths of the program under test and of the project's files.
#pragma once

namespace imgpipe::test {

extern const char* const kProgram;          // the built imgpipe
extern const char* const kSourceDirectory;  // the checkout

}  // namespace imgpipe::test
