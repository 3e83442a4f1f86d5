// Answers of every provider's format that are cut, sliced, damaged or made up: what is not whole is an error, whatever
// it is nothing crashes, and all text that comes out is valid.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "llm_gateway/providers/wire_format.h"
#include "llm_gateway/replies/text.h"
#include "tests/llm_gateway/providers/model_testing.h"

namespace warpsmith::gateway {
namespace {

struct Format {
  const char* provider;
  std::string stream;  // a good answer
  std::string whole;   // the same as one object
};

const char kSaid[] = "First, second \xC3\xA9 and third.";

std::string Events(const std::vector<std::string>& objects) {
  std::string stream;
  for (const std::string& object : objects) stream += "data: " + object + "\n\n";
  return stream;
}

std::vector<Format> Formats() {
  return {
      {"openai_compatible",
       Events({R"({"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]})",
               R"({"choices":[{"index":0,"delta":{"reasoning_content":"hm"},"finish_reason":null}]})",
               R"({"choices":[{"index":0,"delta":{"content":"First, second \u00e9"},"finish_reason":null}]})",
               R"({"choices":[{"index":0,"delta":{"content":" and third."},"finish_reason":null}]})",
               R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})",
               R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}})", "[DONE]"}),
       R"({"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"First, second \u00e9 and third."}}],"usage":{"prompt_tokens":5,"completion_tokens":7}})"},
      {"openai",
       Events(
           {R"({"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"queued","output":[]}})",
            R"({"type":"response.output_text.delta","sequence_number":1,"delta":"First, second \u00e9"})",
            R"({"type":"response.output_text.delta","sequence_number":2,"delta":" and third."})",
            R"({"type":"response.completed","sequence_number":3,"response":{"id":"resp_1","status":"completed","error":null,"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"First, second \u00e9 and third."}]}],"usage":{"input_tokens":5,"output_tokens":7}}})"}),
       R"({"id":"resp_1","status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"First, second \u00e9 and third."}]}],"usage":{"input_tokens":5,"output_tokens":7}})"},
      {"anthropic",
       Events(
           {R"({"type":"message_start","message":{"id":"m","content":[],"stop_reason":null,"usage":{"input_tokens":5,"output_tokens":1}}})",
            R"({"type":"ping"})",
            R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}})",
            R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}})",
            R"({"type":"content_block_stop","index":0})",
            R"({"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}})",
            R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"First, second \u00e9"}})",
            R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":" and third."}})",
            R"({"type":"content_block_stop","index":1})",
            R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}})",
            R"({"type":"message_stop"})"}),
       R"({"type":"message","content":[{"type":"text","text":"First, second \u00e9 and third."}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":7}})"},
      {"gemini",
       Events(
           {R"({"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true}]},"index":0}]})",
            R"({"candidates":[{"content":{"role":"model","parts":[{"text":"First, second \u00e9"}]},"index":0}]})",
            R"({"candidates":[{"content":{"role":"model","parts":[{"text":" and third."}]},"index":0,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":7}})"}),
       R"([{"candidates":[{"content":{"parts":[{"text":"First, second \u00e9 and third."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":7}}])"},
  };
}

Completion Read(const Format& format, const std::string& body, const std::string& type, size_t slice = 0,
                bool intact = false) {
  const ModelConfig config = TestModel(format.provider, "http://127.0.0.1:1/v1");
  std::string told;
  const auto reader = MakeWireFormat(config)->NewReader([&told](DeltaKind kind, std::string_view piece) {
    if (kind == DeltaKind::kText) told.append(piece);
  });
  reader->OnHeaders(200, {{"content-type", type}});
  for (size_t at = 0; at < body.size();) {
    const size_t size = slice == 0 ? body.size() : std::min(slice, body.size() - at);
    const std::string piece = body.substr(at, size);  // of its own, so that reading past its end is seen
    if (!reader->OnData(piece)) break;
    at += size;
  }
  Completion completion = reader->Finish();
  // What is told piece by piece is shown as progress alone, so a damaged answer may tell other things than it keeps.
  if (intact && completion.ok()) CHECK(told == completion.text);
  return completion;
}

void CheckSound(const Completion& completion) {
  CHECK(ValidText(completion.text) == completion.text);
  CHECK(ValidText(completion.reasoning) == completion.reasoning);
  CHECK(ValidText(completion.message) == completion.message);
  CHECK(completion.message.size() < 8000);
  CHECK(completion.message.empty() == completion.ok());
  CHECK((completion.usage.input >= 0 && completion.usage.output >= 0 && completion.usage.reasoning >= 0));
  for (const char* reason : {"stop", "length", "refusal", "error"}) {
    if (completion.finish_reason == reason) return;
  }
  FAIL("finish_reason " << completion.finish_reason);
}

TEST_CASE("an answer is the same however it is sliced, as a stream or whole", "[unit]") {
  for (const Format& format : Formats()) {
    INFO(format.provider);
    for (size_t slice : {0, 1, 2, 7, 64}) {
      const Completion completion = Read(format, format.stream, "text/event-stream", slice, /*intact=*/true);
      INFO(slice << ": " << completion.message);
      CHECK(completion.ok());
      CHECK(completion.text == kSaid);
      CHECK(completion.finish_reason == "stop");
      CHECK(completion.usage.input == 5);
      CHECK(completion.usage.output == 7);
      const Completion whole = Read(format, format.whole, "application/json", slice, /*intact=*/true);
      INFO(whole.message);
      CHECK(whole.text == kSaid);
      CHECK(whole.usage.output == 7);
    }
  }
}

TEST_CASE("an answer that is cut anywhere is never taken for whole", "[unit]") {
  for (const Format& format : Formats()) {
    INFO(format.provider);
    int cut = 0;
    for (size_t size = 0; size < format.stream.size(); ++size) {
      const Completion completion = Read(format, format.stream.substr(0, size), "text/event-stream");
      CheckSound(completion);
      if (!completion.ok()) ++cut;
      // After its end was told nothing is missing but what it took.
      if (completion.ok()) CHECK(completion.text == kSaid);
    }
    CHECK(cut > static_cast<int>(format.stream.size()) / 2);
    for (size_t size = 0; size < format.whole.size(); ++size) {
      const Completion completion = Read(format, format.whole.substr(0, size), "application/json");
      INFO(size);
      CheckSound(completion);
      CHECK_FALSE(completion.ok());
    }
  }
}

TEST_CASE("answers that make no sense are errors of every format", "[unit]") {
  const std::string deep = std::string(100'000, '[');
  const std::vector<std::string> bodies = {
      "",
      "\n",
      "null",
      "[]",
      "{}",
      "3",
      "\"text\"",
      "<html>no</html>",
      "{\"choices\": [{\"message\": {\"content\": \"half",
      "[" + std::string(1000, ',') + "]",
      deep,
      "{\"a\":" + deep,
      "\xFF\xFE{}",
      std::string(64, '\0'),
      R"({"choices":{"0":1},"candidates":3,"content":"x","output":{},"status":[],"type":{}})",
      R"({"choices":[3],"candidates":[null],"content":[7],"output":["x"],"status":"completed!","type":"message"})",
      R"({"type":"response.completed"})",
      R"({"type":"response.completed","response":[1]})",
      R"({"type":"message_delta","delta":{"stop_reason":5}})",
      R"({"type":"content_block_delta","delta":"x"})",
      R"({"candidates":[{"content":{"parts":"x"},"finishReason":9}]})",
      R"({"choices":[{"delta":{"content":["x"]},"finish_reason":{}}]})",
      R"({"usage":{"prompt_tokens":-5,"completion_tokens":1e400,"input_tokens":"9","output_tokens":[]}})"};
  for (const Format& format : Formats()) {
    for (const std::string& body : bodies) {
      INFO(format.provider << ": " << body.substr(0, 100));
      const Completion whole = Read(format, body, "application/json");
      CheckSound(whole);
      CHECK_FALSE(whole.ok());
      for (const std::string& stream :
           {"data: " + body + "\n\n", "event: x\ndata: " + body + "\n\ndata: [DONE]\n\n", ": c\n" + body + "\n\n"}) {
        const Completion completion = Read(format, stream, "text/event-stream", 5);
        CheckSound(completion);
        CHECK_FALSE((completion.ok() && !completion.text.empty()));
      }
    }
  }
}

TEST_CASE("damaged answers of every format give an error or an answer, and text that is valid", "[property]") {
  std::mt19937 random(5);
  const std::string splices[] = {"{",       "}",       "\"",   "\n",    "\n\n", "data: ", "null",
                                 "\\ud800", "\\u0000", "\xC3", "1e999", "[",    "]"};
  for (const Format& format : Formats()) {
    INFO(format.provider);
    int fine = 0;
    for (int trial = 0; trial < 1500; ++trial) {
      std::string stream = format.stream;
      for (unsigned change = 0; change <= random() % 4; ++change) {
        const size_t at = random() % stream.size();
        switch (random() % 4) {
          case 0:
            stream[at] = static_cast<char>(random());
            break;
          case 1:
            stream.erase(at, 1 + random() % 20);
            break;
          case 2:
            stream.insert(at, splices[random() % std::size(splices)]);
            break;
          default:
            stream.insert(at, stream.substr(random() % stream.size(), random() % 60));
        }
        if (stream.empty()) stream = "x";
      }
      INFO(stream);
      const Completion completion = Read(format, stream, "text/event-stream", 1 + random() % 50);
      CheckSound(completion);
      fine += completion.ok();
    }
    CHECK(fine > 0);
    CHECK(fine < 1500);
  }
}

}  // namespace
}  // namespace warpsmith::gateway
