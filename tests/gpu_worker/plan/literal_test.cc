#include "gpu_worker/plan/literal.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <random>

#include "gpu_worker/plan/plan_error.h"

namespace warpsmith::plan {
namespace {

uint64_t Bits(const std::string& bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

// The value of a 16-bit float, by its definition.
double HalfValue(uint32_t bits, int fraction_bits, int bias) {
  const int exponent = static_cast<int>(bits >> fraction_bits);
  const double fraction = std::ldexp(bits & ((1u << fraction_bits) - 1), -fraction_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
}

TEST_CASE("integers are little-endian and have their type's range", "[unit]") {
  CHECK(EncodeInteger(LiteralType::kI32, 0x01020304).value() == std::string("\x04\x03\x02\x01"));
  CHECK(Bits(EncodeInteger(LiteralType::kI32, -1).value()) == 0xFFFFFFFF);
  CHECK(EncodeLarge(UINT64_MAX) == std::string(8, '\xFF'));
  const std::tuple<LiteralType, int64_t, int64_t, size_t> cases[] = {
      {LiteralType::kBool, 0, 1, 1},         {LiteralType::kI8, -128, 127, 1},
      {LiteralType::kU8, 0, 255, 1},         {LiteralType::kI32, INT32_MIN, INT32_MAX, 4},
      {LiteralType::kU32, 0, UINT32_MAX, 4},
  };
  for (const auto& [type, min, max, bytes] : cases) {
    INFO(LiteralTypeName(type));
    CHECK(EncodeInteger(type, min).value().size() == bytes);
    CHECK(Bits(EncodeInteger(type, max).value()) == (static_cast<uint64_t>(max) & (~0ull >> (64 - 8 * bytes))));
    CHECK(PlanErrorReason(EncodeInteger(type, min - 1).status()) == "range");
    CHECK(PlanErrorReason(EncodeInteger(type, max + 1).status()) == "range");
  }
  CHECK(EncodeInteger(LiteralType::kI64, INT64_MIN).ok());
  CHECK(EncodeInteger(LiteralType::kU64, INT64_MAX).ok());
  CHECK(PlanErrorReason(EncodeInteger(LiteralType::kU64, -1).status()) == "range");
}

TEST_CASE("float32 literals are what the processor rounds to", "[unit]") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const double value =
        std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -static_cast<int>(random() % 200));
    REQUIRE(Bits(EncodeNumber(LiteralType::kF32, value).value()) == std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
  for (double value : {0.0, -0.0, 1.0, 0.1, 1e-45, 1e-50, -1e-40, static_cast<double>(FLT_MAX), -3.5e-46}) {
    CHECK(Bits(EncodeNumber(LiteralType::kF32, value).value()) == std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
  CHECK(Bits(EncodeNumber(LiteralType::kF64, 0.1).value()) == std::bit_cast<uint64_t>(0.1));
}

TEST_CASE("16-bit floats round to the nearest, ties to even", "[unit]") {
  struct Format {
    LiteralType type;
    int fraction_bits, bias;
    uint32_t infinity;
  };
  for (const Format& format : {Format{LiteralType::kF16, 10, 15, 0x7C00}, Format{LiteralType::kBf16, 7, 127, 0x7F80}}) {
    INFO(LiteralTypeName(format.type));
    for (uint32_t bits = 0; bits + 1 < format.infinity; ++bits) {
      const double low = HalfValue(bits, format.fraction_bits, format.bias);
      const double high = HalfValue(bits + 1, format.fraction_bits, format.bias);
      const double middle = (low + high) / 2;
      REQUIRE(Bits(EncodeNumber(format.type, low).value()) == bits);
      REQUIRE(Bits(EncodeNumber(format.type, -low).value()) == (bits | 0x8000));
      REQUIRE(Bits(EncodeNumber(format.type, middle).value()) == bits + bits % 2);
      REQUIRE(Bits(EncodeNumber(format.type, std::nextafter(middle, 0)).value()) == bits);
      REQUIRE(Bits(EncodeNumber(format.type, std::nextafter(middle, high)).value()) == bits + 1);
    }
  }
}

TEST_CASE("floating-point literals out of range are refused", "[unit]") {
  const std::pair<LiteralType, double> cases[] = {
      {LiteralType::kF16, 65520},  {LiteralType::kF16, -65520},  {LiteralType::kF16, 131072},
      {LiteralType::kF16, 1e300},  {LiteralType::kBf16, 3.4e38}, {LiteralType::kBf16, 1e39},
      {LiteralType::kF32, 3.5e38}, {LiteralType::kF32, -1e300},  {LiteralType::kF64, INFINITY},
      {LiteralType::kF32, NAN},
  };
  for (const auto& [type, value] : cases) {
    INFO(LiteralTypeName(type) << " " << value);
    CHECK(PlanErrorReason(EncodeNumber(type, value).status()) == "range");
  }
  CHECK(Bits(EncodeNumber(LiteralType::kF16, 65504).value()) == 0x7BFF);
  CHECK(Bits(EncodeNumber(LiteralType::kF16, 65519).value()) == 0x7BFF);
  CHECK(Bits(EncodeNumber(LiteralType::kBf16, 3.38e38).value()) == 0x7F7E);
}

TEST_CASE("literal types are known by their names", "[unit]") {
  for (const char* name : {"bool", "i8", "u8", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"}) {
    INFO(name);
    REQUIRE(LiteralTypeNamed(name).has_value());
    CHECK(LiteralTypeName(*LiteralTypeNamed(name)) == name);
  }
  for (const char* name : {"", "i16", "float", "F32", "int"}) CHECK_FALSE(LiteralTypeNamed(name).has_value());
}

}  // namespace
}  // namespace warpsmith::plan
