#include "cli/print_gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/text.h"

namespace warpsmith::cli {
namespace {

std::string Seconds(double seconds) { return seconds > 0 ? fmt::format("{:.2f} s", seconds) : "-"; }

std::string Usd(double usd) {
  return usd != 0 && usd < 0.1 ? fmt::format("${:.4f}", usd) : fmt::format("${:.2f}", usd);
}

std::string PriceOf(const v1::ModelDescription& model) {
  if (model.price_id().empty()) return model.provider() == "catalog" ? "none" : "unknown";
  return fmt::format("${:g} / ${:g}", model.input_usd_per_million(), model.output_usd_per_million());
}

std::string Limit(int64_t remaining, int64_t limit) {
  if (limit < 0 && remaining < 0) return "-";
  return fmt::format("{}/{}", remaining < 0 ? "?" : FormatCount(remaining), limit < 0 ? "?" : FormatCount(limit));
}

std::string ResultOf(const v1::ModelCheck& check) {
  if (!check.ok()) return check.call().error_class().empty() ? "not usable" : check.call().error_class();
  return check.call().model().empty() ? "not called" : "ok";
}

int64_t Tokens(const v1::EstimateReply& reply) { return reply.input_tokens() + reply.output_tokens(); }

}  // namespace

std::string ChecksText(const std::vector<v1::ModelCheck>& checks) {
  Table table;
  for (const char* title : {"result", "provider", "model"}) table.AddColumn(title);
  for (const char* title : {"first byte", "whole", "requests", "tokens", "in / out", "cost"}) {
    table.AddColumn(title, Table::kRight);
  }
  std::string errors;
  for (const v1::ModelCheck& check : checks) {
    table.AddRow({Line(ResultOf(check)), Line(check.model().provider()), Line(check.model().name()),
                  Seconds(check.first_byte_seconds()), Seconds(check.seconds()),
                  Limit(check.remaining_requests(), check.limit_requests()),
                  Limit(check.remaining_tokens(), check.limit_tokens()), PriceOf(check.model()),
                  check.call().price_id().empty() ? "-" : Usd(check.call().usd())});
    if (!check.error().empty()) {
      errors += Wrap(fmt::format("{}: {}", Line(check.model().name()), Line(check.error())), kPageWidth, "  ") + "\n";
    }
  }
  return table.ToString() +
         "requests and tokens: left of the server's limits; in / out: US dollars a million tokens\n" +
         (errors.empty() ? "" : "\n" + errors);
}

double MostUsd(const SearchEstimate& estimate) {
  const double most = estimate.most.most_usd();
  return estimate.max_usd > 0 ? std::min(most, estimate.max_usd) : most;
}

std::string EstimateText(const std::vector<SearchEstimate>& estimates) {
  Table table;
  table.AddColumn("search");
  for (const char* title : {"ideas calls", "kernels", "repairs", "tokens in", "tokens out", "expected", "at most"}) {
    table.AddColumn(title, Table::kRight);
  }
  double usd = 0, most = 0;
  int64_t tokens = 0;
  std::set<std::string> said;
  std::string notes;
  const auto note = [&](const std::string& text) {
    if (said.insert(text).second) notes += Wrap("- " + Line(text), kPageWidth, "  ") + "\n";
  };
  for (const SearchEstimate& one : estimates) {
    table.AddRow({Line(one.name), FormatCount(one.expected_calls.propose_calls()),
                  FormatCount(one.expected_calls.implement_calls()), FormatCount(one.expected_calls.repair_calls()),
                  FormatCount(one.expected.input_tokens()), FormatCount(one.expected.output_tokens()),
                  Usd(one.expected.usd()), Usd(MostUsd(one))});
    usd += one.expected.usd();
    most += MostUsd(one);
    tokens += Tokens(one.expected);
    if (one.max_usd > 0 && one.max_usd < one.expected.usd()) {
      note(fmt::format("--max-usd {:g} would end it before its rounds are done", one.max_usd));
    } else if (one.max_usd > 0 && one.max_usd < one.most.most_usd()) {
      note(fmt::format("at most is --max-usd; without it {}", Usd(one.most.most_usd())));
    }
    if (one.max_tokens > 0 && one.max_tokens < Tokens(one.expected)) {
      note(fmt::format("--max-tokens {} would end it before its rounds are done", one.max_tokens));
    }
    for (const std::string& text : one.expected.notes()) note(text);
  }
  std::string text = table.ToString();
  if (estimates.size() > 1) {
    text += fmt::format("all: {} tokens, expected {}, at most {}\n", FormatCount(tokens), Usd(usd), Usd(most));
  }
  if (estimates.size() == 1 && estimates[0].expected.models_size() > 0) {
    Table models;
    models.AddColumn("model");
    for (const char* title : {"tokens in", "tokens out", "expected", "at most"}) models.AddColumn(title, Table::kRight);
    for (int i = 0; i < estimates[0].expected.models_size(); ++i) {
      const v1::ModelEstimate& model = estimates[0].expected.models(i);
      const bool priced = !model.price_id().empty();
      const double worst = i < estimates[0].most.models_size() ? estimates[0].most.models(i).most_usd() : 0;
      models.AddRow({Line(model.model()), FormatCount(model.input_tokens()), FormatCount(model.output_tokens()),
                     priced ? Usd(model.usd()) : "unknown", priced ? Usd(worst) : "unknown"});
    }
    text += "\n" + models.ToString();
  }
  note("expected: half of all kernels fail at first, and half of those that fail are put right by each repair");
  return text + "\n" + notes;
}

}  // namespace warpsmith::cli
