// What model calls cost: the price file, and the arithmetic over a call's tokens.
// The file (prices.yaml beside this) is dated as a whole: that date is the price id stored with each call. A model that
// is not in it has no price, which is not the same as costing nothing: a server of one's own is given zeros in
// gateway.yaml. Threading: a table does not change after Load; functions are pure. Units: US dollars a million tokens.
// Errors: InvalidArgument "file:line: field: what is wrong; remedy".
#ifndef WARPSMITH_LLM_GATEWAY_LIMITS_PRICE_TABLE_H_
#define WARPSMITH_LLM_GATEWAY_LIMITS_PRICE_TABLE_H_

#include <map>
#include <optional>
#include <string>

#include "common/status.h"
#include "llm_gateway/config/gateway_config.h"
#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

class PriceTable {
 public:
  // No prices at all.
  PriceTable() = default;
  static absl::StatusOr<PriceTable> Load(const std::string& path);
  // `file` stands in messages.
  static absl::StatusOr<PriceTable> Parse(const std::string& text, const std::string& file);
  // The file that comes with warpsmith.
  static absl::StatusOr<std::string> DefaultPath();

  // By the provider's name of the model, or one of the aliases the file gives; to the letter, since dated versions of
  // one model may differ in price.
  std::optional<Price> Find(const std::string& model) const;
  const std::string& id() const { return id_; }  // the file's date, "2026-11-29"
  size_t size() const { return prices_.size(); }

 private:
  std::string id_;
  std::map<std::string, Price> prices_;
};

// Every token once, at the price of its part: cached and cache-writing tokens are parts of the input, reasoning is not
// a part of the output. Parts that add up to more than the input (a server's mistake) are taken as they are.
double CostOf(const Price& price, const TokenUsage& usage);

// All tokens of a call, in and out.
int64_t TotalTokens(const TokenUsage& usage);

// The most that a call may cost whose prompt has `input` tokens and whose answer at most `output`, however the tokens
// are divided over the parts. `may_write_cache`: the prompt has parts that a provider may bill as cache writes.
double MostCost(const Price& price, int64_t input, int64_t output, bool may_write_cache);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_LIMITS_PRICE_TABLE_H_
