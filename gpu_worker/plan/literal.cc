#include "gpu_worker/plan/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "gpu_worker/plan/plan_error.h"

namespace warpsmith::plan {
namespace {

struct TypeRow {
  std::string_view name;
  int64_t bytes;
  int64_t min;
  int64_t max;
};

// In LiteralType's order. u64's upper half stands in Literal::large.
constexpr std::array<TypeRow, 11> kTypes = {{
    {"bool", 1, 0, 1},
    {"i8", 1, INT8_MIN, INT8_MAX},
    {"u8", 1, 0, UINT8_MAX},
    {"i32", 4, INT32_MIN, INT32_MAX},
    {"u32", 4, 0, UINT32_MAX},
    {"i64", 8, INT64_MIN, INT64_MAX},
    {"u64", 8, 0, INT64_MAX},
    {"f16", 2, 0, 0},
    {"bf16", 2, 0, 0},
    {"f32", 4, 0, 0},
    {"f64", 8, 0, 0},
}};

const TypeRow& RowOf(LiteralType type) { return kTypes[static_cast<size_t>(type)]; }

std::string LittleEndian(uint64_t value, int64_t bytes) {
  std::string result;
  for (int64_t i = 0; i < bytes; ++i) result.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  return result;
}

// `value` in a binary format of `fraction_bits` and `exponent_bits`, straight from the double so that it is rounded
// once; nullopt where it overflows.
std::optional<uint64_t> RoundTo(double value, int fraction_bits, int exponent_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint64_t sign = std::signbit(value) ? uint64_t{1} << (fraction_bits + exponent_bits) : 0;
  if (value == 0) return sign;
  const int exponent = std::max(std::ilogb(value), 1 - bias);  // below: subnormal
  // In units of the last place; nearbyint rounds to even in the default mode.
  const double units = std::nearbyint(std::ldexp(std::fabs(value), fraction_bits - exponent));
  // Carries run from the fraction into the exponent by themselves.
  const uint64_t magnitude =
      (static_cast<uint64_t>(exponent + bias - 1) << fraction_bits) + static_cast<uint64_t>(units);
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  if (magnitude >= infinity) return std::nullopt;
  return sign | magnitude;
}

}  // namespace

std::optional<LiteralType> LiteralTypeNamed(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<LiteralType>(i);
  }
  return std::nullopt;
}

std::string_view LiteralTypeName(LiteralType type) { return RowOf(type).name; }
int64_t LiteralBytes(LiteralType type) { return RowOf(type).bytes; }
bool IsFloatingPoint(LiteralType type) { return type >= LiteralType::kF16; }

absl::StatusOr<std::string> EncodeInteger(LiteralType type, int64_t value) {
  const TypeRow& row = RowOf(type);
  if (value < row.min || value > row.max) {
    return PlanError(reason::kRange, fmt::format("{} is out of {}'s range: {} to {}", value, row.name, row.min,
                                                 type == LiteralType::kU64 ? std::numeric_limits<uint64_t>::max()
                                                                           : static_cast<uint64_t>(row.max)));
  }
  return LittleEndian(static_cast<uint64_t>(value), row.bytes);
}

absl::StatusOr<std::string> EncodeNumber(LiteralType type, double value) {
  std::optional<uint64_t> bits;
  if (std::isfinite(value)) {
    switch (type) {
      case LiteralType::kF16:
        bits = RoundTo(value, 10, 5);
        break;
      case LiteralType::kBf16:
        bits = RoundTo(value, 7, 8);
        break;
      case LiteralType::kF32:
        bits = RoundTo(value, 23, 8);
        break;
      default:
        bits = std::bit_cast<uint64_t>(value);
    }
  }
  if (!bits.has_value()) {
    return PlanError(reason::kRange, fmt::format("{} is out of {}'s range", value, LiteralTypeName(type)));
  }
  return LittleEndian(*bits, LiteralBytes(type));
}

std::string EncodeLarge(uint64_t value) { return LittleEndian(value, 8); }

}  // namespace warpsmith::plan
