// Where the program under test and the project's own files are.
#pragma once

namespace imgpipe::test {

extern const char* const kProgram;       // the built imgpipe
extern const char* const kSourceFolder;  // the checkout

}  // namespace imgpipe::test
