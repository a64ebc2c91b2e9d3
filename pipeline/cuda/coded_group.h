// Decoding and encoding of several images on one stream, in the same launches.
//
//   upload | entropy decoding | reconstruction | each image's steps | PNG, JPEG encoding | results
//                                                              collect(): download of the files
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/jpeg/encoding.h"
#include "kernels/jpeg/entropy_decoding.h"
#include "kernels/jpeg/reconstruction.h"
#include "kernels/png/encoding.h"
#include "pipeline/coded_image.h"
#include "pipeline/cuda/device_run.h"

namespace imgpipe {

// The functions are called in this order, each once, those with a pass once a pass. All throw Error(memory)
// or Error(device).
class CodedGroup {
 public:
  struct Member {
    CodedImage* image = nullptr;
    DeviceRun* run = nullptr;  // of an image that the device decodes where image->jpeg is set
  };

  // What is referred to stays until the end.
  CodedGroup(Context& context, std::vector<Member> members);

  // Takes memory, and brings up what the kernels need to know.
  void prepare_decoding();
  // Brings the scans up.
  void upload(int pass);
  void launch_decoding(int pass);
  // Behind every image's steps: what the kernels need to know.
  void prepare_encoding();
  void launch_encoding(int pass);
  // Queues the download of what was found, and of how large the files are.
  void queue_results();
  // When all of that is done: what was decoded and is not in order.
  void judge();
  // Then, of a member that is: queues the download of the file that was made, to the context's pinned memory.
  // Nothing where none was made: its pixels are to be had.
  void collect(std::size_t member, int first_pass = 0, int passes = 1);

 private:
  // A group of one codec: its memory on the device, and what of it the host has.
  struct Launches {
    std::byte* memory = nullptr;
    Image tables, results;
  };
  template <class Group>
  [[nodiscard]] Launches make_launches(const Group& group);
  template <class Group>
  void queue_results_of(const std::optional<Group>& group, Launches& launches);
  [[nodiscard]] Image pinned_bytes(std::size_t bytes);
  // A row of the report, and the bytes that count for it.
  struct Work {
    std::string row;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] static Work decoding_of(const Member& member);
  [[nodiscard]] static Work encoding_of(const Member& member);
  void add_shares(std::span<const std::size_t> members, Work (*work_of)(const Member&), int pass,
                  std::size_t first, std::size_t last);
  // Where a file lies on the device.
  struct FileOnDevice {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
  };
  [[nodiscard]] FileOnDevice find_png(std::size_t index, OutputRecord& made) const;
  [[nodiscard]] FileOnDevice find_jpeg(std::size_t index, OutputRecord& made) const;

  Context& context_;
  std::vector<Member> members_;
  std::vector<std::size_t> decoded_, png_, jpeg_;  // of members_: who takes part
  std::optional<EntropyDecoding> entropy_;
  std::optional<JpegReconstruction> reconstruction_;
  std::optional<PngEncoding> png_encoding_;
  std::optional<JpegEncoding> jpeg_encoding_;
  std::vector<std::byte*> streams_;  // on the device, of decoded_
  Launches entropy_launches_, reconstruction_launches_, png_launches_, jpeg_launches_;
};

}  // namespace imgpipe
