// Buffers of a plan that are held as whole images in host memory.
#pragma once

#include <array>
#include <vector>

#include "images/image.h"
#include "pipeline/buffers.h"

namespace imgpipe {

struct Outcome;

class WholeBuffers {
 public:
  explicit WholeBuffers(const Buffers& buffers) : buffers_(buffers), held_(buffers.size()) {}

  // Makes the planes of a buffer, unless they are there. Throws as Image does.
  void make(std::size_t buffer);
  // The buffer is an image that somebody else holds.
  void set(std::size_t buffer, Image image) { held_[buffer].images[0] = std::move(image); }
  void set_view(std::size_t buffer, const ConstHostView& view) { held_[buffer].foreign = view; }
  void free(std::size_t buffer) { held_[buffer] = {}; }

  // Plane i of a buffer that is held; a foreign one is only read.
  [[nodiscard]] HostView plane(std::size_t buffer, int i);
  [[nodiscard]] ConstHostView plane(std::size_t buffer, int i) const;
  // Gives everything away, behind the last work: the finished pixels, and what is kept, are the outcome's.
  void give_to(Outcome& outcome, const std::vector<Work>& works, const Keep& keep);

 private:
  [[nodiscard]] bool holds(std::size_t buffer) const;
  // The frame behind a work, all its planes.
  [[nodiscard]] Frame<const std::byte, Host> frame(const WorkBuffers& uses) const;
  // Gives all images away; views of them stay right.
  [[nodiscard]] std::vector<Image> take_all();

  struct Held {
    std::array<Image, 3> images;
    ConstHostView foreign;
  };
  const Buffers& buffers_;
  std::vector<Held> held_;  // by buffer
};

}  // namespace imgpipe
