// What must hold whatever the input: a fuzzer stops, with the input kept, where it does not.
#ifndef WARPSMITH_FUZZ_CHECK_H_
#define WARPSMITH_FUZZ_CHECK_H_

#include <cstdio>
#include <cstdlib>

#define FUZZ_CHECK(condition)                                                             \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

#endif  // WARPSMITH_FUZZ_CHECK_H_
