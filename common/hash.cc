#include "common/hash.h"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include <array>
#include <cstdlib>
#include <vector>

namespace warpsmith {
namespace {

std::string Hex(const unsigned char* data, size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * size);
  for (size_t i = 0; i < size; ++i) {
    out.push_back(kDigits[data[i] >> 4]);
    out.push_back(kDigits[data[i] & 15]);
  }
  return out;
}

std::array<unsigned char, SHA256_DIGEST_LENGTH> Digest(std::string_view data) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest.data());
  return digest;
}

}  // namespace

std::string Sha256Hex(std::string_view data) {
  auto digest = Digest(data);
  return Hex(digest.data(), digest.size());
}

uint64_t Sha256Prefix(std::string_view data) {
  auto digest = Digest(data);
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | digest[i];
  return value;
}

std::string RandomHex(int bytes) {
  std::vector<unsigned char> data(bytes);
  if (RAND_bytes(data.data(), bytes) != 1) std::abort();  // a machine without randomness cannot keep secrets
  return Hex(data.data(), data.size());
}

}  // namespace warpsmith
