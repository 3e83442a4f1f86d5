#include "tests/simulation/seeded_ids.h"

// OpenSSL's seam for another generator is marked as deprecated and has no successor of this size.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/rand.h>

#include <stdexcept>

#include "tests/simulation/random.h"

namespace warpsmith::simulation {
namespace {

Random& IdSource() {
  static Random source(0);
  return source;
}

int DrawBytes(unsigned char* data, int size) {
  for (int i = 0; i < size; ++i) data[i] = static_cast<unsigned char>(IdSource().Next());
  return 1;
}

int SeededStatus() { return 1; }

const RAND_METHOD kSeededMethod = {nullptr, DrawBytes, nullptr, nullptr, DrawBytes, SeededStatus};

}  // namespace

SeededIds::SeededIds(uint64_t seed) {
  IdSource() = Random(seed);
  if (RAND_set_rand_method(&kSeededMethod) != 1) throw std::runtime_error("OpenSSL takes no other generator");
}

SeededIds::~SeededIds() { RAND_set_rand_method(nullptr); }

}  // namespace warpsmith::simulation
