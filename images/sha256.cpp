#include "images/sha256.h"

#include <array>
#include <cstdint>

#include <sha2.h>
#include <sys/types.h>  // sha2.h needs it

namespace imgpipe {

struct Sha256::State {
  SHA2_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  ::SHA256Init(&state_->context);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::add(std::span<const std::byte> bytes) {
  ::SHA256Update(&state_->context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string Sha256::hex() const {
  State ended(*state_);
  std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
  ::SHA256End(&ended.context, text.data());
  return text.data();
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(std::as_bytes(std::span(bytes)));
  return hash.hex();
}

}  // namespace imgpipe
