#include "app/contract/contract_rows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <optional>
#include <utility>

#include "app/contract/contract_codings.h"
#include "app/contract/contract_images.h"
#include "app/contract/contract_steps.h"
#include "images/error.h"
#include "images/pixel_digest.h"
#include "images/sha256.h"
#include "images/unreachable.h"
#include "kernels/stage.h"
#include "pipeline/color_profiles.h"
#include "pipeline/stage_list.h"
#include "pipeline/trimmed_steps.h"

namespace imgpipe {
namespace {

// Results with more pixels, or of larger tables, are left out, so that a check takes seconds.
constexpr std::int64_t kMostPixels = 8192;
constexpr std::int64_t kMostTableBytes = std::int64_t{4} << 20;

std::string_view sample_name(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return "u8";
    case Sample::u16:
      return "u16";
    case Sample::f32:
      return "f32";
    case Sample::f16:
      return "f16";
    case Sample::bf16:
      return "bf16";
  }
  unreachable();
}

constexpr std::array kInputSamples{Sample::u8, Sample::u16, Sample::f32};

// Plans steps for an image. Throws Error if they do not accept it.
Plan plan_of(std::string_view list, const Image& image) {
  const Shape& shape = image.shape();
  std::vector<StageRequest> steps = parse_stages(list);
  const std::vector<NamedImage> named = contract_second_images(shape);
  load_second_images(steps, {.named = named});
  ImageHeader header;
  header.shape = shape;
  header.icc = contract_profile(shape);
  steps = with_profile(steps, header);
  const auto open = [&] { return make_memory_reader(image.untyped_view()); };
  return make_plan(trimmed_steps(steps, open, kMostPixels).steps, shape, false, kMostPixels);
}

// Runs a row for one image.
class RowRun {
 public:
  RowRun(const ContractRow& row, int image)
      : image_(contract_image(image, contract_shape(image, row.sample))) {
    const ContractCoding* const coding = find_coding(row.work);
    if (coding == nullptr) {
      job_.plan = plan_of(row.work, image_);
      job_.reader = make_memory_reader(std::as_const(image_).untyped_view());
      job_.source = std::as_const(image_).untyped_view();
      return;
    }
    file_ = coding->encode(*coding, std::as_const(image_).untyped_view());
    DecodeOptions decode;
    decode.max_bits = 32;
    decode.scale = coding->scale;
    job_.reader = open_reader(file_, decode);
    job_.plan = make_plan({}, job_.reader->header().shape);
  }

  // Whether the result belongs to the contract: a file decoded, or an image changed by small tables.
  [[nodiscard]] bool counts() const {
    const std::vector<Operation>& steps = job_.plan.operations;
    const auto is_small = [](const Operation& step) {
      return table_bytes(*step.stage, step.in, step.parameters) <= kMostTableBytes;
    };
    return !file_.empty() || (!steps.empty() && std::ranges::all_of(steps, is_small));
  }

  [[nodiscard]] std::string line(Engine& engine) && {
    const Outcome outcome = engine.run(std::move(job_));
    if (outcome.error) std::rethrow_exception(outcome.error);
    const ConstHostView& pixels = outcome.pixels;
    return contract_shape_text(pixels.shape()) + " " + std::string(sample_name(pixels.sample)) + " " +
           pixel_sha256(pixels);
  }

 private:
  Image image_;
  std::vector<std::byte> file_;
  Job job_;
};

// Adds the row of a sample type, unless no image suits it.
void add_row(std::vector<ContractRow>& rows, ContractRow row) {
  for (int image = 0; image < kContractImages; ++image) {
    try {
      if (RowRun(row, image).counts()) row.images.push_back(image);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::memory) throw;
    }
  }
  if (!row.images.empty()) rows.push_back(std::move(row));
}

// "0-3,8"
std::string ranges_text(std::span<const int> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    const std::size_t first = i++;
    while (i < numbers.size() && numbers[i] == numbers[i - 1] + 1) ++i;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[first]);
    if (i - first > 1) text += "-" + std::to_string(numbers[i - 1]);
  }
  return text;
}

std::optional<int> number_of(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool valid = error == std::errc() && end == text.data() + text.size() && number >= 0;
  return valid && number < kContractImages ? std::optional(number) : std::nullopt;
}

// Removes the text before `separator` from the front of `rest`, and returns it.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

// Returns no numbers for a text that ranges_text() does not make.
std::vector<int> numbers_of(std::string_view text) {
  std::vector<int> numbers;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view range = take(rest, ',');
    const auto first = number_of(take(range, '-'));
    const auto last = range.empty() ? first : number_of(range);
    if (!first || !last) return {};
    for (int number = *first; number <= *last; ++number) numbers.push_back(number);
  }
  return ranges_text(numbers) == text ? numbers : std::vector<int>();
}

}  // namespace

std::string text_of(const ContractRow& row) {
  return std::string(sample_name(row.sample)) + " " + ranges_text(row.images) + " " + row.work;
}

ContractRow row_of(const std::string& group, std::string_view line) {
  ContractRow row;
  row.group = group;
  std::string_view rest = line;
  const auto sample = std::ranges::find(kInputSamples, take(rest, ' '), sample_name);
  row.images = numbers_of(take(rest, ' '));
  row.work = rest;
  if (sample == kInputSamples.end() || row.images.empty() || row.work.empty())
    throw Error(ErrorKind::input, "expected 'TYPE IMAGES STEPS'");
  row.sample = *sample;
  return row;
}

std::vector<ContractRow> contract_rows() {
  std::vector<ContractRow> rows;
  for (const ContractSteps& steps : contract_steps())
    for (const Sample sample : kInputSamples) add_row(rows, {steps.group, sample, {}, steps.list});
  for (const ContractCoding& coding : contract_codings()) {
    const std::string group = "decode " + std::string(coding.name.substr(0, coding.name.find(' ')));
    for (const Sample sample : kInputSamples) add_row(rows, {group, sample, {}, std::string(coding.name)});
  }
  return rows;
}

std::string result_line(Engine& engine, const ContractRow& row, int image) {
  try {
    return RowRun(row, image).line(engine);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage && error.kind() != ErrorKind::input) throw;
    return std::string("refused: ") + error.what();
  }
}

std::vector<std::string> result_lines(Engine& engine, const ContractRow& row) {
  std::vector<std::string> lines;
  for (const int image : row.images) lines.push_back(result_line(engine, row, image));
  return lines;
}

std::string row_digest(std::span<const std::string> lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return sha256(text);
}

}  // namespace imgpipe
