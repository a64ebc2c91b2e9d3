#include "lab/pipeline/user_kernel_library.h"

#include <algorithm>

#include <dlfcn.h>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

template <class Function>
bool find_function(void* library, const char* name, Function*& found) {
  found = reinterpret_cast<Function*>(::dlsym(library, name));
  return found != nullptr;
}

void* loaded(const std::string& path) {
  if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const char* why = ::dlerror();
  throw Error(ErrorKind::input, "cannot load the compiled library: " + printable(why == nullptr ? "" : why));
}

std::string text_of(const char* text) {
  return text == nullptr ? std::string() : printable(text);
}

// Throws if the lab has no such stage, or already has a variant of that name.
void check_name(const UserVariant& variant) {
  const Ladder* ladder = find_ladder(variant.stage);
  if (ladder == nullptr) throw Error(ErrorKind::input, "unknown stage '" + variant.stage + "'");
  if (std::ranges::find(ladder->variants, variant.name, &StageVariant::name) != ladder->variants.end())
    throw Error(ErrorKind::input, "the lab already has a variant '" + variant.name + "' of " + variant.stage +
                                      "; use another name");
}

ImgpipeShape shape_of(const FrameType& type, const CudaLaunch& launch) {
  return {static_cast<int>(type.width), static_cast<int>(type.height), launch.multiprocessors};
}

std::size_t user_scratch_bytes(const FrameType& type, const VariantLaunch& launch) {
  const ImgpipeShape shape = shape_of(type, launch);
  return launch.own->scratch_bytes == nullptr ? 0 : launch.own->scratch_bytes(&shape);
}

CudaStatus launch_user_kernel(const StageCall<Device>& call, const VariantLaunch& launch) {
  const std::size_t scratch_bytes = user_scratch_bytes(call.in.type, launch);
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  const ImgpipeCall given{.in = call.in.planes[0].data,
                          .in_pitch = static_cast<std::size_t>(call.in.planes[0].stride_bytes),
                          .out = call.out.planes[0].data,
                          .out_pitch = static_cast<std::size_t>(call.out.planes[0].stride_bytes),
                          .counts = reinterpret_cast<unsigned long long*>(call.histogram.data),
                          .scratch = scratch_bytes == 0 ? nullptr : launch.scratch,
                          .scratch_bytes = scratch_bytes,
                          .stream = launch.stream,
                          .shape = shape_of(call.in.type, launch)};
  return launch.own->launch(&given);
}

}  // namespace

UserKernelLibrary::UserKernelLibrary(const std::string& path, const std::string& file) {
  void* library = loaded(path);
  ImgpipeAbi* abi = nullptr;
  ImgpipeVariants* listed = nullptr;
  if (!find_function(library, "imgpipe_kernel_abi", abi) ||
      !find_function(library, "imgpipe_kernel_variants", listed) ||
      !find_function(library, "imgpipe_kernel_use_device", use_device_))
    throw Error(ErrorKind::input, "does not include \"imgpipe_kernel.h\"");
  if (const int version = abi(); version != IMGPIPE_KERNEL_ABI)
    throw Error(ErrorKind::input, "imgpipe_kernel.h is version " + std::to_string(version) +
                                      ", but this program needs version " +
                                      std::to_string(IMGPIPE_KERNEL_ABI) +
                                      "; delete the copy next to the file");
  for (const ImgpipeVariant* each = listed(); each != nullptr; each = each->next) {
    if (each->launch == nullptr) continue;
    UserVariant variant{.stage = text_of(each->stage),
                        .name = text_of(each->name),
                        .idea = text_of(each->idea),
                        .file = file,
                        .launch = each->launch};
    check_name(variant);
    variants_.push_back(std::move(variant));
  }
  if (variants_.empty())
    throw Error(ErrorKind::input,
                "no variants; add one such as IMGPIPE_HIST(name, \"idea\") {...} (see imgpipe bench "
                "--template hist)");
  for (const ImgpipeVariant* each = listed(); each != nullptr; each = each->next) {
    if (each->scratch_bytes == nullptr) continue;
    const auto owner = std::ranges::find_if(variants_, [&](const UserVariant& variant) {
      return variant.stage == text_of(each->stage) && variant.name == text_of(each->name);
    });
    if (owner == variants_.end())
      throw Error(ErrorKind::input, "IMGPIPE_SCRATCH(" + text_of(each->stage) + ", " + text_of(each->name) +
                                        "): no variant of that name in this file");
    owner->scratch_bytes = each->scratch_bytes;
  }
}

void UserKernelLibrary::use_device(int index) const {
  if (const int status = use_device_(index); status != 0)
    throw Error(ErrorKind::device, "the file's CUDA runtime cannot use device " + std::to_string(index) +
                                       ": cudaSetDevice returned error " + std::to_string(status));
}

StageVariant user_variant(const UserVariant& variant) {
  StageVariant stage_variant;
  stage_variant.name = variant.name;
  stage_variant.idea = variant.idea;
  stage_variant.origin = variant.file;
  stage_variant.launch = launch_user_kernel;
  stage_variant.scratch_bytes = user_scratch_bytes;
  stage_variant.grid = Grid::own;
  stage_variant.own = &variant;
  return stage_variant;
}

}  // namespace imgpipe
