#include "llm_gateway/providers/error_body.h"

#include <catch2/catch.hpp>

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

struct AnswerRow {
  int status;
  const char* body;
  ErrorClass error;
};

void Check(std::initializer_list<AnswerRow> rows) {
  for (const AnswerRow& row : rows) {
    INFO(row.status << " " << row.body);
    ServerError error = ReadErrorAnswer(row.status, {}, row.body);
    CHECK(Name(error.error) == Name(row.error));
    CHECK_FALSE(error.refused);
    CHECK_THAT(error.message, Contains("HTTP " + std::to_string(row.status)));
  }
}

TEST_CASE("OpenAI's errors", "[unit]") {
  Check({
      {429, R"({"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null}})",
       ErrorClass::kQuota},
      {429, R"({"error":{"message":"Limit reached on tokens per min","type":"tokens","code":"rate_limit_exceeded"}})",
       ErrorClass::kRateLimited},
      {429, R"({"error":{"message":"Limit reached on requests per day","code":"rate_limit_exceeded"}})",
       ErrorClass::kQuota},
      {401, R"({"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}})",
       ErrorClass::kAuthentication},
      {400, R"({"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}})",
       ErrorClass::kContextLength},
      {400,
       R"({"error":{"message":"This model's maximum context length is 8192","type":"BadRequestError","code":400}})",
       ErrorClass::kContextLength},
      {400, R"({"error":{"message":"Your input exceeds the context window","type":"invalid_request_error"}})",
       ErrorClass::kContextLength},
      {400, R"({"error":{"message":"Unsupported value","type":"invalid_request_error","code":"unsupported_value"}})",
       ErrorClass::kInvalidRequest},
      {404, R"({"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}})",
       ErrorClass::kNotFound},
      {500, R"({"error":{"message":"sorry","type":"server_error"}})", ErrorClass::kServer},
      {503, R"({"error":{"message":"slow down","type":"server_error","code":"slow_down"}})", ErrorClass::kOverloaded},
      {408, "", ErrorClass::kServer},
      {409, "", ErrorClass::kServer},
      {402, R"({"error":"pay"})", ErrorClass::kQuota},
      {502, "<html>bad gateway</html>", ErrorClass::kServer},
      {302, "", ErrorClass::kRedirect},
      {422, R"({"detail":[{"loc":["body","n"],"msg":"field required"}]})", ErrorClass::kInvalidRequest},
      {400, "not JSON", ErrorClass::kInvalidRequest},
  });
  CHECK_THAT(ReadErrorAnswer(400, {{"x-request-id", "req_1"}}, R"({"error":{"message":"bad","param":"n"}})").message,
             Contains("bad (field n)") && Contains("(request req_1)"));
  CHECK_THAT(ReadErrorAnswer(422, {}, R"({"detail":[{"msg":"field required"}]})").message, Contains("field required"));
}

TEST_CASE("Anthropic's errors", "[unit]") {
  auto body = [](const char* type, const char* message = "it says why") {
    return std::string(R"({"type":"error","error":{"type":")") + type + R"(","message":")" + message +
           R"("},"request_id":"req_1"})";
  };
  struct Typed {
    int status;
    const char* type;
    ErrorClass error;
  };
  for (Typed row : {Typed{400, "invalid_request_error", ErrorClass::kInvalidRequest},
                    {401, "authentication_error", ErrorClass::kAuthentication},
                    {402, "billing_error", ErrorClass::kQuota},
                    {400, "billing_error", ErrorClass::kQuota},
                    {403, "permission_error", ErrorClass::kAuthentication},
                    {404, "not_found_error", ErrorClass::kNotFound},
                    {413, "request_too_large", ErrorClass::kContextLength},
                    {429, "rate_limit_error", ErrorClass::kRateLimited},
                    {504, "timeout_error", ErrorClass::kServer},
                    {500, "api_error", ErrorClass::kServer},
                    {529, "overloaded_error", ErrorClass::kOverloaded}}) {
    INFO(row.type);
    CHECK(Name(ReadErrorAnswer(row.status, {}, body(row.type)).error) == Name(row.error));
    CHECK_THAT(ReadErrorAnswer(row.status, {{"request-id", "req_1"}}, body(row.type)).message,
               Contains("it says why") && Contains("req_1"));
    // In a stream there is no status: the type alone tells.
    ServerError event = ReadErrorEvent(Json::parse(body(row.type)));
    CHECK(Name(event.error) == Name(row.error));
    CHECK_THAT(event.message, Contains("it says why"));
  }
  CHECK(ReadErrorAnswer(400, {}, body("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"))
            .error == ErrorClass::kContextLength);
  CHECK(ReadErrorAnswer(400, {}, body("invalid_request_error", "Your credit balance is too low to access the API"))
            .error == ErrorClass::kQuota);
}

TEST_CASE("Gemini's errors", "[unit]") {
  auto exhausted = [](const std::string& id, const std::string& value) {
    return R"({"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing",)"
           R"("status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure",)"
           R"("violations":[{"quotaMetric":"generate_content_requests","quotaId":")" +
           id + R"(","quotaValue":")" + value +
           R"("}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}})";
  };
  ServerError minute = ReadErrorAnswer(429, {}, exhausted("GenerateRequestsPerMinutePerProject", "15"));
  CHECK(minute.error == ErrorClass::kRateLimited);
  CHECK(minute.retry_after == FromSeconds(34.5));
  CHECK(ReadErrorAnswer(429, {}, "[" + exhausted("GenerateRequestsPerMinutePerProject", "15") + "]").retry_after ==
        FromSeconds(34.5));
  CHECK(ReadErrorAnswer(429, {}, exhausted("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "50")).error ==
        ErrorClass::kQuota);
  CHECK(ReadErrorAnswer(429, {}, exhausted("GenerateRequestsPerMinutePerProject", "0")).error == ErrorClass::kQuota);
  Check({
      {429, R"({"error":{"code":429,"message":"exhausted","status":"RESOURCE_EXHAUSTED"}})", ErrorClass::kRateLimited},
      {400, R"([{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}])", ErrorClass::kInvalidRequest},
      {400,
       R"({"error":{"code":400,"message":"The input token count exceeds the maximum","status":"INVALID_ARGUMENT"}})",
       ErrorClass::kContextLength},
      {400,
       R"({"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}})",
       ErrorClass::kAuthentication},
      {400, R"({"error":{"code":400,"message":"not here","status":"FAILED_PRECONDITION"}})",
       ErrorClass::kInvalidRequest},
      {403, R"({"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}})", ErrorClass::kAuthentication},
      {404, R"({"error":{"code":404,"message":"no","status":"NOT_FOUND"}})", ErrorClass::kNotFound},
      {500, R"({"error":{"code":500,"message":"no","status":"INTERNAL"}})", ErrorClass::kServer},
      {503, R"({"error":{"code":503,"message":"no","status":"UNAVAILABLE"}})", ErrorClass::kOverloaded},
      {504, R"({"error":{"code":504,"message":"no","status":"DEADLINE_EXCEEDED"}})", ErrorClass::kServer},
  });
  CHECK(ReadErrorEvent(Json::parse(R"({"error":{"code":503,"message":"no","status":"UNAVAILABLE"}})")).error ==
        ErrorClass::kOverloaded);
}

TEST_CASE("what is turned down for its content is no failure", "[unit]") {
  for (const char* body :
       {R"({"error":{"code":"content_filter","message":"filtered","status":400}})",
        R"({"error":{"code":"invalid_prompt","message":"flagged"}})",
        R"({"error":{"code":null,"innererror":{"code":"ResponsibleAIPolicyViolation"},"message":"x"}})"}) {
    INFO(body);
    ServerError error = ReadErrorAnswer(400, {}, body);
    CHECK(error.refused);
    CHECK(error.error == ErrorClass::kNone);
    CHECK_FALSE(ReadErrorAnswer(500, {}, body).refused);
  }
}

TEST_CASE("bodies that make no sense", "[unit]") {
  std::string deep = R"({"detail":)" + std::string(300000, '[') + std::string(300000, ']') + "}";
  CHECK(ReadErrorAnswer(400, {}, deep).error == ErrorClass::kInvalidRequest);
  CHECK(ReadErrorAnswer(400, {}, deep).message.size() < 3000);
  for (const char* body : {"[]", "{}", "null", "3", "\"text\"", R"({"error":null})", R"({"error":[1]})",
                           R"({"error":{"code":[],"message":{},"details":[3,{"violations":[4]}]}})", "\xFF\xFE"}) {
    INFO(body);
    CHECK(ReadErrorAnswer(429, {}, body).error == ErrorClass::kRateLimited);
  }
  CHECK(ReadErrorEvent(Json::object()).error == ErrorClass::kServer);
}

}  // namespace
}  // namespace warpsmith::gateway
