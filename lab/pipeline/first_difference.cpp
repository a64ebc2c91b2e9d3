#include "lab/pipeline/first_difference.h"

#include "kernels/stage.h"

namespace imgpipe {
namespace {

template <class Value>
std::string both(Value right, Value got) {
  return "expected " + std::to_string(right) + ", got " + std::to_string(got);
}

template <class T>
std::string first_pixel(const Plane<const T, Host>& right, const Plane<const T, Host>& got) {
  for (std::int64_t y = 0; y < right.height; ++y) {
    for (std::int64_t x = 0; x < right.width; ++x) {
      if (right.row(y)[x] != got.row(y)[x])
        return "first at x " + std::to_string(x) + ", y " + std::to_string(y) + ": " +
               both(int{right.row(y)[x]}, int{got.row(y)[x]});
    }
  }
  return "";
}

}  // namespace

std::string first_difference(const LabSubject& subject, const ConstHostView& out,
                             const std::vector<std::uint64_t>& counts) {
  if (makes_pixels(*subject.stage)) {
    const ConstHostView right = subject.expected.untyped_view();
    return visit_sample(right.sample, [&]<class T>(T) { return first_pixel(right.as<T>(), out.as<T>()); });
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != subject.counts[i])
      return "first in bin " + std::to_string(i) + ": " + both(subject.counts[i], counts[i]);
  }
  return "";
}

}  // namespace imgpipe
