#include "llm_gateway/providers/http_embeddings.h"

#include <fmt/format.h>

#include <utility>

#include "llm_gateway/providers/error_body.h"
#include "llm_gateway/providers/reply_node.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr Duration kDeadline = std::chrono::seconds(30);  // ideas wait for it
constexpr size_t kMaxAnswer = 64u << 20;

// The vectors by their index, or what is wrong with the answer.
absl::StatusOr<std::vector<std::vector<float>>> ReadVectors(const std::string& body, size_t count) {
  const ReplyNode answer = ParseReplyNode(body);
  std::vector<std::vector<float>> vectors(count);
  size_t found = 0;
  for (const ReplyNode entry : answer["data"].items()) {
    const auto index = static_cast<size_t>(entry.CountAt("index"));
    if (!entry.HasCountAt("index") || index >= count || !vectors[index].empty()) {
      return Internal("an embedding has an index that makes no sense");
    }
    for (const ReplyNode number : entry["embedding"].items()) {
      const std::optional<double> value = number.number();
      if (!value) return Internal("an embedding holds something that is no number");
      vectors[index].push_back(static_cast<float>(*value));
    }
    if (!vectors[index].empty()) ++found;
  }
  if (found != count) return Internal(fmt::format("there are {} embeddings for {} texts", found, count));
  return vectors;
}

}  // namespace

HttpEmbeddings::HttpEmbeddings(ModelConfig config, KeySource key, HttpTransport& transport)
    : config_(std::move(config)), format_(MakeWireFormat(config_)), key_(std::move(key)), transport_(transport) {}

absl::StatusOr<std::vector<std::vector<float>>> HttpEmbeddings::Embed(const std::vector<std::string>& texts,
                                                                      Cancellation& cancellation) {
  const std::string label = fmt::format("{}: embeddings of {}", config_.name, config_.embedding_model);
  WARPSMITH_ASSIGN_OR_RETURN(const Secret key, key_());
  HttpRequest request;
  request.url = config_.base_url + "/embeddings";
  request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
  if (!key.empty()) request.headers.push_back(format_->KeyHeader(key));
  const Json body = {{"model", config_.embedding_model}, {"input", texts}, {"encoding_format", "float"}};
  request.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  request.deadlines = {FromSeconds(config_.connect_seconds), kDeadline, kDeadline, kDeadline};
  request.max_response_bytes = kMaxAnswer;
  request.ca_file = config_.ca_file;
  request.proxy_from_environment = config_.proxy_from_environment;
  std::string answer;
  const HttpResult result = SendAndWait(
      transport_, std::move(request), [](int, const HttpHeaders&) {},
      [&answer](std::string_view piece) { return answer.append(piece), true; }, cancellation);
  const auto failed = [&](const std::string& what) {
    return Unavailable(fmt::format("{}: {}", label, OneLine(ValidText(key.Redact(what)), 500)));
  };
  if (result.error != HttpError::kNone) return failed(result.message);
  if (result.status < 200 || result.status >= 300) {
    const ServerError error = ReadErrorAnswer(result.status, result.headers, answer);
    return failed(error.message.empty() ? fmt::format("status {}", result.status) : error.message);
  }
  auto vectors = ReadVectors(answer, texts.size());
  if (!vectors.ok()) return Annotate(vectors.status(), label);
  return vectors;
}

}  // namespace warpsmith::gateway
