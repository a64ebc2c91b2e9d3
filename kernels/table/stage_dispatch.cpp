// The functions of kernels/stage.h that look up rows of the tables, and call kernels.
#include <algorithm>

#include <hwy/cache_control.h>

#include "kernels/shared/float_environment.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

// Returns the row for a call; the planner rejects steps without one. If the output type is unset, it is the
// input's sample type.
template <class Where>
const Kernel& kernel_of(const Stage& stage, Backend backend, const StageCall<Where>& call) {
  const Sample in = call.in.type.sample;
  return *find_kernel(stage, backend, in, call.out.type.pixels() > 0 ? call.out.type.sample : in);
}

const Port* find_read_port(const Stage& stage, ValueKind kind, const Parameters& parameters) {
  const auto port = std::ranges::find_if(stage.ports.in, [&](const Port& one) {
    return one.kind == kind && (one.is_read == nullptr || one.is_read(parameters));
  });
  return port == stage.ports.in.end() ? nullptr : &*port;
}

// Runs a kernel in the floating-point environment that it needs if it reads or writes floats. The host code
// of device kernels needs it too.
template <class Run>
auto in_environment_of(const Kernel& kernel, const Run& run) {
  if (!is_float(kernel.in) && !is_float(kernel.out)) return run();
  const FloatEnvironment environment;
  return run();
}

}  // namespace

const Stage* find_stage(std::string_view name) {
  const auto stage = std::ranges::find(stage_table(), name, &Stage::name);
  return stage == stage_table().end() ? nullptr : &*stage;
}

const Kernel* find_kernel(const Stage& stage, Backend backend, Sample in, Sample out) {
  const auto kernel = std::ranges::find_if(stage.kernels, [&](const Kernel& one) {
    return one.backend == backend && one.in == in && one.out == out;
  });
  return kernel == stage.kernels.end() ? nullptr : &*kernel;
}

void run_reference(const Stage& stage, const StageCall<Host>& call) {
  const Kernel& kernel = kernel_of(stage, Backend::reference, call);
  in_environment_of(kernel, [&] { kernel.reference(call); });
}

void run_cpu(const Stage& stage, const StageCall<Host>& call, const Band& band) {
  const Kernel& kernel = kernel_of(stage, Backend::cpu, call);
  in_environment_of(kernel, [&] { kernel.cpu(call, band); });
  if (band.bypasses_caches) hwy::FlushStream();  // other threads may read the rows next
}

CudaStatus run_cuda(const Stage& stage, const StageCall<Device>& call, const CudaLaunch& launch) {
  const Kernel& kernel = kernel_of(stage, Backend::cuda, call);
  return in_environment_of(kernel, [&] { return kernel.cuda(call, launch); });
}

CudaStatus run_cuda_group(const Kernel& kernel, DeviceCalls calls, const CudaLaunch& launch) {
  return in_environment_of(kernel, [&] { return kernel.cuda_group(calls, launch); });
}

bool reads_counts(const Stage& stage, const Parameters& parameters) {
  return find_read_port(stage, ValueKind::counts, parameters) != nullptr;
}

const Stage* table_maker(const Stage& stage, const Parameters& parameters, Backend backend, Sample in,
                         Sample out) {
  const Port* const port = find_read_port(stage, ValueKind::table, parameters);
  if (port == nullptr) return nullptr;
  const bool constant = port->made_by->ports.in.empty();  // the same for all backends
  const Kernel* const kernel = find_kernel(*port->made_by, constant ? Backend::cpu : backend, in, out);
  return kernel == nullptr ? nullptr : port->made_by;
}

bool needs_all_rows(const Stage& stage, const Parameters& parameters) {
  return stage.needs_all_rows != nullptr && stage.needs_all_rows(parameters);
}

bool is_one_plane(const Stage& stage, const FrameType& in, const Parameters& parameters) {
  if (in.layout != Layout::interleaved || in.alpha || !stage.maps_samples || parameters.image != nullptr)
    return false;
  const bool sums_planes = stage.sums_planes != nullptr && stage.sums_planes(parameters);
  return (sums_planes || !reads_counts(stage, parameters)) && as_one_plane(in).width <= kMaxSide;
}

bool is_interleaved_on_cpu(const Stage& stage, FrameType in, const Parameters& parameters) {
  if (in.color_channels != 3 || in.alpha || reads_counts(stage, parameters) || makes_counts(stage))
    return false;
  in.layout = Layout::interleaved;
  const bool in_windows =
      stage.rgb_on_cpu != nullptr && stage.rgb_on_cpu(in, parameters) && !is_float(in.sample);
  const bool in_any_layout = !stage.ports.in.front().layout && stage.tensor == nullptr;
  return in_windows || in_any_layout || is_one_plane(stage, in, parameters);
}

FrameType counted_type(const Stage& stage, const FrameType& in, const Parameters& parameters) {
  return is_one_plane(stage, in, parameters) ? as_one_plane(in) : in;
}

FrameType output_type(const Stage& stage, const FrameType& in, const Parameters& parameters) {
  if (!makes_pixels(stage)) return in;
  FrameType out = in;
  if (stage.infer != nullptr) static_cast<void>(stage.infer(in, parameters, out));
  if (!is_one_plane(stage, in, parameters)) out.layout = stage.ports.out.front().layout.value_or(out.layout);
  return out;
}

RowRange rows_needed(const Stage& stage, const FrameType& in, const Parameters& parameters, RowRange out) {
  if (needs_all_rows(stage, parameters)) return out.count() > 0 ? RowRange{0, in.height} : RowRange{};
  return stage.needs == nullptr ? out : stage.needs(in, parameters, out);
}

std::int64_t table_parts(const Stage& maker, const FrameType& in, const Parameters& parameters) {
  return maker.table_parts == nullptr ? 1 : maker.table_parts(in, parameters);
}

std::vector<std::byte> make_table(const Stage& maker, StageCall<Host> call) {
  const auto bytes = static_cast<std::size_t>(maker.table_bytes(call.in.type, call.parameters));
  std::vector<std::byte> table(bytes);
  call.table = {table.data(), std::ssize(table)};
  run_cpu(maker, call, {0, table_parts(maker, call.in.type, call.parameters)});
  return table;
}

std::int64_t table_bytes(const Stage& stage, const FrameType& in, const Parameters& parameters) {
  const Port* const port = find_read_port(stage, ValueKind::table, parameters);
  return port == nullptr ? 0 : port->made_by->table_bytes(in, parameters);
}

std::int64_t scratch_bytes(const Stage& stage, const FrameType& in, const Parameters& parameters) {
  return stage.scratch_bytes == nullptr ? 0 : stage.scratch_bytes(in, parameters);
}

std::int64_t bytes_moved(const Stage& stage, const FrameType& in, const FrameType& out) {
  if (stage.effect == Effect::cuts) {
    FrameType read = in;
    read.width = std::min(in.width, out.width);
    read.height = std::min(in.height, out.height);
    return read.bytes() + out.bytes();
  }
  if (!makes_pixels(stage)) return in.color_bytes();
  const bool color = passes_alpha(stage, in, out);
  return color ? in.color_bytes() + out.color_bytes() : in.bytes() + out.bytes();
}

}  // namespace imgpipe
