#include "gpu_worker/plan/dtype.h"

#include <array>
#include <utility>

namespace warpsmith::plan {
namespace {

constexpr std::array<std::pair<std::string_view, int64_t>, 17> kDtypes = {{
    {"float32", 4},
    {"float64", 8},
    {"float16", 2},
    {"bfloat16", 2},
    {"int8", 1},
    {"uint8", 1},
    {"int16", 2},
    {"uint16", 2},
    {"int32", 4},
    {"uint32", 4},
    {"int64", 8},
    {"uint64", 8},
    {"bool", 1},
    {"complex64", 8},
    {"complex128", 16},
    {"float8_e4m3fn", 1},
    {"float8_e5m2", 1},
}};

}  // namespace

std::optional<int64_t> DtypeBytes(std::string_view dtype) {
  for (const auto& [name, bytes] : kDtypes) {
    if (name == dtype) return bytes;
  }
  return std::nullopt;
}

std::string_view KnownDtypes() {
  return "float32, float64, float16, bfloat16, int8, uint8, int16, uint16, int32, uint32, int64, uint64, bool, "
         "complex64, complex128, float8_e4m3fn, float8_e5m2";
}

}  // namespace warpsmith::plan
