#include "gpu_worker/plan/source_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/source_encoding.h"
#include "gpu_worker/plan/source_lexer.h"

namespace warpsmith::plan {
namespace {

constexpr char kMarker[] = "warpsmith-plan";
constexpr char kSpaces[] = " \t\n\r\v\f";

constexpr std::array<std::string_view, 12> kHeaders = {
    "cuda_fp16.h",
    "cuda_bf16.h",
    "cuda_fp8.h",
    "cuda_fp6.h",
    "cuda_fp4.h",
    "mma.h",
    "cooperative_groups.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "cuda_awbarrier.h",
    "cuda_awbarrier_primitives.h",
    "math_constants.h",
};

constexpr std::array<std::string_view, 12> kDirectives = {"define", "undef", "if",      "ifdef",  "ifndef", "elif",
                                                          "else",   "endif", "include", "pragma", "error",  "warning"};

constexpr std::array<std::string_view, 4> kPragmas = {"unroll", "nounroll", "once", "pack"};

constexpr std::array<std::string_view, 5> kFileProbes = {"__has_include", "__has_include_next", "__has_include__",
                                                         "__has_embed", "__has_include_next__"};

constexpr std::array<std::string_view, 32> kHostMacros = {
    "__x86_64__",      "__x86_64",
    "__amd64__",       "__amd64",
    "__i386__",        "__i386",
    "__aarch64__",     "__linux__",
    "__linux",         "__unix__",
    "__unix",          "__gnu_linux__",
    "__GNUC__",        "__GNUG__",
    "__GNUC_MINOR__",  "__GNUC_PATCHLEVEL__",
    "__clang__",       "__llvm__",
    "__APPLE__",       "_WIN32",
    "_WIN64",          "_MSC_VER",
    "__ELF__",         "__VERSION__",
    "__OPTIMIZE__",    "__has_builtin",
    "__has_feature",   "__has_extension",
    "__has_attribute", "__has_cpp_attribute",
    "_OPENMP",         "warpsmith",
};

constexpr std::array<std::string_view, 10> kHostPrefixes = {
    "__SSE", "__AVX", "__ARM_", "__GLIBC", "__clang_", "__GXX_", "__GCC_", "__MINGW", "WARPSMITH_", "__builtin_ia32_"};

// Macros that NVRTC defines and a host's compiler does not.
constexpr std::array<std::string_view, 3> kToolkitMacros = {"__CUDACC__", "__CUDACC_RTC__", "__NVCC__"};

template <typename Array>
bool Contains(const Array& array, std::string_view word) {
  return std::find(array.begin(), array.end(), word) != array.end();
}

bool IsHostMacro(std::string_view word) {
  return Contains(kHostMacros, word) || std::any_of(kHostPrefixes.begin(), kHostPrefixes.end(),
                                                    [&](std::string_view prefix) { return word.starts_with(prefix); });
}

// Whether a comment's text is a plan's: white space, the marker, and no more of a word.
bool IsPlanComment(std::string_view text) {
  size_t start = text.find_first_not_of(kSpaces);
  if (start == std::string_view::npos || !text.substr(start).starts_with(kMarker)) return false;
  std::string_view rest = text.substr(start + std::string_view(kMarker).size());
  return rest.empty() || !(isalnum(static_cast<unsigned char>(rest[0])) || rest[0] == '_' || rest[0] == '-');
}

absl::Status AtLine(std::string_view reason, int line, std::string_view message) {
  return PlanError(reason, fmt::format("line {}: {}", line, message));
}

// The plan comment at the file's beginning. Returns the offset after it.
absl::StatusOr<size_t> TakePlanComment(CheckedSource* source) {
  std::string_view code = source->code;
  size_t start = code.find_first_not_of(kSpaces);
  if (start == std::string_view::npos) return PlanError(reason::kPlanComment, "the file is empty");
  size_t end = code.substr(start).starts_with("/*") ? code.find("*/", start + 2) : std::string_view::npos;
  std::string_view body = end == std::string_view::npos ? std::string_view() : code.substr(start + 2, end - start - 2);
  if (!IsPlanComment(body)) {
    bool later = code.find(kMarker) != std::string_view::npos;
    return PlanError(reason::kPlanComment,
                     later ? "the comment \"/* warpsmith-plan {...} */\" has to be the first thing in the file"
                           : "the file has no plan; begin it with the comment \"/* warpsmith-plan {...} */\"");
  }
  size_t json = body.find_first_not_of(kSpaces, body.find(kMarker) + std::string_view(kMarker).size());
  std::string_view before = code.substr(0, json == std::string_view::npos ? end : start + 2 + json);
  source->plan_line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  if (json == std::string_view::npos) return AtLine(reason::kPlanComment, source->plan_line, "the plan is empty");
  std::string_view value = body.substr(json);
  source->plan_json = std::string(value.substr(0, value.find_last_not_of(kSpaces) + 1));
  return end + 2;
}

// Reads the code after the plan comment, one directive at a time.
class CodeCheck {
 public:
  explicit CodeCheck(CheckedSource* source, size_t offset)
      : source_(source),
        lexer_(std::string_view(source->code).substr(offset)),
        line_offset_(static_cast<int>(std::count(source->code.begin(), source->code.begin() + offset, '\n'))) {}

  absl::Status Run() {
    while (Next()) {
      WARPSMITH_RETURN_IF_ERROR(CheckToken());
      if (token_.kind == TokenKind::kPunctuation && token_.text == "#" && token_.starts_line) {
        WARPSMITH_RETURN_IF_ERROR(Directive());
      }
    }
    return absl::OkStatus();
  }

 private:
  bool Next() {
    if (!lexer_.Next(&token_)) return false;
    token_.line += line_offset_;
    return true;
  }
  // The next token of the directive; false at its end.
  bool NextInDirective() {
    while (Next()) {
      if (token_.kind == TokenKind::kComment && !IsPlanComment(token_.text)) continue;
      return token_.kind != TokenKind::kNewline;
    }
    token_ = Token();
    return false;
  }

  absl::Status CheckToken(bool condition = false) const {
    if (token_.kind == TokenKind::kComment && IsPlanComment(token_.text)) {
      return AtLine(reason::kPlanComment, token_.line, "a second plan comment; a candidate has exactly one");
    }
    if (token_.kind != TokenKind::kIdentifier) return absl::OkStatus();
    if (Contains(kFileProbes, token_.text)) {
      return AtLine(reason::kInclude, token_.line,
                    fmt::format("{} is not allowed; include what is needed", token_.text));
    }
    if (IsHostMacro(token_.text)) {
      return AtLine(reason::kHostMacro, token_.line,
                    fmt::format("{} tells compilers apart; a candidate is device code and has to be the same for all: "
                                "leave it out",
                                token_.text));
    }
    if (!condition && Contains(kToolkitMacros, token_.text)) {
      return AtLine(reason::kHostMacro, token_.line,
                    fmt::format("{} may stand in a condition of its own (#ifdef {}) only", token_.text, token_.text));
    }
    return absl::OkStatus();
  }

  absl::Status Directive() {
    const int line = token_.line;
    if (!NextInDirective()) return absl::OkStatus();
    WARPSMITH_RETURN_IF_ERROR(CheckToken());
    const std::string name = token_.text;
    if (token_.kind != TokenKind::kIdentifier || !Contains(kDirectives, name)) {
      bool file = name == "include_next" || name == "import" || name == "embed";
      return AtLine(file ? reason::kInclude : reason::kDirective, line,
                    fmt::format("#{} is not allowed; allowed are {}", name, fmt::join(kDirectives, ", ")));
    }
    if (name == "include") return Include(line);
    if (name == "pragma") return Pragma(line);
    if (name == "if" || name == "ifdef" || name == "ifndef" || name == "elif") return Condition(name, line);
    if (name == "else" && !toolkit_branches_.empty() && toolkit_branches_.back()) return ToolkitAbsence(line);
    if (name == "endif" && !toolkit_branches_.empty()) toolkit_branches_.pop_back();
    return Rest();
  }

  absl::Status Rest() {
    while (NextInDirective()) WARPSMITH_RETURN_IF_ERROR(CheckToken());
    return absl::OkStatus();
  }

  absl::Status Include(int line) {
    if (!NextInDirective() || token_.kind != TokenKind::kHeader) {
      return AtLine(reason::kInclude, line,
                    "#include needs a header's name, <name> or \"name\"; macros are not allowed");
    }
    const std::string header = token_.text;
    if (!IsAllowedHeader(header)) {
      return AtLine(reason::kInclude, line,
                    fmt::format("#include of \"{}\" is not allowed; allowed are {}, cooperative_groups/..., cuda/...; "
                                "what device code needs of cuda_runtime.h and the like is there without an #include",
                                Printable(header), fmt::join(kHeaders, ", ")));
    }
    if (std::find(source_->includes.begin(), source_->includes.end(), header) == source_->includes.end()) {
      source_->includes.push_back(header);
    }
    return Rest();
  }

  absl::Status Pragma(int line) {
    if (NextInDirective()) {
      WARPSMITH_RETURN_IF_ERROR(CheckToken());
      const std::string& name = token_.text;
      if (!Contains(kPragmas, name) && !name.starts_with("nv_") && !name.starts_with("diag_")) {
        return AtLine(reason::kDirective, line,
                      fmt::format("#pragma {} is not allowed; allowed are {}, nv_..., diag_...", name,
                                  fmt::join(kPragmas, ", ")));
      }
    }
    return Rest();
  }

  // Code under "no toolkit here" is what only a host's compiler would see.
  absl::Status Condition(const std::string& name, int line) {
    bool toolkit = false, negated = name == "ifndef";
    char last = 0;
    while (NextInDirective()) {
      WARPSMITH_RETURN_IF_ERROR(CheckToken(true));
      if (token_.kind == TokenKind::kIdentifier && Contains(kToolkitMacros, token_.text)) toolkit = true;
      char c = token_.kind == TokenKind::kPunctuation ? token_.text[0] : '\0';
      if (c == '!' || c == '?' || c == '^' || c == '~' || c == '-' || c == '<' || c == '%') negated = true;
      if (c == '=' && last != '>') negated = true;
      last = c;
      if (token_.kind == TokenKind::kIdentifier && (token_.text == "not" || token_.text == "compl")) negated = true;
    }
    if (toolkit && negated) return ToolkitAbsence(line);
    if (name == "elif") {
      if (!toolkit_branches_.empty() && toolkit_branches_.back()) return ToolkitAbsence(line);
      if (!toolkit_branches_.empty() && toolkit) toolkit_branches_.back() = true;
    } else {
      toolkit_branches_.push_back(toolkit);
    }
    return absl::OkStatus();
  }

  static absl::Status ToolkitAbsence(int line) {
    return AtLine(reason::kHostMacro, line,
                  fmt::format("code for where {} is not defined is not allowed: a candidate is device code only",
                              fmt::join(kToolkitMacros, ", ")));
  }

  CheckedSource* source_;
  SourceLexer lexer_;
  const int line_offset_;
  Token token_;
  std::vector<bool> toolkit_branches_;  // open conditionals: whether one of their conditions names a toolkit macro
};

}  // namespace

bool IsAllowedHeader(std::string_view name) {
  if (Contains(kHeaders, name)) return true;
  if (!name.starts_with("cooperative_groups/") && !name.starts_with("cuda/")) return false;
  bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '/' || c == '.';
  });
  return plain && name.size() <= 128 && name.find("..") == std::string_view::npos &&
         name.find("/.") == std::string_view::npos && name.find("//") == std::string_view::npos && name.back() != '/';
}

absl::StatusOr<CheckedSource> CheckSource(std::string_view file) {
  CheckedSource source;
  WARPSMITH_RETURN_IF_ERROR(CheckEncoding(file));
  source.code = std::string(WithoutByteOrderMark(file));
  WARPSMITH_ASSIGN_OR_RETURN(size_t offset, TakePlanComment(&source));
  WARPSMITH_RETURN_IF_ERROR(CodeCheck(&source, offset).Run());
  return source;
}

}  // namespace warpsmith::plan
