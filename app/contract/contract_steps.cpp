#include "app/contract/contract_steps.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>

#include "images/error.h"
#include "images/unreachable.h"
#include "kernels/stage.h"
#include "pipeline/parameter_text.h"

namespace imgpipe {
namespace {

// The texts of a step's parameters, by their position; empty: not given.
using Texts = std::vector<std::string>;

constexpr std::array<std::string_view, 4> kImages{"grey", "same", "logo", "map"};

// Steps of stages whose required parameters do not determine a useful one. The parameters of the first of a
// stage are varied.
constexpr std::array kBases{std::string_view{"resize:23:9"},
                            std::string_view{"resize:70:45"},
                            std::string_view{"resize:70:45:area"},
                            std::string_view{"resize:70:45:nearest"},
                            std::string_view{"resize:70:45:box"},
                            std::string_view{"resize:70:45:bilinear"},
                            std::string_view{"resize:70:45:hamming"},
                            std::string_view{"resize:70:45:bicubic"},
                            std::string_view{"resize:70:45:lanczos"},
                            std::string_view{"resize:40:0:area"},
                            std::string_view{"resize:0:30:bicubic"},
                            std::string_view{"resize:50:20:bicubic:inside"},
                            std::string_view{"resize:50:20:lanczos:cover"},
                            std::string_view{"resize:20:20:bilinear:contain"},
                            std::string_view{"resize:30:30:hamming:contain:background=#40608080"},
                            std::string_view{"resize:1:2:bicubic:rule=pillow12"},
                            std::string_view{"resize:60:1:lanczos:rule=pillow12"},
                            std::string_view{"resize:60:1:lanczos"},
                            std::string_view{"resize:23:9:box:rule=pillow12"},
                            std::string_view{"resize:shortest=6:method=bicubic"},
                            std::string_view{"resize:shortest=6:sizes=torchvision"},
                            std::string_view{"resize:shortest=6:sizes=pillow"},
                            std::string_view{"resize:longest=50:method=lanczos"},
                            std::string_view{"resize:longest=50:sizes=torchvision"},
                            std::string_view{"resize:longest=50:sizes=pillow"},
                            std::string_view{"resize:shortest=10:longest=30"},
                            std::string_view{"resize:percent=37.5"},
                            std::string_view{"resize:percent=150:method=bicubic"},
                            std::string_view{"clahe:tiles=3"},
                            std::string_view{"clahe"},
                            std::string_view{"levels:20:200"},
                            std::string_view{"normalize:imagenet"},
                            std::string_view{"normalize:mean=0.45:std=0.225"},
                            std::string_view{"normalize:mean=-7:std=-0.125:dtype=bfloat16"},
                            std::string_view{"normalize:mean=0.5:std=0.5:formula=totensor"},
                            std::string_view{"normalize:mean=0.5:std=0.5:formula=torchvision-v2"},
                            std::string_view{"normalize:mean=0.5:std=0.5:formula=transformers-fused"},
                            std::string_view{"multiply:grey"},
                            std::string_view{"divide:grey"},
                            std::string_view{"trim"},
                            std::string_view{"trim:100:#808080"},
                            std::string_view{"whitebalance"},
                            std::string_view{"whitebalance:1.5:0.75:2.25"},
                            std::string_view{"pad:70:45:#405060a0"},
                            std::string_view{"crop:5:3"},
                            std::string_view{"crop:1:1"},
                            std::string_view{"crop:1:1:0:0"},
                            std::string_view{"crop:33:8:pad=#8090a0b0"},
                            std::string_view{"crop:33:8:rule=torchvision:pad=#8090a0b0"}};

constexpr std::array kChains{std::string_view{"gray,hist,contrast,smooth"},
                             std::string_view{"smooth:gauss,sharpen,resize:23:9:area"},
                             std::string_view{"pad:70:45:#405060,trim"},
                             std::string_view{"pad:80:50:#405060:top-left,trim:8:#405060"},
                             std::string_view{"depth:float,gamma:2.2,resize:50%,depth:16"},
                             std::string_view{"depth:float,smooth,invert,levels:0:1,depth:8"},
                             std::string_view{"flip,rotate:90,crop:1:1"},
                             std::string_view{"median,sobel,threshold"},
                             std::string_view{"equalize,clahe:2:2,posterize:3"},
                             std::string_view{"contrast:1:2:each,resize:30:20:lanczos,saturation:1.5"},
                             std::string_view{"rgb,whitebalance,brightness:1.25,box:3"},
                             std::string_view{"flatten:#8040c0,gray,colormap:turbo,rotate:270"},
                             std::string_view{"resize:24:24:bicubic:cover,crop:16:16,depth:8,normalize:clip"},
                             std::string_view{"erode:2,dilate:2,tophat:1,add:10"}};

std::vector<std::string> number_texts(const Parameter& row, std::initializer_list<std::int64_t> usual) {
  std::vector<std::string> texts;
  for (const std::int64_t value : usual)
    if (value >= row.least && value <= row.most) texts.push_back(value_text(row, value));
  texts.push_back(value_text(row, row.least));
  texts.push_back(value_text(row, row.most));
  return texts;
}

std::vector<std::string> texts_of(const Parameter& row) {
  std::vector<std::string> texts;
  switch (row.kind) {
    case Parameter::Kind::integer:
      texts = number_texts(row, {5, 17, 3000});
      break;
    case Parameter::Kind::decimal:
      texts = number_texts(row, {2'200'000, 500'000});
      break;
    case Parameter::Kind::operand:
      texts = number_texts(row, {2'200'000, 3'000'000'000});
      texts.insert(texts.end(), kImages.begin(), kImages.end());
      break;
    case Parameter::Kind::color:
      texts = {"#336699", "black", "#fedcba80"};
      break;
    case Parameter::Kind::image:
      texts.assign(kImages.begin(), kImages.end());
      break;
    case Parameter::Kind::real:
      texts = {"0", "0.25", "17", "65535"};
      break;
    case Parameter::Kind::choice:
      break;
  }
  for (const std::string_view word : row.words) texts.emplace_back(word);
  return texts;
}

// Names only parameters that a value without a name would not set.
std::string text_of(const Stage& stage, const Texts& texts) {
  std::string text(stage.name);
  std::size_t next = 0;  // the parameter that a value without a name sets
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    text += ":" + (i == next ? "" : std::string(stage.parameters[i].name) + "=") + texts[i];
    next = i + 1;
  }
  return text;
}

// Returns whether a list with the step can be valid for some image.
bool is_valid(const std::string& step) {
  try {
    return parse_stages(step).size() == 1;
  } catch (const Error&) {
    return false;
  }
}

// Returns the values that differ from the presets.
Texts texts_of_step(const Stage& stage, std::string_view step) {
  const Parameters values = parse_stages(step).front().parameters, preset = presets(stage.parameters);
  Texts texts(stage.parameters.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Parameter& row = stage.parameters[i];
    const bool follows = row.like_previous && i > 0 && values[i] == values[i - 1];
    if (row.required || (values[i] != preset[i] && !follows)) texts[i] = value_text(stage, values, i);
  }
  return texts;
}

std::vector<Texts> bases_of(const Stage& stage) {
  std::vector<Texts> bases;
  for (const std::string_view base : kBases)
    if (parse_stages(base).front().stage == &stage) bases.push_back(texts_of_step(stage, base));
  if (!bases.empty()) return bases;
  Texts texts(stage.parameters.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (stage.parameters[i].required) texts[i] = texts_of(stage.parameters[i]).front();
  return {texts};
}

std::string group_of(const Stage& stage, const Parameters& parameters) {
  const auto row = std::ranges::find(stage.parameters, std::string_view("rule"), &Parameter::name);
  if (row == stage.parameters.end()) return std::string(stage.name);
  return std::string(stage.name) + " " +
         value_text(*row, parameters[static_cast<std::size_t>(row - stage.parameters.begin())]);
}

}  // namespace

std::vector<ContractSteps> contract_steps() {
  std::vector<ContractSteps> all;
  std::set<std::string> seen;
  const auto add = [&](const Stage& stage, const Texts& texts) {
    const std::string step = text_of(stage, texts);
    if (!seen.insert(step).second || !is_valid(step)) return;
    all.push_back({group_of(stage, parse_stages(step).front().parameters), step});
  };
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    const std::vector<Texts> bases = bases_of(stage);
    for (const Texts& base : bases) add(stage, base);
    for (std::size_t i = 0; i < stage.parameters.size(); ++i) {
      Texts texts = bases.front();
      for (const std::string& value : texts_of(stage.parameters[i])) {
        texts[i] = value;
        add(stage, texts);
      }
    }
  }
  std::ranges::stable_sort(all, {}, &ContractSteps::group);
  for (const std::string_view chain : kChains) all.push_back({"chains", std::string(chain)});
  return all;
}

}  // namespace imgpipe
