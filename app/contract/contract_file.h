// The file of the contract: a digest for each row, by groups (docs/contract.md).
#pragma once

#include <string>
#include <vector>

#include "app/contract/contract_rows.h"

namespace imgpipe {

inline constexpr int kContractNumber = 1;

struct DigestRow {
  ContractRow row;
  std::string digest;  // row_digest() of its results
};

[[nodiscard]] std::string contract_json(const std::vector<DigestRow>& rows);
// Reads contract_json(). Throws Error(input) without the path.
[[nodiscard]] std::vector<DigestRow> parse_contract(const std::string& text);

// Returns the number of results, as text with thousands separated.
[[nodiscard]] std::string results_text(const std::vector<DigestRow>& rows);

// Returns the JSON Schema of the file.
[[nodiscard]] std::string contract_schema();

}  // namespace imgpipe
