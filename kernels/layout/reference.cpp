#include "kernels/layout/layout.h"

namespace imgpipe {
namespace {

template <class T>
void split(const StageCall<Host>& call) {
  const Plane<const T, Host> in = call.in.plane<T>(0);
  for (int c = 0; c < in.channels; ++c) {
    const Plane<T, Host> out = call.out.plane<T>(plane_of_channel(call.in.type, c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = in.row(y)[x * in.channels + c];
    }
  }
}

template <class T>
void merge(const StageCall<Host>& call) {
  const Plane<T, Host> out = call.out.plane<T>(0);
  for (int c = 0; c < out.channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(plane_of_channel(call.in.type, c));
    for (std::int64_t y = 0; y < out.height; ++y) {
      for (std::int64_t x = 0; x < out.width; ++x) out.row(y)[x * out.channels + c] = in.row(y)[x];
    }
  }
}

}  // namespace

void split_reference(const StageCall<Host>& call) {
  visit_any_sample(call.in.type.sample, [&]<class T>(T) { split<T>(call); });
}

void merge_reference(const StageCall<Host>& call) {
  visit_any_sample(call.in.type.sample, [&]<class T>(T) { merge<T>(call); });
}

}  // namespace imgpipe
