// Model calls kept in a file, and answered out of it: a run that was recorded can be had again without a provider, to
// the letter and in any order. With an upstream every call goes to it and is recorded before it is returned; without
// one nothing is ever asked, and a call that is not in the file is an error that says what comes nearest.
// The file holds JSON lines, one a call that ended by itself (what the caller cancelled is no answer), appended with
// fsync; of calls that are the same to the letter, sample_index included, the last counts. It holds no prompts, only
// their SHA-256; it does hold what the model said.
// Threading: as ModelProvider; several processes may record into one file. Latency is told as it was, not replayed.
// Errors: kNotRecorded; kConfiguration for everything that is wrong with the file, naming it and the line. A last line
// that broke off (a crash while recording) is left out with a warning.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_RECORDED_MODEL_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_RECORDED_MODEL_H_

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "common/status.h"
#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

class RecordedModel final : public ModelProvider {
 public:
  // `upstream` null: replay only; otherwise it must outlive this. `model_name` is part of what a call is known by: it
  // must be the same for recording and for replaying.
  RecordedModel(std::string file, ModelProvider* upstream, std::string model_name);
  ~RecordedModel() override;

  Completion Complete(const PromptRequest& request, const DeltaCallback& on_delta, Cancellation& cancellation) override;

  // Whether calls can work at all: what Complete would say of the file.
  const absl::Status& status() const { return status_; }
  size_t size() const;

 private:
  struct Entry {
    Json request;  // what the call is known by, part by part
    Completion completion;
    int line = 0;
  };

  Json PartsOf(const PromptRequest& request) const;
  absl::Status Load();
  absl::Status TakeLine(std::string_view text, int line);
  absl::Status OpenForAppending();
  absl::Status Append(const Json& line);
  Completion Replay(const std::string& key, const Json& parts, const DeltaCallback& on_delta) const;
  std::string Nearest(const Json& parts) const;

  const std::string file_;
  ModelProvider* const upstream_;
  const std::string model_name_;
  absl::Status status_;
  int descriptor_ = -1;  // of the file, where calls are recorded
  bool torn_ = false;    // the last line broke off
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by key; guarded by mutex_
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_RECORDED_MODEL_H_
