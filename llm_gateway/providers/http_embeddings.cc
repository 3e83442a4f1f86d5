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
absl::StatusOr<std::vector<std::vector<float>>> ReadVectors(const ReplyNode& answer, size_t count) {
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

EmbeddingAnswer HttpEmbeddings::Embed(const std::vector<std::string>& texts, Cancellation& cancellation) {
  EmbeddingAnswer answer;
  const std::string label = fmt::format("{}: embeddings of {}", config_.name, config_.embedding_model);
  const absl::StatusOr<Secret> key = key_();
  if (!key.ok()) {
    answer.status = key.status();
    return answer;
  }
  HttpRequest request;
  request.url = config_.base_url + "/embeddings";
  request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
  if (!key->empty()) request.headers.push_back(format_->KeyHeader(*key));
  const Json body = {{"model", config_.embedding_model}, {"input", texts}, {"encoding_format", "float"}};
  request.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  request.deadlines = {FromSeconds(config_.connect_seconds), kDeadline, kDeadline, kDeadline};
  request.max_response_bytes = kMaxAnswer;
  request.ca_file = config_.ca_file;
  request.proxy_from_environment = config_.proxy_from_environment;
  std::string text;
  const HttpResult result = SendAndWait(
      transport_, std::move(request), [](int, const HttpHeaders&) {},
      [&text](std::string_view piece) { return text.append(piece), true; }, cancellation);
  answer.first_byte_seconds = result.first_byte_seconds;
  answer.seconds = result.seconds;
  answer.sent = result.error != HttpError::kConnect && result.error != HttpError::kConnectTimeout &&
                result.error != HttpError::kTls;
  const auto failed = [&](const std::string& what) {
    answer.status = Unavailable(fmt::format("{}: {}", label, OneLine(ValidText(key->Redact(what)), 500)));
    return answer;
  };
  if (result.error != HttpError::kNone) {
    answer.may_be_billed = answer.sent;
    return failed(result.message);
  }
  if (result.status < 200 || result.status >= 300) {
    const ServerError error = ReadErrorAnswer(result.status, result.headers, text);
    return failed(error.message.empty() ? fmt::format("status {}", result.status) : error.message);
  }
  answer.may_be_billed = true;
  const ReplyNode said = ParseReplyNode(text);
  const ReplyNode usage = said["usage"];
  for (const char* field : {"total_tokens", "prompt_tokens"}) {
    if (usage.HasCountAt(field)) answer.tokens = usage.CountAt(field);
  }
  auto vectors = ReadVectors(said, texts.size());
  if (vectors.ok()) {
    answer.vectors = *std::move(vectors);
  } else {
    answer.status = Annotate(vectors.status(), label);
  }
  return answer;
}

}  // namespace warpsmith::gateway
