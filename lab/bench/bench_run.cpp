#include <algorithm>
#include <cstring>
#include <utility>

#include "app/devices/calibration.h"
#include "app/report/image_report.h"
#include "app/report/text_columns.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/memory/available_memory.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "lab/bench/bench.h"
#include "lab/bench/bench_rows.h"
#include "lab/pipeline/lab_transfer.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"

namespace imgpipe {
namespace {

std::string name_of(const Pattern& pattern) {
  const std::string name(pattern.info->name);
  return pattern.info->argument.empty() ? name : name + ":" + std::to_string(pattern.parameter);
}

// Decodes an image without its alpha.
Image decode_color(std::span<const std::byte> bytes, const DecodeOptions& options) {
  const std::unique_ptr<Reader> reader = open_reader(bytes, options);
  check_available(2 * reader->header().shape.bytes() + reader->working_bytes(true));
  Image whole(reader->header().shape);
  reader->read_rows(whole.untyped_view());
  if (!whole.shape().has_alpha()) return whole;
  const Shape& shape = whole.shape();
  Image color({shape.width, shape.height, shape.color_channels(), shape.sample});
  const HostView to = color.untyped_view();
  const ConstHostView from = std::as_const(whole).untyped_view();
  const std::int64_t pixel = shape.channels * bytes_per_sample(shape.sample);
  const std::int64_t kept = shape.color_channels() * bytes_per_sample(shape.sample);
  for (std::int64_t y = 0; y < to.height; ++y) {
    for (std::int64_t x = 0; x < to.width; ++x)
      std::memcpy(to.row(y) + x * kept, from.row(y) + x * pixel, static_cast<std::size_t>(kept));
  }
  return color;
}

// Converts an image without alpha by depth or gray; copies it if the types are equal.
void convert(const Stage& stage, const Image& in, Image& out) {
  const FrameType from = frame_type_of(in.shape());
  const FrameType to = frame_type_of(out.shape());
  if (from == to) return copy_pixels(in.untyped_view(), out.untyped_view());
  run_reference(stage, {.in = {from, {in.untyped_view(), {}, {}, {}}},
                        .out = {to, {out.untyped_view(), {}, {}, {}}},
                        .parameters = presets(stage.parameters)});
}

}  // namespace

BenchInput::BenchInput(const Pattern& pattern, Shape size)
    : name_(name_of(pattern) + " " + std::to_string(size.width) + "x" + std::to_string(size.height)),
      size_(size),
      pattern_(pattern) {}

BenchInput::BenchInput(const std::string& path, const DecodeOptions& options) {
  naming(printable(path), [&] {
    std::vector<std::byte> bytes =
        read_file(path, max_file_bytes(options),
                  [&](std::span<const std::byte> beginning) { return longest_file(beginning, options); });
    file_ = std::make_shared<const Image>(decode_color(bytes, options));
    if (format_by_content(bytes) == Format::jpeg)
      jpeg_ = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  });
  size_ = file_->shape();
  const std::string file = path.substr(path.rfind('/') + 1);
  name_ = printable(file) + " " + std::to_string(size_.width) + "x" + std::to_string(size_.height);
}

Image BenchInput::make(int channels, Sample sample) const {
  // Counts the image, two sets of input and output, the expected result and a variant's result.
  check_available(size_.pixels() * (3 * channels + 4) * bytes_per_sample(sample));
  if (!file_) return synthesize(pattern_, {size_.width, size_.height, channels, sample}, 1);
  Image converted({size_.width, size_.height, file_->shape().channels, sample});
  convert(*find_stage("depth"), *file_, converted);
  if (channels == converted.shape().channels) return converted;
  Image grey({size_.width, size_.height, channels, sample});
  convert(*find_stage("gray"), converted, grey);
  return grey;
}

Bench::Bench(const BenchOptions& options, UserKernels& own)
    : options_(options),
      own_(own),
      threads_(options.threads > 0 ? options.threads : host_threads()),
      progress_(Progress::style_for_stderr(!options.logging.quiet)) {
  const DeviceChoice choice = choose_device(options.device);
  if (choice.backend != Backend::cuda) cpu_ = make_cpu_lab(threads_);
  if (choice.backend == Backend::reference) slowest_ = VariantKind::reference;
  if (choice.backend == Backend::cuda) {
    cuda_index_ = find_cuda_device(choice.cuda_index()).index;
    cuda_ = make_cuda_lab(cuda_index_);
  }
  if (!choice.backend) find_cuda();
  if (own.empty()) return;
  if (cuda_ == nullptr)
    throw Error(ErrorKind::device, own.names() + ": compiled and loaded, but no CUDA device can run it: " +
                                       cuda_unavailable_reason_);
  own.check(cuda_index_);
}

void Bench::find_cuda() {
  const CudaDevices found = list_cuda_devices();
  const std::optional<CudaDevice> device = usable_device(found);
  if (!device) {
    cuda_unavailable_reason_ = imgpipe::why_no_device(found);
    return;
  }
  cuda_index_ = device->index;
  try {
    cuda_ = make_cuda_lab(cuda_index_);
  } catch (const Error& error) {
    cuda_unavailable_reason_ = error.what();  // auto continues without it
  }
}

Bench::~Bench() = default;

std::vector<std::string> Bench::device_lines() {
  std::vector<std::string> lines;
  for (const auto& [name, device] : {std::pair("cpu", cpu_.get()), std::pair("cuda", cuda_.get())}) {
    if (device == nullptr) continue;
    lines.push_back(std::string(name) + ": " + device->name() + ", copies " +
                    number(device->copy_bandwidth() / 1e9, 1) + " GB/s, read and written");
  }
  if (!cuda_unavailable_reason_.empty()) lines.push_back("cuda: none (" + cuda_unavailable_reason_ + ")");
  return lines;
}

bool Bench::wants(std::string_view variant) const {
  return options_.variants.empty() ||
         std::ranges::find(options_.variants, variant) != options_.variants.end();
}

bool Bench::wants(const StageVariant& stage_variant) const {
  return stage_variant.own == nullptr ? wants(stage_variant.name) : own_.wants(stage_variant);
}

LabDevice* Bench::device_for(VariantKind kind) {
  if (kind == VariantKind::cuda) return cuda_.get();
  return kind == VariantKind::cpu && slowest_ == VariantKind::reference ? nullptr : cpu_.get();
}

std::vector<BenchRow> Bench::run(const Ladder& ladder, const BenchInput& input,
                                 const std::function<bool(const StageVariant&)>& wanted,
                                 const std::function<void(const BenchRow&)>& done) {
  // The subjects in grey and in RGB; the subject that each device has loaded.
  std::shared_ptr<const LabSubject> subjects[2];
  std::map<LabDevice*, const LabSubject*> loaded;
  const bool takes_rgb = find_stage(ladder.stage)->ports.in.front().layout == Layout::interleaved;
  const auto needs_rgb = [&](const StageVariant& stage_variant) {
    return stage_variant.interleaved || takes_rgb;
  };
  std::vector<const StageVariant*> variants;
  std::vector<BenchRow> rows;
  for (const StageVariant& stage_variant : ladder.variants) {
    if (device_for(stage_variant.kind()) == nullptr || !wanted(stage_variant) ||
        (!input.has_rgb() && needs_rgb(stage_variant)))
      continue;
    variants.push_back(&stage_variant);
    rows.emplace_back(ladder.name, stage_variant, stage_variant.kind(), input);
    rows.back().production = is_production(stage_variant, ladder);
  }
  return measure(std::move(rows), done, [&](std::size_t i, BenchRow& row) {
    const StageVariant& stage_variant = *variants[i];
    LabDevice* device = device_for(stage_variant.kind());
    const bool rgb = needs_rgb(stage_variant);
    std::shared_ptr<const LabSubject>& subject = subjects[rgb ? 1 : 0];
    if (!subject)
      subject =
          std::make_shared<const LabSubject>(make_subject(ladder, input.make(rgb ? 3 : 1, ladder.sample)));
    row.bytes = subject->bytes();
    row.copy_bandwidth = device->copy_bandwidth();
    if (stage_variant.own != nullptr) row.own = own_.facts(stage_variant);
    if (std::string need = device->unmet_requirement(stage_variant, options_.lab, subject->in.shape());
        !need.empty()) {
      row.result.detail = std::move(need);
      return;
    }
    if (loaded[device] != subject.get()) device->load(subject);
    loaded[device] = subject.get();
    row.result = stage_variant.own == nullptr ? device->run(stage_variant, options_.lab)
                                              : own_.run(*device, stage_variant, input.name());
  });
}

bool Bench::begin(const std::string& what) {
  if (is_stopped()) return false;
  progress_.show("timing " + what,
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
  return true;
}

bool Bench::begin(const BenchRow& row, std::size_t index, std::size_t count) {
  return begin(row.stage + ", " + row.input + ": " + row.variant + " on " + device_name(row.kind) + ", " +
               std::to_string(index + 1) + " of " + std::to_string(count));
}

std::vector<BenchRow> Bench::measure(std::vector<BenchRow> rows,
                                     const std::function<void(const BenchRow&)>& done,
                                     const std::function<void(std::size_t, BenchRow&)>& run) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool begun = begin(rows[i], i, rows.size());
    if (begun) {
      run(i, rows[i]);
      progress_.clear();
    }
    const LabResult& result = rows[i].result;
    if (!begun || (is_stopped() && result.status == LabStatus::right && !result.timed())) {
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end());
      break;
    }
    if (done) done(rows[i]);
  }
  return rows;
}

std::vector<BenchRow> Bench::run_transfers(const BenchInput& input,
                                           const std::function<void(const BenchRow&)>& done) {
  std::vector<BenchRow> rows;
  if (cuda_ == nullptr || !input.has_rgb()) return rows;
  const LabSubject subject = make_subject(*find_ladder("gray"), input.make(3));
  const std::unique_ptr<TransferLab> lab = make_transfer_lab(cuda_index_, subject);
  std::vector<const TransferVariant*> variants;
  for (const TransferVariant& stage_variant : transfer_ladder()) {
    if (!wants(stage_variant.name)) continue;
    variants.push_back(&stage_variant);
    rows.emplace_back(kTransferLadder, stage_variant, VariantKind::cuda, input);
  }
  return measure(std::move(rows), done, [&](std::size_t i, BenchRow& row) {
    row.bytes = transfer_bytes(variants[i]->kind, input.size().pixels());
    row.copy_bandwidth = cuda_->copy_bandwidth();
    row.result = lab->run(*variants[i], options_.lab);
  });
}

std::vector<BenchInput> bench_inputs(const BenchOptions& options, const std::vector<Shape>& usual_sizes,
                                     const std::vector<std::string>& usual_patterns) {
  std::vector<BenchInput> inputs;
  DecodeOptions decode;
  decode.max_pixels = options.max_pixels;
  for (const std::string& path : options.inputs) inputs.emplace_back(path, decode);
  if (!inputs.empty()) return inputs;
  std::vector<Pattern> patterns = options.patterns;
  if (patterns.empty()) {
    for (const std::string& name : usual_patterns) patterns.push_back(parse_pattern(name));
  }
  for (const Shape& size : options.sizes.empty() ? usual_sizes : options.sizes) {
    for (const Pattern& pattern : patterns) inputs.emplace_back(pattern, size);
  }
  return inputs;
}

}  // namespace imgpipe
