// Values of a program that are held as a whole in host memory: images, counts and tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/image.h"
#include "pipeline/graph.h"

namespace imgpipe {

struct Outcome;

class WholeBuffers {
 public:
  // `histograms`: the counts, by step.
  WholeBuffers(const Program& program, std::vector<std::vector<std::uint64_t>>& histograms)
      : program_(program), histograms_(histograms), held_(program.values.size()) {}

  // Makes the planes of a value, or its table, unless they are there. Throws as Image does.
  void make(ValueId value);
  // The value is an image that the caller has made, or holds.
  void set(ValueId value, Image image) { held_[value].images[0] = std::move(image); }
  void set_view(ValueId value, const ConstHostView& view) { held_[value].foreign = view; }
  void free(ValueId value) { held_[value] = {}; }

  // Plane i of a value that is held; a foreign one is only read.
  [[nodiscard]] HostView plane(ValueId value, int i);
  [[nodiscard]] ConstHostView plane(ValueId value, int i) const;
  [[nodiscard]] std::vector<std::uint64_t>& counts(ValueId value) {
    return histograms_[program_.step_of(value)];
  }
  // Counters, or a table, of which a constant is only read.
  [[nodiscard]] std::byte* data(ValueId value);
  // Gives everything away, after the last node: the results that are held, and what is kept, are the
  // outcome's.
  void give_to(Outcome& outcome, const Keep& keep);

 private:
  [[nodiscard]] bool holds(ValueId value) const;
  // Gives all images away; views of them stay right.
  [[nodiscard]] std::vector<Image> unpack_pairs();

  struct Held {
    std::array<Image, 3> images;
    ConstHostView foreign;
    std::vector<std::byte> table;
  };
  const Program& program_;
  std::vector<std::vector<std::uint64_t>>& histograms_;
  std::vector<Held> held_;  // by value
};

}  // namespace imgpipe
