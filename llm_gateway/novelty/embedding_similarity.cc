#include "llm_gateway/novelty/embedding_similarity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxText = 4000;  // within the context of small embedding models

double Cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double product = 0, squares_a = 0, squares_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += double{a[i]} * double{b[i]};
    squares_a += double{a[i]} * double{a[i]};
    squares_b += double{b[i]} * double{b[i]};
  }
  const double cosine = product / std::sqrt(squares_a * squares_b);
  return std::isfinite(cosine) ? cosine : 0;  // a vector of zeros is like nothing
}

}  // namespace

std::string EmbeddedText(const v1::Idea& idea) {
  std::string text = idea.title();
  for (const std::string& step : idea.plan()) text += "\n" + step;
  if (text.size() <= kMaxText) return text;
  size_t end = kMaxText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;
  return text.substr(0, end);
}

absl::StatusOr<std::vector<std::vector<double>>> EmbeddingSimilarity::Between(const std::vector<const v1::Idea*>& left,
                                                                              const std::vector<const v1::Idea*>& right,
                                                                              Asking& asking) const {
  // Each text once, in the order in which it is met.
  std::vector<std::string> texts;
  std::map<std::string, size_t> places;
  auto place = [&](const v1::Idea* idea) {
    auto [found, fresh] = places.emplace(EmbeddedText(*idea), texts.size());
    if (fresh) texts.push_back(found->first);
    return found->second;
  };
  std::vector<size_t> left_places, right_places;
  std::transform(left.begin(), left.end(), std::back_inserter(left_places), place);
  std::transform(right.begin(), right.end(), std::back_inserter(right_places), place);
  std::vector<std::vector<double>> values(left.size(), std::vector<double>(right.size(), 0));
  if (left.empty() || right.empty()) return values;

  WARPSMITH_ASSIGN_OR_RETURN(const auto vectors, model_.Embed(texts, asking));
  if (vectors.size() != texts.size()) {
    return Internal(fmt::format("{} gave {} embeddings for {} texts", model_.name(), vectors.size(), texts.size()));
  }
  for (const std::vector<float>& vector : vectors) {
    if (vector.empty() || vector.size() != vectors[0].size()) {
      return Internal(fmt::format("{} gave embeddings of different lengths ({} and {})", model_.name(),
                                  vectors[0].size(), vector.size()));
    }
  }
  for (size_t i = 0; i < left.size(); ++i) {
    for (size_t j = 0; j < right.size(); ++j) {
      values[i][j] = Cosine(vectors[left_places[i]], vectors[right_places[j]]);
    }
  }
  return values;
}

}  // namespace warpsmith::gateway
