#include "pipeline/jobs/item_list.h"

#include <numeric>
#include <utility>

#include "images/error.h"

namespace imgpipe {

ItemList::ItemList(std::vector<ItemInput> inputs, const PageSelection& pages, const DecodeOptions& decode,
                   const std::function<void(const std::string&)>& warn)
    : inputs_(std::move(inputs)), pages_(pages), decode_(decode) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    open_input(i);
    naming(name_of_input(), [&] {
      if (list_->stream()) return;
      ranges_.push_back(selected_pages(pages_, list_->size()));
      size_bytes_ += list_->size_bytes();
    });
    if (const std::string text = list_->warning(); !text.empty()) warn(name_of_input() + ": " + text);
  }
  if (!list_->stream()) rewind();
}

std::string ItemList::name_of_page(std::int64_t page) const {
  return list_->size() == 1 ? name_of_input() : name_of_input() + ", page " + std::to_string(page);
}

void ItemList::open_input(std::size_t input) {
  const InputKind kind = inputs_.size() == 1 ? InputKind::any : InputKind::regular_only;
  if (list_ && input == input_) return;
  input_ = input;
  list_ =
      naming(name_of_input(), [&] { return std::make_shared<PageList>(inputs_[input].path, decode_, kind); });
}

std::optional<std::int64_t> ItemList::count() const {
  if (list_->stream()) return std::nullopt;
  return std::accumulate(ranges_.begin(), ranges_.end(), std::int64_t{0},
                         [](std::int64_t sum, const PageRange& range) { return sum + range.count(); });
}

void ItemList::rewind() {
  open_input(0);
  page_ = ranges_.front().first;
  taken_ = 0;
}

ImageItem ItemList::first() {
  if (list_->stream()) {
    peeked_ = take_from_stream();
    if (!peeked_)
      throw Error(ErrorKind::input,
                  name_of_input() + ": " + missing_pages_error(pages_, list_->stream()->images()).what());
    const auto bytes = peeked_->file.bytes();
    return {0, peeked_->name, InputFile(std::vector<std::byte>(bytes.begin(), bytes.end()))};
  }
  rewind();
  const std::string name = name_of_page(page_);
  return {0, name, naming(name, [&] { return list_->page(page_ - 1, Pages::Part::front); })};
}

std::optional<ImageItem> ItemList::next() {
  ImageItem item;
  std::shared_ptr<PageList> list;
  std::int64_t page = 0;
  {
    const std::lock_guard lock(mutex_);
    if (list_->stream()) return peeked_ ? std::exchange(peeked_, std::nullopt) : take_from_stream();
    while (page_ > ranges_[input_].last) {
      if (input_ + 1 == inputs_.size()) return std::nullopt;
      open_input(input_ + 1);
      page_ = ranges_[input_].first;
    }
    page = page_++;
    item = {taken_++, name_of_page(page), InputFile()};
    list = list_;
  }
  item.file = naming(item.name, [&] { return list->page(page - 1); });
  return item;
}

std::optional<ImageItem> ItemList::take_from_stream() {
  ImageStream& stream = *list_->stream();
  while (!naming(name_of_input(), [&] { return stream.at_end(); })) {
    const std::int64_t number = stream.images() + 1;
    if (pages_.last && number > *pages_.last) return std::nullopt;
    const std::string name = name_of_input() + ", image " + std::to_string(number);
    std::vector<std::byte> bytes = naming(name, [&] { return stream.next(); });
    if (number >= pages_.first) return ImageItem{taken_++, name, InputFile(std::move(bytes))};
  }
  if (pages_.last && stream.images() < *pages_.last)
    throw Error(ErrorKind::input,
                name_of_input() + ": " + missing_pages_error(pages_, stream.images()).what());
  return std::nullopt;
}

std::uint64_t ItemList::content_hash() const {
  return inputs_.size() == 1 ? naming(name_of_input(), [&] { return list_->content_hash(); }) : 0;
}

}  // namespace imgpipe
