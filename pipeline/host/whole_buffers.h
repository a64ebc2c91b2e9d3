// The values of a program that are held as a whole in host memory: images, counts and tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "images/image.h"
#include "pipeline/graph.h"

namespace imgpipe {

struct Job;
struct Outcome;

class WholeBuffers {
 public:
  // `histograms`: receives the counts, by step. `memory`: of planes that are not a result.
  WholeBuffers(const Program& program, std::vector<std::vector<std::uint64_t>>& histograms,
               std::pmr::memory_resource* memory = std::pmr::new_delete_resource())
      : program_(program), histograms_(histograms), memory_(memory), held_(program.values.size()) {}

  // Allocates the planes or the table of a value, unless they exist. Throws as Image does.
  void make(ValueId value);
  // Uses the job's source and target as the first value and the last result. A source that is itself a
  // result, or kept, is copied.
  void use_memory_of(const Job& job);
  // Sets a value to an image, or to a view that the caller keeps valid.
  void set(ValueId value, Image image) { held_[value].images[0] = std::move(image); }
  void set_view(ValueId value, const ConstHostView& view) { held_[value].foreign = view; }
  void free(ValueId value) { held_[value] = {}; }

  // Plane i of a value; one from set_view() is read-only.
  [[nodiscard]] HostView plane(ValueId value, int i);
  [[nodiscard]] ConstHostView plane(ValueId value, int i) const;
  [[nodiscard]] std::vector<std::uint64_t>& counts(ValueId value) {
    return histograms_[program_.step_of(value)];
  }
  // Counters or a table; constant tables are read-only.
  [[nodiscard]] std::byte* data(ValueId value);
  // Moves the results that are held and all kept values to the outcome. Called once, after the last node.
  void give_to(Outcome& outcome, const Keep& keep);

 private:
  [[nodiscard]] bool holds(ValueId value) const;
  // Moves all images out; views of them stay valid.
  [[nodiscard]] std::vector<Image> take_images();

  struct Held {
    std::array<Image, 3> images;
    ConstHostView foreign;
    HostView target;
    std::vector<std::byte> table;
  };
  const Program& program_;
  std::vector<std::vector<std::uint64_t>>& histograms_;
  std::pmr::memory_resource* memory_;
  std::vector<Held> held_;  // by ValueId
};

}  // namespace imgpipe
