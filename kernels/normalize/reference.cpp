#include "kernels/normalize/normalize.h"

namespace imgpipe {
namespace {

template <class From, class To>
void normalize(const StageCall<Host>& call, TensorLayout layout) {
  const FrameType& type = call.in.type;
  const bool mixed = type.layout == Layout::interleaved;
  const int channels = type.color_channels;
  const Plane<To, Host> out = call.out.plane<To>(0);
  for (int c = 0; c < channels; ++c) {
    const Plane<const From, Host> in = call.in.plane<From>(mixed ? 0 : static_cast<std::size_t>(c));
    const To* const element_of = call.table.as<To>() + c * type.bins();
    for (std::int64_t y = 0; y < type.height; ++y) {
      for (std::int64_t x = 0; x < type.width; ++x) {
        const To element = element_of[in.row(y)[mixed ? x * channels + c : x]];
        if (layout == TensorLayout::nchw) {
          out.row(c * type.height + y)[x] = element;
        } else {
          out.row(y)[x * channels + c] = element;
        }
      }
    }
  }
}

}  // namespace

void normalize_reference(const StageCall<Host>& call) {
  const NormalizeParameters wanted(call.parameters);
  visit_normalize(call, wanted.sample,
                  [&]<class From, class To>(From, To) { normalize<From, To>(call, wanted.layout); });
}

}  // namespace imgpipe
