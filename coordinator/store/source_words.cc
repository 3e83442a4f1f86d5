#include "coordinator/store/source_words.h"

#include <algorithm>
#include <set>
#include <string>

namespace warpsmith::store {
namespace {

using Words = std::set<std::string, std::less<>>;

void Add(Words* words, std::string_view list) {
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(' ', at), list.size());
    if (end > at) words->emplace(list.substr(at, end - at));
    at = end + 1;
  }
}

const Words& Types() {
  static const Words words = [] {
    Words types;
    Add(&types,
        "void bool char short int long float double unsigned signed auto wchar_t size_t ptrdiff_t int8_t int16_t "
        "int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t half half2 __half __half2 nv_bfloat16 "
        "__nv_bfloat16 nv_bfloat162 __nv_bfloat162 dim3 clock_t uint uchar ushort ulong");
    for (const char* base : {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong",
                             "ulonglong", "float", "double"}) {
      for (const char* width : {"1", "2", "3", "4"}) types.insert(std::string(base) + width);
    }
    return types;
  }();
  return words;
}

const Words& Others() {
  static const Words words = [] {
    Words others;
    Add(&others,
        "alignas alignof and and_eq asm bitand bitor break case catch char8_t char16_t char32_t class compl concept "
        "const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete "
        "do dynamic_cast else enum explicit export extern false for friend goto if inline mutable namespace new "
        "noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires "
        "restrict return sizeof static static_assert static_cast struct switch template this thread_local throw true "
        "try typedef typeid typename union using virtual volatile while xor xor_eq final override");
    Add(&others,
        "threadIdx blockIdx blockDim gridDim warpSize NULL INFINITY NAN HUGE_VALF HUGE_VAL FLT_MAX FLT_MIN "
        "FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON INT_MAX INT_MIN UINT_MAX LLONG_MAX LLONG_MIN ULLONG_MAX CHAR_BIT "
        "M_PI M_E M_SQRT2 M_LOG2E M_LN2 assert printf malloc free memcpy memset main std cuda nvcuda wmma "
        "cooperative_groups cg clock clock64 warpsmith");
    // Overloads: a function of the file's own with such a name may share calls with the built-in one.
    for (const char* base :
         {"abs",       "acos",     "acosh", "asin",      "asinh",     "atan",   "atan2",   "atanh",   "cbrt",
          "ceil",      "copysign", "cos",   "cosh",      "cospi",     "erf",    "erfc",    "erfcinv", "erfcx",
          "erfinv",    "exp",      "exp10", "exp2",      "expm1",     "fabs",   "fdim",    "floor",   "fma",
          "fmax",      "fmin",     "fmod",  "frexp",     "hypot",     "ilogb",  "ldexp",   "lgamma",  "llrint",
          "llround",   "log",      "log10", "log1p",     "log2",      "logb",   "lrint",   "lround",  "max",
          "min",       "modf",     "nan",   "nearbyint", "nextafter", "norm",   "normcdf", "pow",     "rcbrt",
          "remainder", "rhypot",   "rint",  "round",     "rsqrt",     "scalbn", "sin",     "sincos",  "sincospi",
          "sinh",      "sinpi",    "sqrt",  "tan",       "tanh",      "tgamma", "trunc"}) {
      others.insert(base);
      others.insert(std::string(base) + "f");
    }
    Add(&others,
        "isnan isinf isfinite signbit umin umax llmin llmax ullmin ullmax labs llabs hmin hmax hexp hlog hsqrt hrsqrt "
        "hrcp htanh atomicAdd atomicSub atomicExch atomicMin atomicMax atomicInc atomicDec atomicCAS atomicAnd "
        "atomicOr atomicXor swap");
    return others;
  }();
  return words;
}

}  // namespace

bool IsTypeWord(std::string_view word) { return Types().contains(word); }

bool IsReservedWord(std::string_view word) {
  if (word.empty() || word.front() == '_' || Types().contains(word) || Others().contains(word)) return true;
  // make_float4 and its kind.
  return word.substr(0, 5) == "make_";
}

}  // namespace warpsmith::store
