#include "coordinator/store/source_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/json.h"
#include "coordinator/store/source_tokens.h"
#include "coordinator/store/source_words.h"
#include "coordinator/store/text.h"

namespace warpsmith::store {
namespace {

using Words = std::set<std::string, std::less<>>;

// Calls `each` for each string of the JSON text that is a value, with the key that it stands under. No escapes.
template <typename Each>
std::string RewritePlan(std::string_view plan, const Each& each) {
  std::string out, key, last;
  for (size_t at = 0; at < plan.size();) {
    const char c = plan[at];
    if (c == '"') {
      const size_t end = plan.find('"', at + 1);
      last = std::string(plan.substr(at + 1, end - at - 1));
      at = end + 1;
      size_t next = at;
      while (next < plan.size() &&
             (plan[next] == ' ' || plan[next] == '\n' || plan[next] == '\t' || plan[next] == '\r')) {
        ++next;
      }
      const bool is_key = next < plan.size() && plan[next] == ':';
      if (is_key) key = last;
      out += '"' + (is_key ? last : each(key, last)) + '"';
    } else {
      // Numbers, true, false and null are kept apart by punctuation, so white space says nothing.
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r') out += c;
      ++at;
    }
  }
  return out;
}

class Renamer {
 public:
  explicit Renamer(TokenizedSource source) : plan_(source.plan), tokens_(std::move(source.tokens)) {}

  std::optional<std::string> Run() {
    if (!ReadPlan() || !ReadFixedWords() || !FindDeclarations()) return std::nullopt;
    for (const std::string& word : kernel_words_) {
      if (!file_names_.contains(word)) fixed_.insert(word);
    }
    return Write();
  }

 private:
  bool ReadPlan() {
    if (plan_.find('\\') != std::string_view::npos) return false;
    const auto plan = ParseStrictJson(plan_);
    if (!plan.ok() || !plan->is_object()) return false;
    if (const auto options = plan->find("options"); options != plan->end()) Fix(options->dump());
    if (const auto tune = plan->find("tune"); tune != plan->end()) Fix(tune->dump());
    RewritePlan(plan_, [&](const std::string& key, const std::string& value) {
      if (key == "kernel") {
        for (std::string_view word : WordsOf(value)) kernel_words_.emplace(word);
      }
      return value;
    });
    return true;
  }

  void Fix(std::string_view text) {
    for (std::string_view word : WordsOf(text)) fixed_.emplace(word);
    // -DTILE=8 is one word to the eye, and TILE the name.
    for (std::string_view word : WordsOf(text)) {
      if (word.size() > 1 && word.front() == 'D') fixed_.emplace(word.substr(1));
    }
  }

  // Names that other things than declarations may give a meaning, or that are told apart by more than their text.
  bool ReadFixedWords() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.kind == TokenKind::kPreprocessor) {
        if (token.text.find('#', 1) != std::string_view::npos) return false;  // stringifies or pastes names
        Fix(token.text);
      } else if (token.kind == TokenKind::kLiteral) {
        if (token.text.front() == '"') Fix(token.text);  // inline PTX, for one
      } else if (token.kind == TokenKind::kWord) {
        if (token.text == "__func__" || token.text == "__FUNCTION__" || token.text == "__PRETTY_FUNCTION__")
          return false;
        const std::string_view before = Text(i, -1), after = Text(i, 1);
        if (before == "." || before == "->" || before == "::" || before == ".*" || before == "->*" ||
            before == "goto" || before == "struct" || before == "union" || before == "enum" || before == "namespace" ||
            after == "::") {
          fixed_.emplace(token.text);
        }
      } else if (token.text == "@" || token.text == "$") {
        return false;
      }
    }
    return true;
  }

  std::string_view Text(size_t at, int offset) const {
    const auto place = static_cast<ptrdiff_t>(at) + offset;
    if (place < 0 || place >= static_cast<ptrdiff_t>(tokens_.size())) return {};
    return tokens_[static_cast<size_t>(place)].text;
  }

  // Whether a type stands before the name at `at`: pointers, qualifiers and launch bounds between them are passed over.
  bool TypeBefore(size_t at, const Words& own_types) const {
    auto place = static_cast<ptrdiff_t>(at) - 1;
    while (place >= 0) {
      const Token& token = tokens_[static_cast<size_t>(place)];
      const std::string_view text = token.text;
      if (text == "*" || text == "&" || text == "&&" || text == "const" || text == "volatile" || text == "restrict" ||
          text == "__restrict__" || text == "__restrict") {
        --place;
      } else if (text == ")") {
        int depth = 0;
        do {
          const std::string_view inner = tokens_[static_cast<size_t>(place)].text;
          depth += inner == ")" ? 1 : inner == "(" ? -1 : 0;
          --place;
        } while (depth > 0 && place >= 0);
        if (place < 0) return false;
        const std::string_view attribute = tokens_[static_cast<size_t>(place)].text;
        if (attribute != "__launch_bounds__" && attribute != "__align__" && attribute != "alignas") return false;
        --place;
      } else {
        return token.kind == TokenKind::kWord && (IsTypeWord(text) || own_types.contains(text));
      }
    }
    return false;
  }

  bool FindDeclarations() {
    int braces = 0, brackets = 0;
    std::vector<bool> parens;          // of each open one: whether it belongs to a `for`
    int template_angles = -1;          // open angles of a template's header; -1: in none
    Words own_types;                   // template parameters
    Words here;                        // the current function's own names
    bool list = false, angle = false;  // within a declaration that commas go on with; angles make commas unclear
    int list_braces = 0, list_brackets = 0;
    size_t list_parens = 0;
    size_t chunk = 0;
    chunk_of_.assign(tokens_.size(), 0);
    const auto next_chunk = [&] {
      here.clear();
      own_types.clear();
      list = false;
      ++chunk;
    };
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      const std::string_view text = token.text;
      chunk_of_[i] = chunk;
      if (token.kind == TokenKind::kPunctuation) {
        if (text == "{") ++braces;
        if (text == "}" && --braces < 0) return false;
        if (text == "[") ++brackets;
        if (text == "]" && --brackets < 0) return false;
        if (text == "(") parens.push_back(Text(i, -1) == "for");
        if (text == ")") {
          if (parens.empty()) return false;
          parens.pop_back();
          if (list && parens.size() < list_parens) list = false;
        }
        if (text == "<") angle = true;
        if (template_angles >= 0) {
          template_angles += text == "<" ? 1 : text == ">" ? -1 : text == ">>" ? -2 : 0;
          if (template_angles <= 0) template_angles = -1;
        }
        if (text == ";" || text == "{") list = false;
        if (braces == 0 && parens.empty() && (text == ";" || text == "}")) next_chunk();
        continue;
      }
      if (token.kind != TokenKind::kWord) continue;
      if (text == "template" && Text(i, 1) == "<") template_angles = 0;
      if (IsReservedWord(text)) continue;
      const std::string_view after = Text(i, 1);
      const std::string_view before = Text(i, -1);
      const bool ends_well = after == "=" || after == ";" || after == "," || after == ")" || after == "(" ||
                             after == "[" || after == "{" || after == ":" || (after == ">" && template_angles > 0);
      bool declared = false;
      if (template_angles > 0 && (before == "typename" || before == "class") && ends_well) {
        declared = true;
        own_types.emplace(text);
      } else if (ends_well && TypeBefore(i, own_types)) {
        declared = true;
        if ((parens.empty() || parens.back()) && template_angles < 0) {
          list = true;
          angle = false;
          list_braces = braces, list_brackets = brackets, list_parens = parens.size();
        }
      } else if (list && !angle && braces == list_braces && brackets == list_brackets && parens.size() == list_parens &&
                 (after == "=" || after == ";" || after == "," || after == "[") && CommaBefore(i)) {
        declared = true;
      }
      const std::string word(text);
      if (declared) {
        if (braces == 0 && parens.empty() && template_angles < 0) {
          file_names_.insert(word);
        } else {
          here.insert(word);
        }
      } else if (!file_names_.contains(word)) {
        // Not declared before this use, or called though it is no function of the file: it may mean something else.
        if (!here.contains(word) || after == "(") fixed_.insert(word);
      }
      if (declared || here.contains(word)) declared_.insert(word);
    }
    return braces == 0 && brackets == 0 && parens.empty();
  }

  bool CommaBefore(size_t at) const {
    int back = -1;
    while (Text(at, back) == "*" || Text(at, back) == "const" || Text(at, back) == "__restrict__") --back;
    return Text(at, back) == ",";
  }

  bool Renamed(std::string_view word) const {
    return !IsReservedWord(word) && !fixed_.contains(word) && (file_names_.contains(word) || declared_.contains(word));
  }

  std::string Write() {
    std::string code;
    std::map<std::string, std::string, std::less<>> file_numbers, own_numbers;
    size_t chunk = 0;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (chunk_of_[i] != chunk) {
        chunk = chunk_of_[i];
        own_numbers.clear();
      }
      if (token.kind == TokenKind::kPreprocessor) {
        code += '\n' + std::string(token.text) + '\n';
        continue;
      }
      if (token.kind == TokenKind::kWord && Renamed(token.text)) {
        const bool file = file_names_.contains(token.text);
        auto& numbers = file ? file_numbers : own_numbers;
        const auto number = numbers.emplace(token.text, fmt::format("@{}{}", file ? 'f' : 'n', numbers.size())).first;
        code += number->second;
      } else {
        code += token.text;
      }
      code += ' ';
    }
    const std::string plan = RewritePlan(plan_, [&](const std::string& key, const std::string& value) {
      if (key != "kernel") return value;
      std::string renamed;
      size_t done = 0;
      for (std::string_view word : WordsOf(value)) {
        const auto at = static_cast<size_t>(word.data() - value.data());
        renamed += value.substr(done, at - done);
        const auto number = Renamed(word) ? file_numbers.find(word) : file_numbers.end();
        renamed += number == file_numbers.end() ? std::string(word) : number->second;
        done = at + word.size();
      }
      return renamed + value.substr(done);
    });
    return "renamed\n" + plan + "\n" + code;
  }

  const std::string_view plan_;
  const std::vector<Token> tokens_;
  std::vector<size_t> chunk_of_;  // of each token: which function or declaration of the file
  Words kernel_words_;            // words of the plan's kernel names
  Words fixed_;                   // words that stay
  Words file_names_;              // declared at the file's outermost level
  Words declared_;                // declared anywhere
};

}  // namespace

std::string RenameSource(std::string_view source) {
  if (std::optional<TokenizedSource> tokens = Tokenize(source)) {
    if (std::optional<std::string> renamed = Renamer(std::move(*tokens)).Run()) return *std::move(renamed);
  }
  return NormalizeSource(source);
}

}  // namespace warpsmith::store
