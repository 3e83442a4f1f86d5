#include "common/hash.h"

#include <openssl/evp.h>
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

struct Sha256Stream::State {
  State() : context(EVP_MD_CTX_new()) {
    if (context == nullptr) std::abort();
  }
  ~State() { EVP_MD_CTX_free(context); }
  EVP_MD_CTX* const context;
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
  static EVP_MD* const kind = EVP_MD_fetch(nullptr, "SHA256", nullptr);  // looked up once
  if (EVP_DigestInit_ex(state_->context, kind, nullptr) != 1) std::abort();
}
Sha256Stream::Sha256Stream(const Sha256Stream& other) : state_(std::make_unique<State>()) { *this = other; }
Sha256Stream& Sha256Stream::operator=(const Sha256Stream& other) {
  if (this != &other && EVP_MD_CTX_copy_ex(state_->context, other.state_->context) != 1) std::abort();
  return *this;
}
Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::Add(std::string_view data) {
  if (EVP_DigestUpdate(state_->context, data.data(), data.size()) != 1) std::abort();
}

std::string Sha256Stream::Hex() const {
  const Sha256Stream whole(*this);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  if (EVP_DigestFinal_ex(whole.state_->context, digest.data(), nullptr) != 1) std::abort();
  return warpsmith::Hex(digest.data(), digest.size());
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
