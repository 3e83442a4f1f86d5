#include "llm_gateway/limits/price_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "common/file.h"
#include "llm_gateway/config/yaml_reader.h"

namespace warpsmith::gateway {
namespace {

constexpr double kMostUsd = 100'000;  // a million tokens; above it is a slip of the pen

bool IsDate(const std::string& text) {
  int year = 0, month = 0, day = 0, end = 0;
  if (text.size() != 10 || std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 || end != 10) {
    return false;
  }
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

double Required(YamlReader& reader, const std::string& key) {
  if (!reader.Has(key)) reader.Fail(key, "is missing; give US dollars a million tokens");
  return reader.Number(key, 0, 0, kMostUsd);
}

Price ReadPrice(YamlReader& reader) {
  Price price;
  price.input = Required(reader, "input");
  price.output = Required(reader, "output");
  price.cached_input = reader.Number("cached_input", price.input, 0, kMostUsd);
  price.cache_write_5m = reader.Number("cache_write_5m", price.input, 0, kMostUsd);
  price.cache_write_1h = reader.Number("cache_write_1h", price.input, 0, kMostUsd);
  price.reasoning = reader.Number("reasoning", price.output, 0, kMostUsd);
  price.long_prompt_tokens = reader.Integer("long_prompt_tokens", 0, 0, 1'000'000'000);
  price.long_prompt_input = reader.Number("long_prompt_input", 1, 1, 1000);
  price.long_prompt_output = reader.Number("long_prompt_output", 1, 1, 1000);
  return price;
}

}  // namespace

absl::StatusOr<PriceTable> PriceTable::Parse(const std::string& text, const std::string& file) {
  WARPSMITH_ASSIGN_OR_RETURN(YAML::Node document, ParseYaml(text, file));
  YamlReader reader(file, document, "");
  PriceTable table;
  table.id_ = reader.String("date", "", true);
  if (!table.id_.empty() && !IsDate(table.id_)) {
    reader.Fail("date",
                fmt::format("\"{}\" is not a date; write the day the prices are from as 2026-11-29", table.id_));
  }
  std::vector<YAML::Node> models = reader.List("models");
  WARPSMITH_RETURN_IF_ERROR(reader.Finish());
  for (size_t i = 0; i < models.size(); ++i) {
    YamlReader model(file, models[i], fmt::format("models[{}]", i));
    std::vector<std::string> names = model.Strings("aliases");
    names.insert(names.begin(), model.String("name", "", true));
    Price price = ReadPrice(model);
    std::string seen = model.String("as_of");
    if (!seen.empty() && !IsDate(seen)) model.Fail("as_of", fmt::format("\"{}\" is not a date as 2026-11-29", seen));
    WARPSMITH_RETURN_IF_ERROR(model.Finish());
    for (const std::string& name : names) {
      if (!table.prices_.emplace(name, price).second) {
        return InvalidArgument(
            fmt::format("{}: \"{}\" has a price already; keep one", model.Place(models[i], "name"), name));
      }
    }
  }
  return table;
}

absl::StatusOr<PriceTable> PriceTable::Load(const std::string& path) {
  WARPSMITH_ASSIGN_OR_RETURN(std::string text, ReadFile(path, 1u << 20));
  return Parse(text, path);
}

absl::StatusOr<std::string> PriceTable::DefaultPath() {
  WARPSMITH_ASSIGN_OR_RETURN(std::filesystem::path folder, FindShare("llm_gateway/limits"));
  return (folder / "prices.yaml").string();
}

std::optional<Price> PriceTable::Find(const std::string& model) const {
  auto found = prices_.find(model);
  if (found == prices_.end()) return std::nullopt;
  return found->second;
}

double CostOf(const Price& price, const TokenUsage& usage) {
  auto at = [](int64_t tokens, double usd) { return static_cast<double>(std::max<int64_t>(tokens, 0)) * usd; };
  int64_t plain = usage.input - usage.cached_input - usage.cache_write_5m - usage.cache_write_1h;
  double input = at(plain, price.input) + at(usage.cached_input, price.cached_input) +
                 at(usage.cache_write_5m, price.cache_write_5m) + at(usage.cache_write_1h, price.cache_write_1h);
  double output = at(usage.output, price.output) + at(usage.reasoning, price.reasoning);
  if (price.long_prompt_tokens > 0 && usage.input > price.long_prompt_tokens) {
    input *= price.long_prompt_input;
    output *= price.long_prompt_output;
  }
  return (input + output) / 1e6;
}

int64_t TotalTokens(const TokenUsage& usage) {
  int64_t parts = usage.cached_input + usage.cache_write_5m + usage.cache_write_1h;
  return std::max(usage.input, parts) + usage.output + usage.reasoning;
}

double MostCost(const Price& price, int64_t input, int64_t output, bool may_write_cache) {
  Price most = price;
  most.input = std::max(price.input, price.cached_input);
  if (may_write_cache) most.input = std::max({most.input, price.cache_write_5m, price.cache_write_1h});
  most.output = std::max(price.output, price.reasoning);
  TokenUsage usage;
  usage.input = input;
  usage.output = output;
  return CostOf(most, usage);
}

}  // namespace warpsmith::gateway
