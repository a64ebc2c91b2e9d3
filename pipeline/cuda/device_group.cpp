#include "pipeline/cuda/device_group.h"

#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace imgpipe {

DeviceGroup::DeviceGroup(Context& context, std::vector<GroupImage> images)
    : context_(context), images_(std::move(images)) {
  context_.begin();
  std::vector<CodedGroup::Member> members;
  using Key = std::tuple<const Plan*, bool, bool>;
  std::map<Key, std::shared_ptr<const DeviceProgram>> programs;
  for (const GroupImage& image : images_) {
    const Key key{&image.plan, image.keep_outputs, image.coded.jpeg && !image.steps_apart};
    std::shared_ptr<const DeviceProgram>& program = programs[key];
    if (!program)
      program = std::make_shared<const DeviceProgram>(image.plan, std::get<1>(key), std::get<2>(key));
    DeviceRun& run = runs_.emplace_back(context_, image.plan, program, image.timeline, tables_, image.track);
    members.push_back({&image.coded, &run});
    results_.emplace_back(image.plan.results.size());
  }
  codecs_.emplace(context_, std::move(members));
  try {
    tables_.upload(context_);
    for (DeviceRun& run : runs_) run.make_calls(tables_);
    codecs_->prepare_decoding();
  } catch (...) {
    (void)cudaStreamSynchronize(context_.stream.get());  // queued copies read the group's memory
    throw;
  }
}

void DeviceGroup::queue(const Passes& passes, EncodingMemory taken) {
  passes_ = passes;
  if (taken == EncodingMemory::first) codecs_->prepare_encoding();
  for (int pass = passes.first; pass < passes.end; ++pass) {
    codecs_->upload(pass);
    for (std::size_t i = 0; i < images_.size(); ++i) {
      if (!images_[i].device_source.empty()) runs_[i].copy_source(images_[i].device_source, pass);
      if (images_[i].source == nullptr) continue;
      const ConstHostView rows = images_[i].source->untyped_view();
      if (!images_[i].is_pinned) context_.pinned.pin(rows.data);
      (void)runs_[i].upload(rows, 0, pass);
    }
  }
  for (int pass = passes.first; pass < passes.end; ++pass) {
    codecs_->launch_decoding(pass);
    launch_steps(pass);
    if (pass == passes.first && taken == EncodingMemory::meanwhile) codecs_->prepare_encoding();
    codecs_->launch_encoding(pass);
  }
  codecs_->queue_results();
  copy_results();
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const std::size_t last = results_[i].size() - 1;
    for (std::size_t result = 0; result < last; ++result) download(i, result, passes);
    const bool stays = images_[i].device_result.data != nullptr;
    if (!stays && (images_[i].keep_pixels || !makes_file(i))) download(i, last, passes);
    if (images_[i].histograms != nullptr) runs_[i].download_histograms(*images_[i].histograms);
  }
  context_.mark_end();
}

void DeviceGroup::launch_steps(int pass) {
  for (std::size_t i = 0; i < runs_.size();) {
    std::vector<DeviceRun*> together{&runs_[i]};
    std::int64_t pixels = images_[i].plan.input.pixels();
    for (++i; i < runs_.size() && runs_[i].matches(*together.front()); ++i) {
      pixels += images_[i].plan.input.pixels();
      if (pixels > kSharedPixels) break;
      together.push_back(&runs_[i]);
    }
    DeviceRun::launch(together, pass);
  }
}

void DeviceGroup::finish() {
  context_.wait_for_end();
  codecs_->judge();
  bool more = false;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (!images_[i].coded.is_intact) drop(i);
    if (!images_[i].coded.is_intact || !makes_file(i)) continue;
    more = true;
    try {
      codecs_->collect(i, passes_.first, passes_.end);
      if (images_[i].coded.made.parts.empty() && results_[i].back().empty())
        download(i, results_[i].size() - 1, {});
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::device || images_[i].error == nullptr) throw;
      *images_[i].error = error;
    }
  }
  if (!more) return;
  context_.mark_end();
  context_.wait_for_end();
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (images_[i].error != nullptr && *images_[i].error) drop(i);
  }
}

void DeviceGroup::record_spans() {
  for (DeviceRun& run : runs_) run.record_spans();
}

bool DeviceGroup::makes_file(std::size_t i) const {
  return images_[i].coded.form.kind != DeviceForm::Kind::none;
}

void DeviceGroup::copy_results() {
  std::vector<DenseCopy> copies;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (images_[i].device_result.data != nullptr)
      copies.push_back({runs_[i].result(), images_[i].device_result});
  }
  if (!copies.empty())
    IMGPIPE_CUDA(
        static_cast<cudaError_t>(copy_dense(copies, {context_.stream.get(), context_.multiprocessors})));
}

void DeviceGroup::download(std::size_t i, std::size_t result, const Passes& passes) {
  const GroupImage& image = images_[i];
  Image& to = results_[i][result];
  std::optional<Timeline::Running> span;
  if (image.is_pinned) span.emplace(image.timeline, Span{.name = "pin", .track = image.timeline.track()});
  to = Image(runs_[i].result(result).shape(), &context_.pinned);
  span.reset();
  if (!image.is_pinned) context_.pinned.pin(to.untyped_view().data);
  for (int pass = passes.first; pass < passes.end; ++pass) runs_[i].download(result, to.untyped_view(), pass);
}

void DeviceGroup::drop(std::size_t i) {
  for (Image& result : results_[i]) result = Image();
  images_[i].coded.made = {};
}

}  // namespace imgpipe
