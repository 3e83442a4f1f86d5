// SHA-256, hex. Threading: pure. Source: FIPS 180-4, by OpenSSL.
#ifndef WARPSMITH_COMMON_HASH_H_
#define WARPSMITH_COMMON_HASH_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace warpsmith {

std::string Sha256Hex(std::string_view data);

// The first eight bytes of the SHA-256 as an integer: for seeds derived from names.
uint64_t Sha256Prefix(std::string_view data);

// `bytes` bytes from the kernel's generator, hex.
std::string RandomHex(int bytes);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_HASH_H_
