// The images of several inputs in order, for results made of many images: the selected pages of each file, or
// the images of a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "images/formats/page_list.h"
#include "pipeline/jobs/page_selection.h"

namespace imgpipe {

struct ItemInput {
  std::string path;  // "-": standard input
  std::string name;  // for messages: printable
};

struct ImageItem {
  std::int64_t number = 0;  // from 0
  std::string name;         // "z.tif, page 3"
  InputFile file;
};

class ItemList {
 public:
  // Lists the pages of every input, at least one; standard input must be the only one. Calls `warn` with
  // damage tolerated in a list of pages. Throws Error(input) or Error(memory) with the input's name.
  ItemList(std::vector<ItemInput> inputs, const PageSelection& pages, const DecodeOptions& decode,
           const std::function<void(const std::string&)>& warn);

  // The number of items; nullopt for a stream, which can be read only once.
  [[nodiscard]] std::optional<std::int64_t> count() const;
  // Returns the first item without taking it, for a page without its pixels.
  [[nodiscard]] ImageItem first();
  // Returns the next item; nullopt after the last one. Thread-safe. Throws as the constructor does.
  [[nodiscard]] std::optional<ImageItem> next();
  // Starts again with the first item. Not for streams.
  void rewind();

  [[nodiscard]] std::size_t inputs() const { return inputs_.size(); }
  // The bytes of all inputs; for a stream, those read so far.
  [[nodiscard]] std::int64_t size_bytes() const {
    return list_->stream() ? list_->size_bytes() : size_bytes_;
  }
  // content_hash() of a single input; 0 for several.
  [[nodiscard]] std::uint64_t content_hash() const;

 private:
  [[nodiscard]] const std::string& name_of_input() const { return inputs_[input_].name; }
  [[nodiscard]] std::string name_of_page(std::int64_t page) const;
  void open_input(std::size_t input);
  [[nodiscard]] std::optional<ImageItem> take_from_stream();

  const std::vector<ItemInput> inputs_;
  const PageSelection pages_;
  const DecodeOptions decode_;
  std::mutex mutex_;  // of the position
  std::vector<PageRange> ranges_;
  std::int64_t size_bytes_ = 0;
  std::shared_ptr<PageList> list_;  // of the current input
  std::size_t input_ = 0;
  std::int64_t page_ = 0;  // the next page of the current input, from 1
  std::int64_t taken_ = 0;
  std::optional<ImageItem> peeked_;  // of a stream
};

}  // namespace imgpipe
