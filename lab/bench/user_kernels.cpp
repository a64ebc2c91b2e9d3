#include "lab/bench/user_kernels.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/log.h"
#include "app/run_context.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/names.h"
#include "images/text.h"
#include "lab/bench/bench_rows.h"
#include "lab/bench/kernel_build.h"
#include "pipeline/device.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {
namespace {

constexpr std::int64_t kMaxSourceBytes = std::int64_t{4} << 20;

// Returns 90 for 9.0, or 0 if no CUDA device matches.
int capability_of(const std::string& name) {
  const DeviceChoice choice = choose_device(name);
  const CudaDevices found = list_cuda_devices();
  if (choice.cuda_index() == kAnyCudaDevice) {
    const std::optional<CudaDevice> device = usable_device(found);
    return device ? 10 * device->major + device->minor : 0;
  }
  const auto device = std::ranges::find(found.devices, choice.cuda_index(), &CudaDevice::index);
  return device == found.devices.end() ? 0 : 10 * device->major + device->minor;
}

std::string text_of(const std::string& path) {
  const std::vector<std::byte> bytes = read_regular_file(path, kMaxSourceBytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  // --variant stores names in the usual spelling.
  return std::ranges::find(names, canonical_spelling(name)) != names.end();
}

}  // namespace

UserKernels::UserKernels(const BenchOptions& options) : options_(options) {
  if (!options.kernel_files.empty()) {
    if (!built_with_cuda()) throw Error(ErrorKind::device, "--with: this build has no CUDA");
    const std::vector<std::string> flags = split_words("nvcc-flags", options.nvcc_flags);
    const int capability = capability_of(options.device);
    for (const std::string& path : options.kernel_files)
      naming(printable(path), [&] { load(path, capability, flags); });
    check_stages();
    limit_ = std::make_unique<TimeLimit>(options.time_limit_s);
  }
  fill_ladders();
}

void UserKernels::load(const std::string& path, int capability, const std::vector<std::string>& flags) {
  File file{.quoted_path = shell_quoted(path),
            .name = printable(path.substr(path.rfind('/') + 1)),
            .text = std::make_shared<const std::string>(text_of(path)),
            .library = nullptr};
  with_compiled(path, capability, flags, [&](const std::string& library) {
    file.library = std::make_unique<UserKernelLibrary>(library, file.name);
  });
  for (const UserVariant& variant : file.library->variants()) {
    for (const File& other : files_) {
      if (std::ranges::any_of(other.library->variants(), [&](const UserVariant& each) {
            return each.stage == variant.stage && each.name == variant.name;
          }))
        throw Error(ErrorKind::input, other.name + " also has a variant '" + variant.name + "' of " +
                                          variant.stage + "; rename one of them");
    }
  }
  files_.push_back(std::move(file));
}

void UserKernels::check_stages() const {
  for (const File& file : files_) {
    const auto& variants = file.library->variants();
    if (std::ranges::any_of(variants,
                            [&](const UserVariant& each) { return is_requested(options_, each.stage); }))
      continue;
    std::string why = file.name + ": no variant of ";
    for (const std::string& stage : options_.stages)
      why += (&stage == &options_.stages.front() ? "" : ", ") + stage;
    why += ", but ";
    for (const UserVariant& each : variants)
      why += (&each == &variants.front() ? "" : ", ") + each.name + " of " + each.stage;
    throw Error(ErrorKind::input, why);
  }
}

void UserKernels::fill_ladders() {
  for (const Ladder& ladder : ladder_table()) {
    std::vector<StageVariant> variants(ladder.variants.begin(), ladder.variants.end());
    for (const File& file : files_) {
      for (const UserVariant& variant : file.library->variants()) {
        if (variant.stage == ladder.name) variants.push_back(user_variant(variant));
      }
    }
    ladders_.push_back(ladder);
    ladders_.back().variants = variants_.emplace_back(std::move(variants));
  }
}

std::vector<std::string> UserKernels::stages() const {
  std::vector<std::string> stages;
  for (const Ladder& ladder : ladders_) {
    if (ladder.variants.back().own != nullptr) stages.emplace_back(ladder.name);
  }
  return stages;
}

std::vector<std::string> UserKernels::variants() const {
  std::vector<std::string> names;
  for (const File& file : files_) {
    for (const UserVariant& each : file.library->variants()) names.push_back(canonical_spelling(each.name));
  }
  return names;
}

bool UserKernels::wants(const StageVariant& stage_variant) const {
  if (has_name(options_.variants, std::string(stage_variant.name))) return true;
  return std::ranges::none_of(files_, [&](const File& file) {
    return std::ranges::any_of(file.library->variants(), [&](const UserVariant& each) {
      return has_name(options_.variants, each.name);
    });
  });
}

std::string UserKernels::names() const {
  std::string names;
  for (const File& file : files_) {
    for (const UserVariant& each : file.library->variants())
      names += (names.empty() ? "" : ", ") + each.name + " of " + each.stage + " (" + file.name + ")";
  }
  return names;
}

const UserKernels::File& UserKernels::file_of(const StageVariant& stage_variant) const {
  return *std::ranges::find_if(files_, [&](const File& file) {
    return std::ranges::any_of(file.library->variants(),
                               [&](const UserVariant& each) { return &each == stage_variant.own; });
  });
}

template <class Action>
auto UserKernels::watched(const StageVariant& stage_variant, const std::string& over, const Action& action) {
  const std::string name =
      stage_variant.own->file + ": " + stage_variant.own->name + " of " + stage_variant.own->stage;
  limit_->begin(name + " on " + over);
  try {
    auto result = action([&](const std::string& image) { limit_->begin(name + " on " + image); });
    limit_->end();
    return result;
  } catch (const Error& error) {
    limit_->end();
    if (error.kind() == ErrorKind::memory) throw;
    throw Error(
        ErrorKind::input,
        name + ": " + error.what() +
            "; to find the line, run compute-sanitizer --target-processes all imgpipe bench --stage " +
            stage_variant.own->stage + " --with " + file_of(stage_variant).quoted_path + " --variant " +
            stage_variant.own->name + " --time-limit 0");
  }
}

void UserKernels::check(int device) {
  for (const File& file : files_) naming(file.name, [&] { file.library->use_device(device); });
  for (const Ladder& ladder : ladders_) {
    if (!is_requested(options_, ladder.name)) continue;
    for (const StageVariant& stage_variant : ladder.variants) {
      if (stage_variant.own == nullptr || !wants(stage_variant)) continue;
      const File& file = file_of(stage_variant);
      UserVariantFacts facts{.file = file.name, .text = file.text, .verdict = {}};
      facts.verdict = watched(stage_variant, "its first image", [&](const auto& begins) {
        return check_user_kernel(ladder, stage_variant, begins);
      });
      log_detail(facts.file + ": " + stage_variant.own->name + " of " + stage_variant.own->stage + ": " +
                 (facts.verdict.wrong.empty() ? "exact" : "WRONG " + facts.verdict.wrong) + ", " +
                 std::to_string(facts.verdict.images) + " small images exact");
      facts_[stage_variant.own] = std::make_shared<const UserVariantFacts>(std::move(facts));
    }
  }
}

LabResult UserKernels::run(LabDevice& device, const StageVariant& stage_variant, const std::string& over) {
  LabResult result;
  if (const UserCheckResult& verdict = facts(stage_variant)->verdict; !verdict.wrong.empty()) {
    result.status = LabStatus::wrong;
    result.detail = verdict.wrong;
    return result;
  }
  return watched(stage_variant, over, [&](const auto&) { return device.run(stage_variant, options_.lab); });
}

std::shared_ptr<const UserVariantFacts> UserKernels::facts(const StageVariant& stage_variant) const {
  return facts_.at(stage_variant.own);
}

}  // namespace imgpipe
