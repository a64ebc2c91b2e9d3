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

constexpr std::int64_t kMostSourceBytes = std::int64_t{4} << 20;

// Returns 90 for 9.0, or 0 if there is no such device.
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
  const std::vector<std::byte> bytes = read_regular_file(path, kMostSourceBytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  // --variant stores names in the usual spelling.
  return std::ranges::find(names, usual_spelling(name)) != names.end();
}

}  // namespace

OwnKernels::OwnKernels(const BenchOptions& options) : options_(options) {
  if (!options.own_files.empty()) {
    if (!built_with_cuda()) throw Error(ErrorKind::device, "--with: this build has no CUDA");
    const std::vector<std::string> flags = split_words("nvcc-flags", options.nvcc_flags);
    const int capability = capability_of(options.device);
    for (const std::string& path : options.own_files)
      naming(printable(path), [&] { load(path, capability, flags); });
    check_stages();
    limit_ = std::make_unique<TimeLimit>(options.time_limit_s);
  }
  fill_ladders();
}

void OwnKernels::load(const std::string& path, int capability, const std::vector<std::string>& flags) {
  File file{.quoted_path = shell_quoted(path),
            .name = printable(path.substr(path.rfind('/') + 1)),
            .text = std::make_shared<const std::string>(text_of(path)),
            .library = nullptr};
  with_compiled(path, capability, flags, [&](const std::string& library) {
    file.library = std::make_unique<OwnLibrary>(library, file.name);
  });
  for (const OwnVariant& variant : file.library->variants()) {
    for (const File& other : files_) {
      if (std::ranges::any_of(other.library->variants(), [&](const OwnVariant& each) {
            return each.stage == variant.stage && each.name == variant.name;
          }))
        throw Error(ErrorKind::input, other.name + " also has a variant '" + variant.name + "' of " +
                                          variant.stage + "; rename one of them");
    }
  }
  files_.push_back(std::move(file));
}

void OwnKernels::check_stages() const {
  for (const File& file : files_) {
    const auto& variants = file.library->variants();
    if (std::ranges::any_of(variants, [&](const OwnVariant& each) { return asks_for(options_, each.stage); }))
      continue;
    std::string why = file.name + ": no variant of ";
    for (const std::string& stage : options_.stages)
      why += (&stage == &options_.stages.front() ? "" : ", ") + stage;
    why += ", but ";
    for (const OwnVariant& each : variants)
      why += (&each == &variants.front() ? "" : ", ") + each.name + " of " + each.stage;
    throw Error(ErrorKind::input, why);
  }
}

void OwnKernels::fill_ladders() {
  for (const Ladder& ladder : ladder_table()) {
    std::vector<Rung> rungs(ladder.rungs.begin(), ladder.rungs.end());
    for (const File& file : files_) {
      for (const OwnVariant& variant : file.library->variants()) {
        if (variant.stage == ladder.name) rungs.push_back(own_rung(variant));
      }
    }
    ladders_.push_back(ladder);
    ladders_.back().rungs = rungs_.emplace_back(std::move(rungs));
  }
}

std::vector<std::string> OwnKernels::stages() const {
  std::vector<std::string> stages;
  for (const Ladder& ladder : ladders_) {
    if (ladder.rungs.back().own != nullptr) stages.emplace_back(ladder.name);
  }
  return stages;
}

std::vector<std::string> OwnKernels::variants() const {
  std::vector<std::string> names;
  for (const File& file : files_) {
    for (const OwnVariant& each : file.library->variants()) names.push_back(usual_spelling(each.name));
  }
  return names;
}

bool OwnKernels::wants(const Rung& rung) const {
  if (has_name(options_.variants, std::string(rung.name))) return true;
  return std::ranges::none_of(files_, [&](const File& file) {
    return std::ranges::any_of(file.library->variants(), [&](const OwnVariant& each) {
      return has_name(options_.variants, each.name);
    });
  });
}

std::string OwnKernels::names() const {
  std::string names;
  for (const File& file : files_) {
    for (const OwnVariant& each : file.library->variants())
      names += (names.empty() ? "" : ", ") + each.name + " of " + each.stage + " (" + file.name + ")";
  }
  return names;
}

const OwnKernels::File& OwnKernels::file_of(const Rung& rung) const {
  return *std::ranges::find_if(files_, [&](const File& file) {
    return std::ranges::any_of(file.library->variants(),
                               [&](const OwnVariant& each) { return &each == rung.own; });
  });
}

template <class Action>
auto OwnKernels::watched(const Rung& rung, const std::string& over, const Action& action) {
  const std::string name = rung.own->file + ": " + rung.own->name + " of " + rung.own->stage;
  limit_->begin(name + " over " + over);
  try {
    auto result = action([&](const std::string& image) { limit_->begin(name + " over " + image); });
    limit_->end();
    return result;
  } catch (const Error& error) {
    limit_->end();
    if (error.kind() == ErrorKind::memory) throw;
    throw Error(
        ErrorKind::input,
        name + ": " + error.what() +
            "; to find the line, run compute-sanitizer --target-processes all imgpipe bench --stage " +
            rung.own->stage + " --with " + file_of(rung).quoted_path + " --variant " + rung.own->name +
            " --time-limit 0");
  }
}

void OwnKernels::check(int device) {
  for (const File& file : files_) naming(file.name, [&] { file.library->use_device(device); });
  for (const Ladder& ladder : ladders_) {
    if (!asks_for(options_, ladder.name)) continue;
    for (const Rung& rung : ladder.rungs) {
      if (rung.own == nullptr || !wants(rung)) continue;
      const File& file = file_of(rung);
      OwnFacts facts{.file = file.name, .text = file.text, .verdict = {}};
      facts.verdict = watched(rung, "its first image",
                              [&](const auto& begins) { return check_own(ladder, rung, begins); });
      log_detail(facts.file + ": " + rung.own->name + " of " + rung.own->stage + ": " +
                 (facts.verdict.wrong.empty() ? "exact" : "WRONG " + facts.verdict.wrong) + ", " +
                 std::to_string(facts.verdict.images) + " small images right");
      facts_[rung.own] = std::make_shared<const OwnFacts>(std::move(facts));
    }
  }
}

LabResult OwnKernels::run(LabDevice& device, const Rung& rung, const std::string& over) {
  LabResult result;
  if (const OwnVerdict& verdict = facts(rung)->verdict; !verdict.wrong.empty()) {
    result.status = LabStatus::wrong;
    result.detail = verdict.wrong;
    return result;
  }
  return watched(rung, over, [&](const auto&) { return device.run(rung, options_.lab); });
}

std::shared_ptr<const OwnFacts> OwnKernels::facts(const Rung& rung) const {
  return facts_.at(rung.own);
}

}  // namespace imgpipe
