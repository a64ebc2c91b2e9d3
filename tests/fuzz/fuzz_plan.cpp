// Plans lists of steps: any text, or lists of names, words and numbers from the table. The first bytes select
// one of the two, and the image's shape.
#include <string>
#include <string_view>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/plan.h"
#include "pipeline/values_text.h"
#include "tests/fuzz/fuzz_target.h"

namespace imgpipe {
namespace {

// Returns the bytes one by one, then zeros.
struct Bytes {
  const unsigned char* data;
  std::size_t size;
  std::size_t at = 0;
  std::size_t next() { return at < size ? data[at++] : 0; }
};

std::string value_from(Bytes& bytes, const Parameter& row) {
  const std::size_t choice = bytes.next();
  if (!row.words.empty() && choice % 4 != 0) return std::string(row.words[choice % row.words.size()]);
  std::string text = std::to_string(bytes.next() * bytes.next());
  if (choice % 8 == 0) text += "." + std::to_string(bytes.next());
  if (row.kind == Parameter::Kind::color && choice % 16 != 0) return "#" + text.append(5, '0').substr(0, 6);
  return text;
}

// Returns a value or a short list.
std::string values_from(Bytes& bytes, const Parameter& row) {
  std::string text = value_from(bytes, row);
  for (std::size_t more = bytes.next() % 8; more > 5; --more) text += "/" + value_from(bytes, row);
  return text;
}

// Returns WxH, WxH+X+Y or N%, sometimes malformed.
std::string rectangle_from(Bytes& bytes) {
  const std::size_t how = bytes.next();
  std::string text = std::to_string(bytes.next()) + (how % 16 == 0 ? "" : "x") + std::to_string(bytes.next());
  for (std::size_t offsets = how % 5 == 0 ? how % 4 : how % 2 * 2; offsets > 0; --offsets)
    text += "+" + std::to_string(bytes.next() % 64);
  return how % 7 == 0 ? text.substr(0, text.find('x')) + "%" : text;
}

std::string list_from(Bytes& bytes) {
  std::string list;
  for (std::size_t steps = 1 + bytes.next() % 6; steps > 0; --steps) {
    const Stage& stage = stage_table()[bytes.next() % stage_table().size()];
    list += (list.empty() ? "" : ",") + std::string(stage.name);
    if (rectangle_values(stage) > 0 && bytes.next() % 4 != 0) {
      list += ":" + rectangle_from(bytes);
      if (bytes.next() % 2 == 0) continue;
    }
    for (const Parameter& row : stage.parameters) {
      const std::size_t how = bytes.next() % 4;
      if (how == 0) continue;
      list += ":" + (how == 1 ? std::string(row.name) + "=" : "") + values_from(bytes, row);
    }
  }
  return list;
}

// The text that describes a step must parse as the same step.
void check_step_text(const StageRequest& request) {
  const std::string text = std::string(request.stage->name) + request.said;
  const StageRequest same = parse_stages(text).front();
  if (same.parameters.values != request.parameters.values || !same.image != !request.image) __builtin_trap();
  if (same.image && same.image->name != request.image->name) __builtin_trap();
}

void check(std::string_view list, const Shape& shape) {
  const std::vector<StageRequest> requests = parse_stages(list);
  for (const StageRequest& request : requests) check_step_text(request);
  const Plan plan = make_plan(requests, shape, false, std::int64_t{1} << 24);
  FrameType type = frame_type_of(shape);
  for (const Operation& step : plan.operations) {
    if (step.in != type) __builtin_trap();
    const RowRange rows = rows_needed(*step.stage, step.in, step.parameters, {0, step.out.height});
    if (rows.first < 0 || rows.end > step.in.height || rows.count() < 1) __builtin_trap();
    type = step.out;
  }
  if (plan.output != shape_of(type)) __builtin_trap();
}

}  // namespace
}  // namespace imgpipe

IMGPIPE_FUZZ_TARGET(fuzz_plan) {
  using namespace imgpipe;
  if (size < 4) return 0;
  const Shape shape{data[0] + 1, data[1] + 1, data[2] % 4 + 1,
                    data[2] / 128 % 2 == 1 ? Sample::u16 : Sample::u8};
  Bytes bytes{data + 4, size - 4};
  try {
    check(
        data[3] % 2 == 0 ? std::string(reinterpret_cast<const char*>(data) + 4, size - 4) : list_from(bytes),
        shape);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage && error.kind() != ErrorKind::input) __builtin_trap();
  }
  return 0;
}
