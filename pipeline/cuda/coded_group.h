// Decodes and encodes several images on one stream, in the same launches.
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

// The functions are called in this order, each once, or once per pass if they have a `pass`; collect() is
// called once per member. All throw Error(memory) or Error(device).
class CodedGroup {
 public:
  struct Member {
    CodedImage* image = nullptr;
    DeviceRun* run = nullptr;  // must not be Decoded::on_host if image->jpeg is set
  };

  // All referenced objects must outlive this.
  CodedGroup(Context& context, std::vector<Member> members);

  // Takes memory, and uploads the parameters of the kernels.
  void prepare_decoding();
  void upload(int pass);
  void launch_decoding(int pass);
  // The same as prepare_decoding(), for the encoders.
  void prepare_encoding();
  void launch_encoding(int pass);
  // Queues the download of the decoders' results and of the sizes of the files.
  void queue_results();
  // Sets CodedImage::is_intact of the decoded images. All queued work must be done.
  void judge();
  // Queues the download of an intact member's file to the context's pinned memory. Does nothing if the device
  // made no file; the pixels are then still available.
  void collect(std::size_t member, int first_pass = 0, int passes = 1);

 private:
  // One codec's group of images: device memory, and its parameters and results on the host.
  struct Launches {
    std::byte* memory = nullptr;
    Image tables, results;
  };
  template <class Group>
  [[nodiscard]] Launches make_launches(const Group& group);
  template <class Group>
  void queue_results_of(const std::optional<Group>& group, Launches& launches);
  [[nodiscard]] Image pinned_bytes(std::size_t bytes);
  struct Work {
    std::string row;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] static Work decoding_of(const Member& member);
  [[nodiscard]] static Work encoding_of(const Member& member);
  void add_shares(std::span<const std::size_t> members, Work (*work_of)(const Member&), int pass,
                  std::size_t first, std::size_t last);
  struct FileOnDevice {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
  };
  [[nodiscard]] FileOnDevice find_png(std::size_t index, OutputRecord& made) const;
  [[nodiscard]] FileOnDevice find_jpeg(std::size_t index, OutputRecord& made) const;

  Context& context_;
  std::vector<Member> members_;
  std::vector<std::size_t> decoded_, png_, jpeg_;  // indices into members_
  std::optional<EntropyDecoding> entropy_;
  std::optional<JpegReconstruction> reconstruction_;
  std::optional<PngEncoding> png_encoding_;
  std::optional<JpegEncoding> jpeg_encoding_;
  std::vector<std::byte*> streams_;  // the scans on the device, by index into decoded_
  Launches entropy_launches_, reconstruction_launches_, png_launches_, jpeg_launches_;
};

}  // namespace imgpipe
