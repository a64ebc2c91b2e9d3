#include "pipeline/cuda/device_group.h"

#include <utility>

#include "images/error.h"

namespace imgpipe {

DeviceGroup::DeviceGroup(Context& context, std::vector<GroupImage> images, const Event* done)
    : context_(context), images_(std::move(images)), done_(done), pixels_(images_.size()) {
  context_.begin();
  std::vector<CodedGroup::Member> members;
  for (const GroupImage& image : images_) {
    DeviceRun& run = runs_.emplace_back(context_, image.plan, image.timeline, image.keep_outputs,
                                        image.decoded, image.track);
    members.push_back({&image.coded, &run});
  }
  codecs_.emplace(context_, std::move(members));
  codecs_->prepare_decoding();
}

void DeviceGroup::prepare_encoding() {
  if (!std::exchange(encoding_is_prepared_, true)) codecs_->prepare_encoding();
}

void DeviceGroup::queue(const Passes& passes) {
  passes_ = passes;
  for (int pass = passes.first; pass < passes.end; ++pass) {
    codecs_->upload(pass);
    for (std::size_t i = 0; i < images_.size(); ++i) {
      if (images_[i].source == nullptr) continue;
      const ConstHostView rows = images_[i].source->untyped_view();
      context_.pinned.pin(rows.data);
      (void)runs_[i].upload(rows, 0, pass);
    }
  }
  for (int pass = passes.first; pass < passes.end; ++pass) {
    codecs_->launch_decoding(pass);
    for (DeviceRun& run : runs_) run.launch(pass);
    prepare_encoding();
    codecs_->launch_encoding(pass);
  }
  codecs_->queue_results();
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (images_[i].keep_pixels || !makes_file(i)) download(i, passes);
    if (images_[i].histograms != nullptr) runs_[i].download_histograms(*images_[i].histograms);
  }
  mark_end();
}

void DeviceGroup::finish() {
  wait();
  codecs_->judge();
  bool more = false;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (!images_[i].coded.in_order) {
      drop(i);
    } else if (makes_file(i)) {
      more = true;
      collect(i);
    }
  }
  if (!more) return;
  mark_end();
  wait();
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (images_[i].error != nullptr && *images_[i].error) drop(i);
  }
}

void DeviceGroup::give_spans() {
  for (DeviceRun& run : runs_) run.give_spans();
}

bool DeviceGroup::makes_file(std::size_t i) const {
  return images_[i].coded.form.kind != DeviceForm::Kind::none;
}

void DeviceGroup::download(std::size_t i, const Passes& passes) {
  const GroupImage& image = images_[i];
  {
    std::optional<Timeline::Running> span;
    if (image.times_pinning)
      span.emplace(image.timeline, Span{.name = "pin", .track = image.timeline.track()});
    pixels_[i] = Image(image.plan.output, &context_.pinned);
    context_.pinned.pin(pixels_[i].untyped_view().data);
  }
  for (int pass = passes.first; pass < passes.end; ++pass) runs_[i].download(pixels_[i].untyped_view(), pass);
}

// What could not be queued before its size was known.
void DeviceGroup::collect(std::size_t i) {
  try {
    codecs_->collect(i, passes_.first, passes_.end);
    if (images_[i].coded.made.parts.empty() && pixels_[i].empty()) download(i, {});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::device || images_[i].error == nullptr) throw;
    *images_[i].error = error;
  }
}

void DeviceGroup::drop(std::size_t i) {
  pixels_[i] = Image();
  images_[i].coded.made = {};
}

void DeviceGroup::mark_end() {
  if (done_ != nullptr) {
    done_->record(context_.stream);
  } else {
    end_ = context_.mark();
  }
}

void DeviceGroup::wait() const {
  if (done_ != nullptr) {
    done_->wait();
  } else {
    context_.wait_for(end_);
  }
}

}  // namespace imgpipe
