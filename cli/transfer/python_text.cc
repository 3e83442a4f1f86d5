#include "cli/transfer/python_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warpsmith::transfer {
namespace {

bool StartsName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigitOf(char c) { return c >= '0' && c <= '9'; }

// How a language says what it has no operator for. Python's own division rounds down where C's truncates.
struct Dialect {
  std::string quotient, exact, remainder, least, most, number_suffix;
};

const Dialect& Python() {
  static const auto& dialect = *new Dialect{"run.quotient", "run.exact", "run.remainder", "min", "max", ""};
  return dialect;
}
const Dialect& Cuda() {
  static const auto& dialect = *new Dialect{"Quotient", "Exact", "Remainder", "Least", "Most", "LL"};
  return dialect;
}

// Recursive descent over text that a plan's parser has taken, so that nothing can be wrong with it.
class Translator {
 public:
  Translator(std::string_view text, const PythonNames& names, const Dialect& dialect, bool exact)
      : text_(text), names_(names), dialect_(dialect), exact_(exact) {}

  std::string Sum() {
    std::string result = Product();
    for (;;) {
      if (Take('+')) {
        result += " + " + Product();
      } else if (Take('-')) {
        result += " - " + Product();
      } else {
        return result;
      }
    }
  }

 private:
  std::string Product() {
    std::string result = Signed();
    for (;;) {
      if (Take('*')) {
        result += " * " + Signed();
      } else if (Take('/')) {
        result = fmt::format("{}({}, {})", exact_ ? dialect_.exact : dialect_.quotient, result, Signed());
      } else if (Take('%')) {
        result = fmt::format("{}({}, {})", dialect_.remainder, result, Signed());
      } else {
        return result;
      }
    }
  }

  std::string Signed() {
    bool negative = false;
    for (;;) {
      if (Take('-')) {
        negative = !negative;
      } else if (!Take('+')) {
        break;
      }
    }
    return (negative ? "-" : "") + Primary();
  }

  std::string Primary() {
    SkipSpace();
    const size_t start = at_;
    if (Take('(')) {
      std::string inner = Sum();
      Take(')');
      return "(" + inner + ")";
    }
    while (at_ < text_.size() && (StartsName(text_[at_]) || IsDigitOf(text_[at_]))) ++at_;
    const std::string word(text_.substr(start, at_ - start));
    if (word.empty() || IsDigitOf(word[0])) return word + dialect_.number_suffix;
    if ((word == "min" || word == "max") && Take('(')) {
      std::string arguments = Sum();
      while (Take(',')) arguments += ", " + Sum();
      Take(')');
      return fmt::format("{}({})", word == "min" ? dialect_.least : dialect_.most, arguments);
    }
    const auto found = names_.find(word);
    return found == names_.end() ? word : found->second;
  }

  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  const PythonNames& names_;
  const Dialect& dialect_;
  const bool exact_;
  size_t at_ = 0;
};

}  // namespace

std::string PythonString(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;  // UTF-8 as it is
    }
  }
  return result + "\"";
}

std::string PythonBlock(std::string_view given) {
  const std::string whole = std::string(given) + (given.empty() || given.back() == '\n' ? "" : "\n");
  std::string_view text = whole;
  // Python reads CR LF as LF, and a raw literal cannot hold its own quotes.
  const bool plain = text.find("'''") == std::string_view::npos && text.find('\r') == std::string_view::npos &&
                     text.find('\0') == std::string_view::npos;
  if (plain) return fmt::format("r'''{}'''", text);
  std::string result = "(\n";
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    result += "    " + PythonString(text.substr(0, end + 1)) + "\n";
    text.remove_prefix(end + 1);
  }
  return result + "    \"\")";
}

std::string PythonExpression(std::string_view expression, const PythonNames& names, bool exact) {
  return Translator(expression, names, Python(), exact).Sum();
}

std::string CudaExpression(std::string_view expression, const PythonNames& names, bool exact) {
  return Translator(expression, names, Cuda(), exact).Sum();
}

std::string PythonVariable(const std::string& name, int depth) {
  static constexpr std::array kReserved = {
      "and",  "as",     "assert",   "async",   "await", "break", "class",  "continue", "def",    "del",
      "elif", "else",   "except",   "finally", "for",   "from",  "global", "if",       "import", "in",
      "is",   "lambda", "nonlocal", "not",     "or",    "pass",  "raise",  "return",   "try",    "while",
      "with", "yield",  "None",     "True",    "False", "run",   "range",  "min",      "max",    "print"};
  const bool taken = std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
  // A repeat inside another may use the same name for its index; here each has its own.
  std::string variable = taken ? name + "_" : name;
  if (depth > 0) variable += fmt::format("_{}", depth + 1);
  return variable;
}

}  // namespace warpsmith::transfer
