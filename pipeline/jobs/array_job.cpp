#include "pipeline/jobs/array_job.h"

#include <utility>

#include "images/image.h"
#include "images/memory/available_memory.h"
#include "kernels/stage.h"
#include "pipeline/color_profiles.h"
#include "pipeline/host/chained_run.h"

namespace imgpipe {
namespace {

// Writes the channels of `from` to planes, one below the other in `to`.
void split_channels(const ConstHostView& from, const HostView& to) {
  StageCall<Host> call{.in = {frame_type_of(from.shape()), {from, {}, {}, {}}}};
  call.out.type = call.in.type;
  call.out.type.layout = Layout::planar;
  for (int c = 0; c < from.channels; ++c)
    call.out.planes[plane_of_channel(call.out.type, c)] = to.rows(c * from.height, from.height);
  run_cpu(*find_stage("split"), call, {0, from.height});
}

}  // namespace

ArrayJob::ArrayJob(const ArraySource& source, ArrayPlans& plans, const DecodeOptions& decode)
    : pixels_(source.pixels) {
  Shape image = pixels_.shape();
  ImageHeader header;
  if (source.open) {
    reader_ = source.open(with_profile(decode, plans.stages()));
    header = reader_->header();
    if (source.box) reader_ = make_box_reader(std::move(reader_), *source.box);
    image = reader_->header().shape;
  } else if (source.box) {
    check_box(*source.box, image);
    pixels_ = pixels_in(*source.box, pixels_);
    image = pixels_.shape();
  }
  plan_ = plans.plan_for(image, source.flip, header);
}

std::int64_t ArrayJob::needed_bytes(int threads) const {
  const std::unique_ptr<Reader> of_pixels = reader_ ? nullptr : make_memory_reader(pixels_);
  const MemoryEstimateRequest request{.plan = plan_->plan,
                                      .reader = reader_ ? *reader_ : *of_pixels,
                                      .source_in_memory = !reader_,
                                      .target_in_memory = true};
  return chains_need(request).with_threads(threads) + result().frame.bytes() +
         (plan_->splits ? plan_->plan.output.bytes() : 0);
}

void ArrayJob::run(Runner& runner, HostView out, RunReport* report) {
  Image interleaved;
  if (plan_->splits) {
    check_available(plan_->plan.output.bytes());
    interleaved = Image(plan_->plan.output);
  }
  const HostView target = plan_->splits ? interleaved.untyped_view() : out;
  if (reader_)
    runner.run(std::move(reader_), plan_->plan, target, report);
  else
    runner.run(pixels_, plan_->plan, target, report);
  if (plan_->splits) split_channels(std::as_const(interleaved).untyped_view(), out);
}

}  // namespace imgpipe
