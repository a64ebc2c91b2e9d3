#include <algorithm>
#include <utility>

#include "images/error.h"
#include "lab/kernels/nvjpeg_functions.cuh"
#include "lab/pipeline/nvjpeg_runs.h"
#include "pipeline/cuda/cuda_api.h"

namespace imgpipe {

#if IMGPIPE_HAS_NVJPEG

namespace {

const char* text_of(nvjpegStatus_t status) {
  switch (status) {
    case NVJPEG_STATUS_BAD_JPEG:
      return "invalid file";
    case NVJPEG_STATUS_JPEG_NOT_SUPPORTED:
      return "unsupported kind of file";
    case NVJPEG_STATUS_ARCH_MISMATCH:
      return "the device lacks the hardware";
    case NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED:
      return "not supported";
    case NVJPEG_STATUS_ALLOCATOR_FAILURE:
      return "not enough memory";
    default:
      return "failed";
  }
}

struct NvjpegError {
  nvjpegStatus_t status;
};
void check_nvjpeg(nvjpegStatus_t status) {
  if (status != NVJPEG_STATUS_SUCCESS) throw NvjpegError{status};
}

const unsigned char* chars(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// Owns an nvJPEG object.
template <class Object>
class Owned {
 public:
  using Destroy = nvjpegStatus_t (*)(Object);
  Owned() = default;
  ~Owned() {
    if (object_ != nullptr) (void)destroy_(object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  template <class Make>
  void make(Destroy destroy, const Make& make) {
    destroy_ = destroy;
    check_nvjpeg(make(&object_));
  }
  [[nodiscard]] Object get() const { return object_; }

 private:
  Object object_ = nullptr;
  Destroy destroy_ = nullptr;
};

class Handle {
 public:
  Handle(const NvjpegFunctions& functions, nvjpegBackend_t backend) {
#ifdef NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION
    constexpr unsigned kFlags = (NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION);
#else
    constexpr unsigned kFlags = 0;
#endif
    handle_.make(functions.destroy, [&](nvjpegHandle_t* handle) {
      return functions.create(backend, nullptr, nullptr, kFlags, handle);
    });
  }
  [[nodiscard]] nvjpegHandle_t get() const {
    return handle_.get();
  }

 private:
  Owned<nvjpegHandle_t> handle_;
};

nvjpegImage_t image_of(const Plane<Sample8, Device>& plane) {
  nvjpegImage_t image{};
  image.channel[0] = plane.data;
  image.pitch[0] = static_cast<std::size_t>(plane.stride);
  return image;
}

nvjpegOutputFormat_t format_of(const CodecSubject& subject) {
  return subject.pixels.shape().channels == 3 ? NVJPEG_OUTPUT_RGBI : NVJPEG_OUTPUT_Y;
}

// Decodes all images in one call, with the device's decoding engines.
class HardwareDecoding final : public NvjpegRun {
 public:
  HardwareDecoding(const CodecGroup& group, std::span<const CodecTask> tasks,
                   const NvjpegFunctions& functions)
      : functions_(functions), handle_(functions, NVJPEG_BACKEND_HARDWARE), subject_(group.subject) {
    state_.make(functions.destroy_state,
                [&](nvjpegJpegState_t* state) { return functions.create_state(handle_.get(), state); });
    for (const CodecTask& task : tasks) {
      files_.push_back(chars(subject_->file));
      bytes_.push_back(subject_->file.size());
      images_.push_back(image_of(task.reconstruction.pixels));
    }
    check_nvjpeg(functions.begin_batch(handle_.get(), state_.get(), static_cast<int>(files_.size()), 1,
                                       format_of(*subject_)));
  }

  std::string run() override {
    const nvjpegStatus_t status = functions_.decode_batch(handle_.get(), state_.get(), files_.data(),
                                                          bytes_.data(), images_.data(), stream_.get());
    IMGPIPE_CUDA(cudaStreamSynchronize(stream_.get()));
    return status == NVJPEG_STATUS_SUCCESS ? "" : text_of(status);
  }

 private:
  const NvjpegFunctions& functions_;
  Stream stream_;
  Handle handle_;
  std::shared_ptr<const CodecSubject> subject_;
  Owned<nvjpegJpegState_t> state_;
  std::vector<const unsigned char*> files_;
  std::vector<std::size_t> bytes_;
  std::vector<nvjpegImage_t> images_;
};

// Thread `i` processes images `i`, `i + n`, `i + 2n`, ... on its own stream.
class Pipelines : public NvjpegRun {
 public:
  Pipelines(ThreadTeam& crew, bool all_threads, int device, std::size_t images)
      : crew_(crew),
        device_(device),
        images_(images),
        threads_(all_threads ? std::min(static_cast<std::size_t>(crew.count()), images) : 1),
        said_(threads_, NVJPEG_STATUS_SUCCESS),
        failed_(threads_, cudaSuccess) {}

  std::string run() final {
    if (threads_ == 1) {
      work(0);
    } else {
      crew_.run([&](int thread) {
        if (static_cast<std::size_t>(thread) < threads_) work(static_cast<std::size_t>(thread));
      });
    }
    for (const cudaError_t status : failed_) IMGPIPE_CUDA(status);
    for (const nvjpegStatus_t status : said_) {
      if (status != NVJPEG_STATUS_SUCCESS) return text_of(status);
    }
    return "";
  }

 protected:
  [[nodiscard]] std::size_t threads() const { return threads_; }
  // Processes one image on a pipeline's stream; may return before it is done.
  [[nodiscard]] virtual nvjpegStatus_t one(std::size_t pipeline, std::size_t image) = 0;
  [[nodiscard]] virtual cudaStream_t stream(std::size_t pipeline) const = 0;
  // Whether the next image may start before the previous one is done.
  [[nodiscard]] virtual bool queues() const = 0;

 private:
  void work(std::size_t thread) {
    failed_[thread] = cudaSetDevice(device_);
    said_[thread] = NVJPEG_STATUS_SUCCESS;
    for (std::size_t i = thread; i < images_; i += threads_) {
      if (const nvjpegStatus_t status = one(thread, i); status != NVJPEG_STATUS_SUCCESS)
        said_[thread] = status;
      if (!queues()) note(thread, cudaStreamSynchronize(stream(thread)));
    }
    note(thread, cudaStreamSynchronize(stream(thread)));
  }
  void note(std::size_t thread, cudaError_t status) {
    if (status != cudaSuccess) failed_[thread] = status;
  }

  ThreadTeam& crew_;
  int device_;
  std::size_t images_, threads_;
  std::vector<nvjpegStatus_t> said_;
  std::vector<cudaError_t> failed_;
};

class HybridDecoding final : public Pipelines {
 public:
  HybridDecoding(const CodecGroup& group, std::span<const CodecTask> tasks, ThreadTeam& crew,
                 bool all_threads, int device, const NvjpegFunctions& f)
      : Pipelines(crew, all_threads, device, group.images),
        functions_(f),
        handle_(f, NVJPEG_BACKEND_GPU_HYBRID),
        subject_(group.subject) {
    for (const CodecTask& task : tasks) images_.push_back(image_of(task.reconstruction.pixels));
    for (std::size_t i = 0; i < threads(); ++i) {
      pipelines_.push_back(std::make_unique<Pipeline>());
      Pipeline& p = *pipelines_.back();
      p.decoder.make(f.destroy_decoder, [&](nvjpegJpegDecoder_t* made) {
        return f.create_decoder(handle_.get(), NVJPEG_BACKEND_GPU_HYBRID, made);
      });
      p.state.make(f.destroy_state, [&](nvjpegJpegState_t* made) {
        return f.create_decoder_state(handle_.get(), p.decoder.get(), made);
      });
      p.pinned.make(f.destroy_pinned, [&](nvjpegBufferPinned_t* made) {
        return f.create_pinned(handle_.get(), nullptr, made);
      });
      p.device.make(f.destroy_device, [&](nvjpegBufferDevice_t* made) {
        return f.create_device(handle_.get(), nullptr, made);
      });
      p.jpeg.make(f.destroy_stream,
                  [&](nvjpegJpegStream_t* made) { return f.create_stream(handle_.get(), made); });
      p.parameters.make(f.destroy_parameters,
                        [&](nvjpegDecodeParams_t* made) { return f.create_parameters(handle_.get(), made); });
      check_nvjpeg(f.attach_pinned(p.state.get(), p.pinned.get()));
      check_nvjpeg(f.attach_device(p.state.get(), p.device.get()));
      check_nvjpeg(f.set_format(p.parameters.get(), format_of(*subject_)));
    }
  }

 protected:
  nvjpegStatus_t one(std::size_t pipeline, std::size_t image) override {
    Pipeline& p = *pipelines_[pipeline];
    const nvjpegStatus_t status =
        functions_.parse(handle_.get(), chars(subject_->file), subject_->file.size(), 0, 0, p.jpeg.get());
    if (status != NVJPEG_STATUS_SUCCESS) return status;
    return functions_.decode(handle_.get(), p.decoder.get(), p.state.get(), p.jpeg.get(), &images_[image],
                             p.parameters.get(), p.stream.get());
  }
  [[nodiscard]] cudaStream_t stream(std::size_t pipeline) const override {
    return pipelines_[pipeline]->stream.get();
  }
  [[nodiscard]] bool queues() const override { return false; }

 private:
  struct Pipeline {
    Stream stream;
    Owned<nvjpegJpegDecoder_t> decoder;
    Owned<nvjpegBufferPinned_t> pinned;
    Owned<nvjpegBufferDevice_t> device;
    Owned<nvjpegJpegState_t> state;
    Owned<nvjpegJpegStream_t> jpeg;
    Owned<nvjpegDecodeParams_t> parameters;
  };

  const NvjpegFunctions& functions_;
  Handle handle_;
  std::shared_ptr<const CodecSubject> subject_;
  std::vector<nvjpegImage_t> images_;
  std::vector<std::unique_ptr<Pipeline>> pipelines_;
};

class GreyEncoding final : public Pipelines {
 public:
  GreyEncoding(const CodecGroup& group, std::span<const CodecTask> tasks, ThreadTeam& crew, bool all_threads,
               int device, const NvjpegFunctions& f)
      : Pipelines(crew, all_threads, device, group.images),
        functions_(f),
        handle_(f, NVJPEG_BACKEND_DEFAULT),
        images_(group.images) {
    for (std::size_t i = 0; i < threads(); ++i) streams_.push_back(std::make_unique<Stream>());
    for (std::size_t i = 0; i < images_.size(); ++i) {
      images_[i] = std::make_unique<Encoded>();
      Encoded& one = *images_[i];
      const Plane<const Sample8, Device>& plane = tasks[i].jpeg.pixels;
      one.width = static_cast<int>(plane.width);
      one.height = static_cast<int>(plane.height);
      // nvJPEG takes pointers to non-const but does not write.
      one.source.channel[0] = const_cast<unsigned char*>(plane.data);
      one.source.pitch[0] = static_cast<std::size_t>(plane.stride);
      cudaStream_t on = stream(i % threads());
      one.state.make(f.destroy_encoder,
                     [&](nvjpegEncoderState_t* made) { return f.create_encoder(handle_.get(), made, on); });
      one.settings.make(f.destroy_settings, [&](nvjpegEncoderParams_t* made) {
        return f.create_settings(handle_.get(), made, on);
      });
      check_nvjpeg(f.set_quality(one.settings.get(), kLabQuality, on));
      check_nvjpeg(f.set_sampling(one.settings.get(), NVJPEG_CSS_GRAY, on));
    }
    for (const auto& each : streams_) IMGPIPE_CUDA(cudaStreamSynchronize(each->get()));
  }

  std::vector<std::byte> file(std::size_t image) override {
    cudaStream_t on = stream(image % threads());
    std::size_t bytes = 0;
    retrieve(image, nullptr, bytes, on);
    IMGPIPE_CUDA(cudaStreamSynchronize(on));
    std::vector<std::byte> file(bytes);
    retrieve(image, reinterpret_cast<unsigned char*>(file.data()), bytes, on);
    IMGPIPE_CUDA(cudaStreamSynchronize(on));
    file.resize(bytes);
    return file;
  }

 protected:
  nvjpegStatus_t one(std::size_t pipeline, std::size_t image) override {
    Encoded& each = *images_[image];
    return functions_.encode(handle_.get(), each.state.get(), each.settings.get(), &each.source,
                             NVJPEG_CSS_GRAY, each.width, each.height, stream(pipeline));
  }
  [[nodiscard]] cudaStream_t stream(std::size_t pipeline) const override { return streams_[pipeline]->get(); }
  [[nodiscard]] bool queues() const override { return true; }

 private:
  struct Encoded {
    int width = 0, height = 0;
    nvjpegImage_t source{};
    Owned<nvjpegEncoderState_t> state;
    Owned<nvjpegEncoderParams_t> settings;
  };

  void retrieve(std::size_t image, unsigned char* to, std::size_t& bytes, cudaStream_t on) const {
    if (functions_.retrieve(handle_.get(), images_[image]->state.get(), to, &bytes, on) !=
        NVJPEG_STATUS_SUCCESS)
      throw Error(ErrorKind::device, "nvJPEG: cannot retrieve the encoded file");
  }

  const NvjpegFunctions& functions_;
  Handle handle_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<Encoded>> images_;
};

}  // namespace

std::unique_ptr<NvjpegRun> make_nvjpeg_run(const CodecVariant& variant, const CodecGroup& group,
                                           std::span<const CodecTask> tasks, ThreadTeam& crew, int device,
                                           const NvjpegFunctions& functions, std::string& refusal) {
  try {
    if (variant.nvjpeg == Nvjpeg::hardware)
      return std::make_unique<HardwareDecoding>(group, tasks, functions);
    if (variant.nvjpeg == Nvjpeg::hybrid)
      return std::make_unique<HybridDecoding>(group, tasks, crew, variant.all_threads, device, functions);
    return std::make_unique<GreyEncoding>(group, tasks, crew, variant.all_threads, device, functions);
  } catch (const NvjpegError& refused) {
    refusal = text_of(refused.status);
    return nullptr;
  }
}

#else

std::unique_ptr<NvjpegRun> make_nvjpeg_run(const CodecVariant&, const CodecGroup&, std::span<const CodecTask>,
                                           ThreadTeam&, int, const NvjpegFunctions&, std::string& refusal) {
  refusal = "this build has no nvJPEG";
  return nullptr;
}

#endif

}  // namespace imgpipe
