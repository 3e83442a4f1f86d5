#include "llm_gateway/novelty/text_similarity.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string_view>

#include "llm_gateway/novelty/idea_words.h"

namespace warpsmith::gateway {
namespace {

constexpr double kThreshold = 0.55;
constexpr double kWholeShare = 0.6;    // title and plan together
constexpr double kTitleShare = 0.3;    // the titles' words
constexpr double kLettersShare = 0.1;  // the titles' letters
constexpr double kTitleWeight = 2;     // of a word of the title in the whole

using Weights = std::map<std::string, double>;

struct Features {
  std::string key;  // the title's letters and digits
  Weights title;
  Weights whole;
  Weights letters;
  int direction = 0;  // 1 the title begins with "increase" or the like, -1 with "reduce"
};

double Cosine(const Weights& a, const Weights& b) {
  double product = 0, squares_a = 0, squares_b = 0;
  for (const auto& [word, weight] : a) {
    squares_a += weight * weight;
    auto found = b.find(word);
    if (found != b.end()) product += weight * found->second;
  }
  for (const auto& [word, weight] : b) squares_b += weight * weight;
  return squares_a > 0 && squares_b > 0 ? product / std::sqrt(squares_a * squares_b) : 0;
}

int Direction(std::string_view title) {
  std::string first;
  for (char c : title) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) break;
    first += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const char* up : {"increase", "raise", "larger", "bigger", "more", "enlarge", "grow", "widen", "higher"}) {
    if (first == up) return 1;
  }
  for (const char* down : {"decrease", "reduce", "smaller", "fewer", "less", "shrink", "halve", "lower", "narrow"}) {
    if (first == down) return -1;
  }
  return 0;
}

Features FeaturesOf(const v1::Idea& idea) {
  Features features;
  for (char c : idea.title()) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) features.key += static_cast<char>(std::tolower(byte));
  }
  features.title = IdeaWords(idea.title());
  std::string plan;
  for (const std::string& step : idea.plan()) plan += step + "\n";
  features.whole = IdeaWords(plan);
  for (const auto& [word, weight] : features.title) features.whole[word] = kTitleWeight * weight;
  for (size_t i = 0; i + 3 <= features.key.size(); ++i) features.letters[features.key.substr(i, 3)] += 1;
  features.direction = Direction(idea.title());
  return features;
}

double Similarity(const Features& a, const Features& b) {
  if (!a.key.empty() && a.key == b.key) return 1;
  double value = kWholeShare * Cosine(a.whole, b.whole) + kTitleShare * Cosine(a.title, b.title) +
                 kLettersShare * Cosine(a.letters, b.letters);
  // "Increase the block size" and "reduce the block size" share all words but one.
  if (a.direction * b.direction < 0) value *= 0.5;
  return std::min(value, 0.999);
}

}  // namespace

double TextSimilarity::threshold() const { return kThreshold; }

double TextSimilarity::Of(const v1::Idea& a, const v1::Idea& b) { return Similarity(FeaturesOf(a), FeaturesOf(b)); }

absl::StatusOr<std::vector<std::vector<double>>> TextSimilarity::Between(const std::vector<const v1::Idea*>& left,
                                                                         const std::vector<const v1::Idea*>& right,
                                                                         Asking&) const {
  std::vector<Features> left_features, right_features;
  for (const v1::Idea* idea : left) left_features.push_back(FeaturesOf(*idea));
  for (const v1::Idea* idea : right) right_features.push_back(FeaturesOf(*idea));
  std::vector<std::vector<double>> values;
  for (const Features& a : left_features) {
    std::vector<double>& row = values.emplace_back();
    for (const Features& b : right_features) row.push_back(Similarity(a, b));
  }
  return values;
}

}  // namespace warpsmith::gateway
