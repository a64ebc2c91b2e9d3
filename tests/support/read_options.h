// Returns the options that a command reads from its arguments, and the text that it prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "app/command.h"
#include "app/command_table.h"
#include "app/options/option_parser.h"
#include "app/process_options/process_options.h"
#include "images/error.h"

namespace imgpipe::test {

template <class Options>
[[nodiscard]] Options read_options(std::string_view command, const std::vector<std::string>& arguments,
                                   Options (*read)(const Parser&)) {
  Parser parser(*find_command(command_table(), command), arguments, command_table());
  EXPECT_FALSE(parser.parse());
  return read(parser);
}

[[nodiscard]] inline ProcessOptions process_options(const std::vector<std::string>& arguments) {
  return read_options("", arguments, read_process_options);
}

// Returns the error message, or "" if the arguments are accepted.
[[nodiscard]] inline std::string refusal_of(const std::vector<std::string>& arguments) {
  try {
    (void)read_command_line(arguments);
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

[[nodiscard]] inline std::string printed_by(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_command(arguments), 0);
  return testing::internal::GetCapturedStdout();
}

}  // namespace imgpipe::test
