#include "gpu_worker/compile/kernel_name.h"

#include <fmt/format.h>

#include <cctype>
#include <string>

namespace warpsmith::compile {
namespace {

constexpr size_t kMaxLength = 512;
constexpr int kMaxDepth = 8;

bool IsWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsWord(char c) { return IsWordStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

// Recursive descent over name := word ("::" word)* [ "<" argument ("," argument)* ">" ].
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool Whole() { return Name(0) && (SkipSpace(), at_ == text_.size()); }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void SkipSpace() {
    while (Peek() == ' ') ++at_;
  }
  bool Take(char c) {
    SkipSpace();
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool Word() {
    SkipSpace();
    if (!IsWordStart(Peek())) return false;
    while (IsWord(Peek())) ++at_;
    return true;
  }
  bool Name(int depth) {
    if (depth > kMaxDepth || !Word()) return false;
    for (;;) {
      SkipSpace();
      if (Peek() == ':' && Peek(1) == ':') {
        at_ += 2;
        if (!Word()) return false;
      } else if (Peek() == '<') {
        ++at_;
        do {
          if (!Argument(depth + 1)) return false;
        } while (Take(','));
        if (!Take('>')) return false;
      } else {
        return true;
      }
    }
  }
  bool Argument(int depth) {
    SkipSpace();
    if (Peek() == '-' || std::isdigit(static_cast<unsigned char>(Peek()))) return Integer();
    // A type: words ("unsigned int", "const float"), then stars.
    if (!Name(depth)) return false;
    for (SkipSpace(); IsWordStart(Peek()); SkipSpace()) {
      if (!Name(depth)) return false;
    }
    while (Take('*')) {
    }
    return true;
  }
  bool Integer() {
    if (Peek() == '-') ++at_;
    if (!std::isdigit(static_cast<unsigned char>(Peek()))) return false;
    while (std::isalnum(static_cast<unsigned char>(Peek()))) ++at_;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::Status CheckKernelName(std::string_view name) {
  if (name.empty()) return InvalidArgument("a kernel's name is empty");
  if (name.size() > kMaxLength)
    return InvalidArgument(fmt::format("a kernel's name is over {} characters", kMaxLength));
  if (!IsWordStart(name[0]) || !Scanner(name).Whole()) {
    std::string shown;
    for (char c : name.substr(0, 80)) shown += std::isprint(static_cast<unsigned char>(c)) ? c : '?';
    return InvalidArgument(
        fmt::format("`{}` is not a kernel's name: write an identifier, or a template instance with integers and types "
                    "as arguments, such as f<128,float>",
                    shown));
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::compile
