// SHA-256, hex. Threading: pure functions; a Sha256Stream belongs to one thread at a time. Source: FIPS 180-4, by
// OpenSSL.
#ifndef WARPSMITH_COMMON_HASH_H_
#define WARPSMITH_COMMON_HASH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace warpsmith {

std::string Sha256Hex(std::string_view data);

// The digest of a text that comes in pieces. A copy goes on from where the original was.
class Sha256Stream {
 public:
  Sha256Stream();
  Sha256Stream(const Sha256Stream& other);
  Sha256Stream& operator=(const Sha256Stream& other);
  ~Sha256Stream();
  void Add(std::string_view data);
  std::string Hex() const;  // of what has come so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The first eight bytes of the SHA-256 as an integer: for seeds derived from names.
uint64_t Sha256Prefix(std::string_view data);

// `bytes` bytes from the kernel's generator, hex.
std::string RandomHex(int bytes);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_HASH_H_
