// The steps of the contract, enumerated from the table of stages.
#pragma once

#include <string>
#include <vector>

#include "pipeline/stage_list.h"

namespace imgpipe {

struct ContractSteps {
  std::string group;  // "smooth"; "resize pillow12" for a stage with a parameter `rule`; "chains"
  std::string list;   // as in --stages
};

// For each selectable stage: the values of every parameter, all words of a choice, the ends of a number's
// range and values between, one at a time. Then lists of several steps. Each list once.
[[nodiscard]] std::vector<ContractSteps> contract_steps();

}  // namespace imgpipe
