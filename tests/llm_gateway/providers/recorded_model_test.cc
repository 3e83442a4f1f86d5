#include "llm_gateway/providers/recorded_model.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <thread>

#include "common/file.h"
#include "llm_gateway/providers/recorded_completion.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

// A FAKE model: answers with the prompt and the sample's number, counts its calls.
class EchoModel final : public ModelProvider {
 public:
  Completion Complete(const PromptRequest& request, const DeltaCallback& on_delta,
                      Cancellation& cancellation) override {
    int call = ++calls;
    Completion completion;
    completion.error = cancellation.cancelled() ? ErrorClass::kCancelled : error;
    completion.message = completion.ok() ? "" : "the server is ill";
    completion.text = request.messages.back().text.str() + " #" + std::to_string(request.sample_index) + " call " +
                      std::to_string(call) + " \xC3\xA9\"\n\\";
    completion.reasoning = "hm";
    completion.finish_reason = "stop";
    completion.usage = {100, 20, 3, 4, 50, 6};
    completion.first_byte_seconds = 0.25;
    completion.seconds = 1.5;
    completion.tries = 2;
    completion.unreported_tries = 1;
    completion.server_limits.remaining_tokens = 12345;
    completion.model = "echo";
    completion.effort = request.effort;
    completion.usd = 0.125;
    completion.price_id = "2026-01-01";
    completion.estimated = true;
    completion.earlier.resize(1);
    completion.earlier[0].error = ErrorClass::kRateLimited;
    completion.earlier[0].usage.input = 7;
    if (on_delta) on_delta(DeltaKind::kText, completion.text);
    return completion;
  }
  std::atomic<int> calls{0};
  ErrorClass error = ErrorClass::kNone;
};

PromptRequest Ask(const std::string& text, int sample = 0) {
  PromptRequest request;
  request.messages = {{"system", "You are terse.", true}, {"user", text}};
  request.max_output_tokens = 1000;
  request.effort = "low";
  request.sample_index = sample;
  return request;
}

Completion Call(ModelProvider& model, const PromptRequest& request, std::string* deltas = nullptr) {
  Cancellation cancellation;
  DeltaCallback on_delta;
  if (deltas != nullptr) on_delta = [deltas](DeltaKind, std::string_view piece) { deltas->append(piece); };
  return model.Complete(request, on_delta, cancellation);
}

struct Recording {
  TemporaryDirectory folder = TemporaryDirectory::Create("recorded").value();
  std::string file = folder.path() / "calls.jsonl";

  std::string Text() const { return ReadFile(file).value(); }
  void Write(const std::string& text) const { REQUIRE(WriteFileAtomically(file, text).ok()); }
};

TEST_CASE("a recording is replayed whole, in any order, without its model", "[unit]") {
  Recording recording;
  EchoModel upstream;
  std::vector<PromptRequest> requests;
  for (int i = 0; i < 5; ++i) {
    for (int sample = 0; sample < 3; ++sample) requests.push_back(Ask("prompt " + std::to_string(i), sample));
  }
  requests.push_back(Ask("with a schema"));
  requests.back().schema = {{"type", "object"}};
  std::vector<Completion> recorded;
  {
    RecordedModel recorder(recording.file, &upstream, "m");
    REQUIRE(recorder.status().ok());
    for (const PromptRequest& request : requests) recorded.push_back(Call(recorder, request));
  }
  CHECK(upstream.calls == 16);
  RecordedModel replay(recording.file, nullptr, "m");
  REQUIRE(replay.status().ok());
  CHECK(replay.size() == 16);
  for (size_t i = requests.size(); i-- > 0;) {
    std::string deltas;
    Completion completion = Call(replay, requests[i], &deltas);
    CHECK(CompletionToJson(completion) == CompletionToJson(recorded[i]));
    CHECK(deltas == recorded[i].reasoning + recorded[i].text);
    // The same again is the same again.
    CHECK(Call(replay, requests[i]).text == recorded[i].text);
  }
  CHECK(upstream.calls == 16);
  CHECK(CompletionToJson(recorded[0]).size() == 26);  // error, earlier and each field: a new one belongs in here
  struct stat information;
  REQUIRE(stat(recording.file.c_str(), &information) == 0);
  CHECK((information.st_mode & 0777) == 0600);
  CHECK(recording.Text().find("You are terse") == std::string::npos);
}

TEST_CASE("a call that was not recorded says what is nearest", "[unit]") {
  Recording recording;
  EchoModel upstream;
  {
    RecordedModel recorder(recording.file, &upstream, "m");
    Call(recorder, Ask("one"));
    Call(recorder, Ask("two"));
  }
  RecordedModel replay(recording.file, nullptr, "m");
  auto message = [&](ModelProvider& model, const PromptRequest& request) {
    Completion completion = Call(model, request);
    CHECK(completion.error == ErrorClass::kNotRecorded);
    CHECK(completion.text.empty());
    CHECK_THAT(completion.message, Contains(recording.file) && Contains("key "));
    return completion.message;
  };
  CHECK_THAT(message(replay, Ask("two", 1)), Contains("line 2") && Contains("sample_index 0 (here 1)"));
  CHECK_THAT(message(replay, Ask("three")), Contains("the prompt"));
  PromptRequest request = Ask("one");
  request.effort = "high";
  CHECK_THAT(message(replay, request), Contains("line 1") && Contains("effort \"low\" (here \"high\")"));
  request = Ask("one");
  request.max_output_tokens = 2000;
  CHECK_THAT(message(replay, request), Contains("max_output_tokens 1000 (here 2000)"));
  request = Ask("one");
  request.schema = {{"type", "object"}};
  CHECK_THAT(message(replay, request), Contains("the schema"));
  request = Ask("one");
  request.messages = {{"user", "You are terse."}, {"user", "one"}};
  CHECK_THAT(message(replay, request), Contains("the prompt"));
  RecordedModel other_name(recording.file, nullptr, "other");
  CHECK_THAT(message(other_name, Ask("one")), Contains("model \"m\" (here \"other\")"));
  Recording empty;
  empty.Write("");
  RecordedModel nothing(empty.file, nullptr, "m");
  CHECK_THAT(Call(nothing, Ask("one")).message, Contains("no call at all"));
  // What is the same for the model is the same here.
  request = Ask("one");
  request.messages[0].cacheable = false;
  CHECK(Call(replay, request).ok());
}

TEST_CASE("failures are recorded too, what was cancelled is not", "[unit]") {
  Recording recording;
  EchoModel upstream;
  upstream.error = ErrorClass::kOverloaded;
  RecordedModel recorder(recording.file, &upstream, "m");
  CHECK(Call(recorder, Ask("fails")).error == ErrorClass::kOverloaded);
  Cancellation cancelled;
  cancelled.Cancel();
  CHECK(recorder.Complete(Ask("cancelled"), {}, cancelled).error == ErrorClass::kCancelled);
  RecordedModel replay(recording.file, nullptr, "m");
  Completion completion = Call(replay, Ask("fails"));
  CHECK(completion.error == ErrorClass::kOverloaded);
  CHECK(completion.message == "the server is ill");
  CHECK(Call(replay, Ask("cancelled")).error == ErrorClass::kNotRecorded);
  CHECK(replay.Complete(Ask("fails"), {}, cancelled).error == ErrorClass::kCancelled);
}

TEST_CASE("recording goes on in a file that exists, the last of equal calls counts", "[unit]") {
  Recording recording;
  EchoModel upstream;
  for (int run = 0; run < 3; ++run) {
    RecordedModel recorder(recording.file, &upstream, "m");
    Call(recorder, Ask("same"));
    Call(recorder, Ask("run " + std::to_string(run)));
  }
  RecordedModel replay(recording.file, nullptr, "m");
  CHECK(replay.size() == 4);
  CHECK_THAT(Call(replay, Ask("same")).text, Contains("call 5"));
  CHECK(upstream.calls == 6);
}

TEST_CASE("a last line that broke off is left out, anything else that is wrong is an error", "[unit]") {
  Recording recording;
  EchoModel upstream;
  {
    RecordedModel recorder(recording.file, &upstream, "m");
    for (const char* text : {"one", "two", "three"}) Call(recorder, Ask(text));
  }
  const std::string whole = recording.Text();
  const size_t last_line = whole.rfind('\n', whole.size() - 2) + 1;
  for (size_t cut : {last_line + 1, last_line + 50, whole.size() - 2}) {
    recording.Write(whole.substr(0, cut));
    RecordedModel replay(recording.file, nullptr, "m");
    REQUIRE(replay.status().ok());
    CHECK(replay.size() == 2);
    CHECK(Call(replay, Ask("three")).error == ErrorClass::kNotRecorded);
    RecordedModel recorder(recording.file, &upstream, "m");
    CHECK(Call(recorder, Ask("four")).ok());
    RecordedModel again(recording.file, nullptr, "m");
    REQUIRE(again.status().ok());
    CHECK(again.size() == 3);
  }
  recording.Write(whole.substr(0, whole.size() - 1));  // whole, but for its line end
  {
    RecordedModel recorder(recording.file, &upstream, "m");
    CHECK(Call(recorder, Ask("four")).ok());
    CHECK(RecordedModel(recording.file, nullptr, "m").size() == 4);
  }
  auto problem = [&](const std::string& text) {
    recording.Write(text);
    RecordedModel replay(recording.file, nullptr, "m");
    Completion completion = Call(replay, Ask("one"));
    CHECK(completion.error == ErrorClass::kConfiguration);
    CHECK_THAT(completion.message, Contains(recording.file + ":2"));
    const int before = upstream.calls;
    RecordedModel recorder(recording.file, &upstream, "m");
    CHECK(Call(recorder, Ask("one")).error == ErrorClass::kConfiguration);
    CHECK(upstream.calls == before);  // not paid for what cannot be kept
    return completion.message;
  };
  const std::string first = whole.substr(0, whole.find('\n') + 1);
  std::string changed = first;
  CHECK_THAT(problem(first + "{\"half\n" + first), Contains("not a JSON object"));
  CHECK_THAT(problem(first + "{}\n"), Contains("version"));
  changed.replace(changed.find("\"sample_index\":0"), 16, "\"sample_index\":1");
  CHECK_THAT(problem(first + changed), Contains("key"));
  changed = first;
  changed.replace(changed.find("\"tries\":2"), 9, "\"tries\":{}");
  CHECK_THAT(problem(first + changed), Contains("completion.tries"));
  changed = first;
  changed.replace(changed.find("\"rate_limited\""), 14, "\"bad weather\"");
  CHECK_THAT(problem(first + changed), Contains("completion.error"));
}

TEST_CASE("a file that cannot be there is an error before anything is asked", "[unit]") {
  Recording recording;
  EchoModel upstream;
  RecordedModel replay(recording.file, nullptr, "m");
  CHECK_FALSE(replay.status().ok());
  CHECK_THAT(Call(replay, Ask("one")).message, Contains(recording.file) && Contains("upstream"));
  RecordedModel recorder(recording.file + "/no/such/folder", &upstream, "m");
  CHECK(Call(recorder, Ask("one")).error == ErrorClass::kConfiguration);
  RecordedModel in_folder(recording.folder.path(), &upstream, "m");
  CHECK(Call(in_folder, Ask("one")).error == ErrorClass::kConfiguration);
  CHECK(upstream.calls == 0);
  RecordedModel device("/dev/zero", nullptr, "m");
  CHECK(Call(device, Ask("one")).error == ErrorClass::kConfiguration);
}

TEST_CASE("where a line cannot be kept, the call is told as spent, its answer is not used", "[unit]") {
  Recording recording;
  EchoModel upstream;
  RecordedModel recorder(recording.file, &upstream, "m");
  CHECK(Call(recorder, Ask("one")).ok());
  const std::string before = recording.Text();
  auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit, limit;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  limit = old_limit;
  limit.rlim_cur = before.size() + 100;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  Completion completion = Call(recorder, Ask("two"));
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  CHECK(completion.error == ErrorClass::kConfiguration);
  CHECK_THAT(completion.message, Contains(recording.file) && Contains("not recorded"));
  CHECK(completion.usage.input == 100);
  CHECK(completion.text.empty());
  CHECK(recording.Text() == before);  // nothing torn is left
  CHECK(Call(recorder, Ask("two")).ok());
  CHECK(RecordedModel(recording.file, nullptr, "m").size() == 2);
}

TEST_CASE("many threads record and replay at once", "[unit]") {
  Recording recording;
  EchoModel upstream;
  auto in_threads = [](ModelProvider& model) {
    std::atomic<int> ok{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 10; ++i) ok += Call(model, Ask("thread " + std::to_string(thread), i)).ok();
      });
    }
    for (std::thread& thread : threads) thread.join();
    return ok.load();
  };
  RecordedModel recorder(recording.file, &upstream, "m"), second(recording.file, &upstream, "m2");
  int recorded_by_second = 0;
  std::thread other([&] { recorded_by_second = in_threads(second); });
  CHECK(in_threads(recorder) == 80);
  other.join();
  CHECK(recorded_by_second == 80);
  RecordedModel replay(recording.file, nullptr, "m");
  CHECK(replay.size() == 160);
  CHECK(in_threads(replay) == 80);
}

}  // namespace
}  // namespace warpsmith::gateway
