// Tar archives, block by block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace imgpipe::test {

struct TarMember {
  std::string name;
  std::string data{};
  char type = '0';
  std::string link{};
  std::string owner_field = "0001750";
  std::string size_field{};  // replaces the size of `data`
};

// A ustar header, or a GNU one with `magic`.
inline std::string tar_header(const TarMember& member, const std::string& magic = std::string("ustar\0"
                                                                                              "00",
                                                                                              8)) {
  std::string block(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { block.replace(at, text.size(), text); };
  const auto octal = [](std::size_t number, int digits) {
    std::array<char, 24> text{};
    (void)std::snprintf(text.data(), text.size(), "%0*zo", digits, number);
    return std::string(text.data());
  };
  put(0, member.name.substr(0, 100));
  put(100, "0000644");
  put(108, member.owner_field);
  put(116, "0001750");
  put(124, member.size_field.empty() ? octal(member.data.size(), 11) : member.size_field);
  put(136, octal(1'700'000'000, 11));
  put(148, "        ");
  put(156, std::string(1, member.type));
  put(157, member.link.substr(0, 100));
  put(257, magic);
  std::size_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  return block;
}

// Data with the padding to whole blocks.
inline std::string tar_data(std::string data) {
  data.resize((data.size() + 511) / 512 * 512);
  return data;
}

// Members without the end of the archive.
inline std::string tar_members(const std::vector<TarMember>& members) {
  std::string archive;
  for (const TarMember& member : members) archive += tar_header(member) + tar_data(member.data);
  return archive;
}

inline std::string tar_file(const std::vector<TarMember>& members) {
  return tar_members(members) + std::string(1024, '\0');
}

}  // namespace imgpipe::test
