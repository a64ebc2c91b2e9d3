#include "app/batch/ndjson_report.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/files/lost_outputs.h"
#include "app/files/replaceable.h"
#include "app/report/csv.h"
#include "app/report/decoding_text.h"
#include "app/report/image_report.h"
#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/report_parts.h"
#include "app/shard/shard.h"
#include "images/codecs/codec.h"
#include "images/text.h"

namespace imgpipe {

// The known facts about an image, or about a path that could not be read.
struct NdjsonLine {
  const NdjsonRun& run;
  std::string input{};
  std::string_view status{};
  std::optional<ErrorKind> error{};
  std::optional<std::string> reason{}, output{}, shard{}, digest{};
  std::vector<std::string> also_outputs{};
  const BatchResult* result = nullptr;      // of an image that was processed
  const ProcessOptions* options = nullptr;  // with a result
};

namespace {

constexpr const char* kFirstKey = "imgpipe";
constexpr const char* kHexKey = "input_bytes_hex";

// Returns the bytes of a name as hex ("6c6174e9") if "input" cannot show it exactly; otherwise "".
std::string hex_of_unprintable(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (printable(name) == name) return "";
  std::string hex;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte / 16], kDigits[byte % 16]};
  }
  return hex;
}

// Returns true if the line belongs to an .ndjson report, which its first key identifies.
bool is_ours(const Json& line) {
  return line.is_object() && line.contains("input") && line.contains("status") &&
         line.begin().key() == kFirstKey;
}

// ---- existing reports ------------------------------------------------------------------------------------

bool begins_a_report(std::string_view beginning, const Json& empty, bool csv) {
  if (csv) return beginning.starts_with(csv_head(empty));
  const std::size_t end = beginning.find('\n');
  return end == beginning.npos ? is_own_text(beginning)
                               : is_ours(Json::parse(beginning.substr(0, end), nullptr, false));
}

// Identifies an input: different files may have the same printable name.
std::string input_key(const std::string& input, const std::string& bytes_hex) {
  return input + "\n" + bytes_hex;
}

struct LineOutcome {
  std::string key, status;
};

// Parses a line; nullopt if it does not belong to a report.
std::optional<LineOutcome> outcome_in(const std::string& line, const Json& empty, bool csv) {
  if (csv) {
    const std::vector<std::string> fields = csv_fields(line);
    if (fields.size() != empty.size()) return std::nullopt;
    const auto field = [&](const char* key) {
      return fields[static_cast<std::size_t>(std::distance(empty.begin(), empty.find(key)))];
    };
    return LineOutcome{input_key(field("input"), field(kHexKey)), field("status")};
  }
  const Json json = Json::parse(line, nullptr, false);
  if (!is_ours(json) || !json["input"].is_string() || !json["status"].is_string()) return std::nullopt;
  const bool has_hex = json.contains(kHexKey) && json[kHexKey].is_string();
  return LineOutcome{
      input_key(json["input"].get<std::string>(), has_hex ? json[kHexKey].get<std::string>() : ""),
      json["status"].get<std::string>()};
}

// Returns the inputs whose last line says done or skipped.
std::unordered_set<std::string> finished_inputs(const std::string& path, const Json& empty, bool csv) {
  std::unordered_set<std::string> finished;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return finished;
  std::ifstream stream(path, std::ios::binary);
  for (std::string line; std::getline(stream, line) && !stream.eof();) {
    const std::optional<LineOutcome> outcome = outcome_in(line, empty, csv);
    if (!outcome) continue;
    if (outcome->status == "done" || outcome->status == "skipped") {
      finished.insert(outcome->key);
    } else {
      finished.erase(outcome->key);
    }
  }
  return finished;
}

// ---- lines -----------------------------------------------------------------------------------------------

std::string dropped_metadata(const BatchResult& result) {
  std::string text = result.unpreserved_metadata;
  if (!result.unpreserved_profile.empty())
    text += (text.empty() ? "ICC profile (" : ", ICC profile (") + result.unpreserved_profile + ")";
  return text;
}

void add_line(Fields& fields, const NdjsonLine& line) {
  static const BatchResult kNone;
  const BatchResult& result = line.result == nullptr ? kNone : *line.result;
  const ImageHeader& header = result.header;
  const bool worked = line.result != nullptr, done = worked && !result.failed;
  const auto value_if = [](bool known, const auto& value) {
    return known ? std::optional(value) : std::nullopt;
  };
  const auto if_read = [&](const auto& value) { return value_if(result.input_bytes > 0, value); };
  const auto ms = [&](std::int64_t ns) { return value_if(worked, static_cast<double>(ns) / 1e6); };
  // Returns what decoded or encoded the image: the lane's device, or the host.
  const auto coded_by = [&](bool lane) { return value_if(done, lane ? result.device : "host"); };

  add_version(fields);
  add_run_head(fields, kBatchLineSchema, line.run.head);
  fields.add("input", printable(line.input));
  fields.add("output", line.output);
  fields.add("status", line.status, one_of("done|failed|skipped|not_done"));
  fields.add("error", line.error ? std::optional(kind_of_error(*line.error)) : std::nullopt, kErrorKinds);
  fields.add("reason", line.reason);
  fields.add("warnings", result.warnings);
  fields.add("metadata_dropped", given(dropped_metadata(result)))
      .about("metadata of the input that its output does not have, by name, with the reason");
  fields.add("device", given(result.device));
  fields
      .add("route", value_if(done, route_name(result.route)),
           one_of("host|device|device_bands|host_no_device_memory"))
      .about("of an image that is done: docs/json.md");
  fields.add("format", if_read(format_info(header.format).name));
  fields.add("width_pixels", if_read(header.shape.width), kFromOne);
  fields.add("height_pixels", if_read(header.shape.height), kFromOne);
  add_scale(fields, if_read(header));
  fields.add("channels", if_read(header.shape.channels), kFromOne);
  fields.add("bits_per_sample", if_read(header.bits_per_sample), kFromOne);
  fields.add("profile", result.input_bytes > 0 ? given(header.profile) : std::nullopt);
  fields.add("input_bytes", if_read(result.input_bytes));
  fields.add("output_bytes", value_if(done, result.output_bytes));
  fields.add("also_outputs", line.also_outputs).about("the outputs of --also, in the order of the options");
  std::vector<std::int64_t> also_bytes;
  for (const AlsoResult& also : result.also) also_bytes.push_back(also.bytes);
  fields.add("also_output_bytes", done ? also_bytes : std::vector<std::int64_t>())
      .about("of an image that is done: the size of each of also_outputs");
  fields.add("output_bits_per_sample", value_if(done, bits_of(result.output)), kOutputBits);
  fields.add("tensor", value_if(done && result.tensor, tensor_text(result.tensor.value_or(TensorType()))))
      .about("shape, type, layout and formula of the tensor that the output is, or is part of");
  fields.add("pages", value_if(done && result.pages > 0, result.pages), kFromOne);
  fields.add("decoded_by", coded_by(result.lane_busy[static_cast<std::size_t>(Part::decode)] > 0));
  fields.add("encoded_by", coded_by(result.lane_encoded));
  fields.add("start_ms", ms(result.start_ns));
  fields.add("end_ms", ms(result.end_ns));
  for (std::size_t part = 0; part < kParts; ++part)
    fields.add(std::string(part_name(static_cast<Part>(part))) + "_ms", ms(result.busy[part]));
  fields.add("shard", line.shard);
  fields.add("shard_images", line.run.shard_images)
      .about("number of images of this run; for a shard, of the shard; 0: unknown, as in archives");
  fields.add("batch_images", line.run.batch_images).about("how many all shards have together");
  fields.add("options_digest", line.digest, kDigest).about(kDigestAbout);
  fields
      .add("decoding",
           result.input_hashes.pixels.empty()
               ? std::nullopt
               : std::optional(decoding_text({line.options->decode, line.options->pages}, header)))
      .about("with --hash: how the pixels of the input were decoded");
  add_hashes(fields, result.input_hashes, "input_");
  add_hashes(fields, result.output_hashes, "output_");
  std::vector<std::string> also_hashes, also_pixels;
  for (const AlsoResult& also : result.also) {
    if (also.hashes.bytes.empty()) continue;
    also_hashes.push_back(also.hashes.bytes);
    also_pixels.push_back(also.hashes.pixels);
  }
  fields.add("also_sha256", also_hashes, kDigest).about("with --hash: of each of also_outputs");
  fields.add("also_pixels_sha256", also_pixels, kDigest);
  fields.add(kHexKey, given(hex_of_unprintable(line.input)), {.pattern = "^([0-9a-f]{2})+$"})
      .about("the bytes of the input's path, where input shows some of them as \\xHH");
}
Json json_of(const NdjsonLine& line) {
  return fields_of([&](Fields& fields) { add_line(fields, line); }).json();
}

}  // namespace

NdjsonReport::NdjsonReport(const std::string& path, bool go_on, const NdjsonRun& run,
                           const ProcessOptions& options)
    : csv_(path.ends_with(".csv")),
      run_(run),
      options_(options),
      digests_(options),
      empty_(json_of({.run = run_})),
      file_(path,
            go_on ? GrowingFile::Keeps([this](std::string_view beginning) {
              return kept_ = begins_a_report(beginning, empty_, csv_);
            })
                  : GrowingFile::Keeps(),
            options.output.sync.get()) {
  if (go_on) finished_ = finished_inputs(path, empty_, csv_);
  if (csv_ && !kept_) file_.add(csv_head(empty_));
}

void NdjsonReport::add(const NdjsonLine& line) {
  const Json json = json_of(line);
  file_.add(csv_ ? csv_row(json) : json.dump() + "\n");
}

NdjsonLine NdjsonReport::line_of(const BatchFile& file, const char* status) {
  NdjsonLine line{.run = run_, .input = file.input, .status = status};
  line.output = printable(file.output);
  for (const AlsoFile& also : file.also) line.also_outputs.push_back(printable(also.output));
  if (options_.shard) line.shard = shard_name(options_.shard->index, options_.shard->count);
  line.digest = digests_.of(file.format);
  return line;
}

void NdjsonReport::add_done_or_failed(const BatchFile& file, const BatchResult& result) {
  NdjsonLine line = line_of(file, result.failed ? "failed" : "done");
  line.result = &result;
  line.options = &options_;
  line.error = result.failed;
  if (result.failed) line.reason = split_reason(result.reason, file).alone;
  add(line);
  file_.flush();
}

void NdjsonReport::add_lost(const BatchFile& file, const std::string& reason) {
  NdjsonLine line = line_of(file, "failed");
  line.error = ErrorKind::output;
  line.reason = reason;
  add(line);
}

void NdjsonReport::add_with_reason(const BatchFile& file, const char* status, const std::string& reason) {
  NdjsonLine line = line_of(file, status);
  line.reason = reason;
  add(line);
}

void NdjsonReport::add_skipped(const BatchFile& file, const std::string& reason) {
  const std::string key = input_key(printable(file.input), hex_of_unprintable(file.input));
  if (!finished_.contains(key)) add_with_reason(file, "skipped", reason);
}

void NdjsonReport::add_not_done(const BatchFile& file, const std::string& reason) {
  add_with_reason(file, "not_done", reason);
}

void NdjsonReport::add_problem(const PathProblem& problem) {
  add({.run = run_,
       .input = problem.path,
       .status = "failed",
       .error = ErrorKind::input,
       .reason = problem.reason});
}

std::string batch_line_schema() {
  return schema_text(kBatchLineSchema, "A line of a batch's --report FILE.ndjson: what became of one image",
                     [](Fields& fields) { add_line(fields, {.run = {.head = RunHead(0)}}); });
}

}  // namespace imgpipe
