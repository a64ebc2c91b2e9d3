// A row of the contract: some steps, or a coding of files, for some images of one sample type.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/plane.h"
#include "pipeline/engine.h"

namespace imgpipe {

struct ContractRow {
  std::string group;  // of ContractSteps, or of ContractCoding
  Sample sample = Sample::u8;
  std::vector<int> images;  // ascending
  std::string work;         // a list of stages, or the name of a coding
};

// A row as a line of the file: "u8 0-3,8 smooth:gauss". row_of() throws Error(input) for a wrong line.
[[nodiscard]] std::string text_of(const ContractRow& row);
[[nodiscard]] ContractRow row_of(const std::string& group, std::string_view line);

// Returns all rows of this program: with images that the steps accept and change, or the format can hold.
[[nodiscard]] std::vector<ContractRow> contract_rows();

// Returns the line of a result, "17x5x3 u8 " and the SHA-256 of its pixels, or "refused: " and why.
[[nodiscard]] std::string result_line(Engine& engine, const ContractRow& row, int image);

// Returns the lines of all images.
[[nodiscard]] std::vector<std::string> result_lines(Engine& engine, const ContractRow& row);
// Returns the SHA-256 of lines, each with its newline.
[[nodiscard]] std::string row_digest(std::span<const std::string> lines);

}  // namespace imgpipe
