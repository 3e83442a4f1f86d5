#include "llm_gateway/providers/recorded_model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "common/file.h"
#include "common/hash.h"
#include "common/log.h"
#include "llm_gateway/async/wait_point.h"
#include "llm_gateway/providers/recorded_completion.h"

namespace warpsmith::gateway {
namespace {

constexpr int kVersion = 1;
constexpr size_t kMaxFileBytes = size_t{2} << 30;

// A text's and a text list's digest cannot be the same by how they are cut: JSON keeps the parts apart.
std::string Digest(const Json& json) { return Sha256Hex(json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

Completion Failed(ErrorClass error, std::string message) {
  Completion completion;
  completion.error = error;
  completion.message = std::move(message);
  completion.finish_reason = "error";
  return completion;
}

// Holds the file for this process alone while a line is written.
class FileLock {
 public:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {
    while (flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() { flock(descriptor_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

RecordedModel::RecordedModel(std::string file, ModelProvider* upstream, std::string model_name)
    : file_(std::move(file)), upstream_(upstream), model_name_(std::move(model_name)) {
  status_ = Load();
  if (status_.ok() && upstream_ != nullptr) status_ = OpenForAppending();
}

RecordedModel::~RecordedModel() {
  if (descriptor_ >= 0) close(descriptor_);
}

size_t RecordedModel::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

Json RecordedModel::PartsOf(const PromptRequest& request) const {
  Json messages = Json::array();
  for (const PromptMessage& message : request.messages) messages.push_back({message.role, message.text.str()});
  return {{"model", model_name_},
          {"messages_sha256", Digest(messages)},
          {"schema_sha256", request.schema.is_null() ? "" : Digest(request.schema)},
          {"schema_name", request.schema_name},
          {"effort", request.effort},
          {"max_output_tokens", request.max_output_tokens},
          {"sample_index", request.sample_index}};
}

absl::Status RecordedModel::Load() {
  if (upstream_ != nullptr && access(file_.c_str(), F_OK) != 0) return absl::OkStatus();  // it is made
  std::error_code ignored;
  if (std::filesystem::exists(file_, ignored) && !std::filesystem::is_regular_file(file_, ignored)) {
    return FailedPrecondition(fmt::format("{} is not a file; name a recording in `recording`", file_));
  }
  absl::StatusOr<std::string> text = ReadFile(file_, kMaxFileBytes);
  if (!text.ok()) {
    return Annotate(text.status(),
                    "the recording cannot be read; name one in `recording`, or make it by naming the "
                    "model to record in `upstream`");
  }
  std::string_view rest = *text;
  for (int line = 1; !rest.empty(); ++line) {
    const size_t end = rest.find('\n');
    absl::Status status = TakeLine(rest.substr(0, end), line);
    if (!status.ok() && end == rest.npos) {
      spdlog::warn("{}: line {} broke off and is left out ({} bytes)", file_, line, rest.size());
      torn_ = true;
      break;
    }
    if (!status.ok()) return Annotate(status, fmt::format("{}:{}", file_, line));
    if (end == rest.npos) break;
    rest.remove_prefix(end + 1);
  }
  return absl::OkStatus();
}

absl::Status RecordedModel::TakeLine(std::string_view text, int line) {
  if (text.empty()) return absl::OkStatus();
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return InvalidArgument("not a JSON object; take the line out, or record again");
  if (json.value("version", Json()) != kVersion) {
    return InvalidArgument(fmt::format("version: {} was written; this program reads {}; record again",
                                       json.value("version", Json()).dump(), kVersion));
  }
  Json key = json.value("key", Json()), request = json.value("request", Json());
  if (!key.is_string() || !request.is_object()) return InvalidArgument("key, request: missing");
  if (Digest(request) != key.get_ref<const std::string&>()) {
    return InvalidArgument("key: is not that of its request; the line was changed by hand");
  }
  WARPSMITH_ASSIGN_OR_RETURN(Completion completion, CompletionFromJson(json.value("completion", Json())));
  entries_[key.get<std::string>()] = {std::move(request), std::move(completion), line};
  return absl::OkStatus();
}

absl::Status RecordedModel::OpenForAppending() {
  descriptor_ = open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor_ < 0) return FailedPrecondition(ErrnoMessage("cannot open " + file_ + " for recording", errno));
  return absl::OkStatus();
}

absl::Status RecordedModel::Append(const Json& line) {
  std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  FileLock lock(descriptor_);
  const off_t size = lseek(descriptor_, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && pread(descriptor_, &last, 1, size - 1) != 1) {
    return FailedPrecondition(ErrnoMessage("cannot read " + file_, errno));
  }
  off_t keep = size;
  if (last != '\n' && torn_) {
    // The line that broke off would make one bad line with what follows it.
    for (char c = 0; keep > 0 && pread(descriptor_, &c, 1, keep - 1) == 1 && c != '\n';) --keep;
    if (ftruncate(descriptor_, keep) != 0) return FailedPrecondition(ErrnoMessage("cannot write " + file_, errno));
  } else if (last != '\n') {
    text.insert(0, "\n");
  }
  torn_ = false;
  for (size_t done = 0; done < text.size();) {
    ssize_t n = write(descriptor_, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      torn_ = ftruncate(descriptor_, keep) != 0;
      return FailedPrecondition(ErrnoMessage("cannot write " + file_, error));
    }
    done += static_cast<size_t>(n);
  }
  if (fsync(descriptor_) != 0) return FailedPrecondition(ErrnoMessage("cannot write " + file_, errno));
  return absl::OkStatus();
}

Completion RecordedModel::Complete(const PromptRequest& request, const DeltaCallback& on_delta,
                                   Cancellation& cancellation) {
  if (!status_.ok()) return Failed(ErrorClass::kConfiguration, model_name_ + ": " + Message(status_));
  const Json parts = PartsOf(request);
  const std::string key = Digest(parts);
  if (upstream_ == nullptr) {
    if (cancellation.cancelled()) return Failed(ErrorClass::kCancelled, "cancelled");
    return Replay(key, parts, on_delta);
  }
  Completion completion = upstream_->Complete(request, on_delta, cancellation);
  if (completion.error == ErrorClass::kCancelled) return completion;
  absl::Status status;
  RunBlocking([&] {
    std::lock_guard lock(mutex_);
    status =
        Append({{"version", kVersion}, {"key", key}, {"request", parts}, {"completion", CompletionToJson(completion)}});
    if (status.ok()) entries_[key] = {parts, completion, 0};
  });
  if (!status.ok()) {
    // What was spent stays told; the answer, which could not be had again, is not used.
    completion.error = ErrorClass::kConfiguration;
    completion.message = fmt::format("{}: the call was made but not recorded: {}", model_name_, Message(status));
    completion.finish_reason = "error";
    completion.text.clear();
  }
  return completion;
}

Completion RecordedModel::Replay(const std::string& key, const Json& parts, const DeltaCallback& on_delta) const {
  const Entry* entry = nullptr;
  {
    std::lock_guard lock(mutex_);  // entries of a replay never change once it is made
    auto found = entries_.find(key);
    if (found != entries_.end()) entry = &found->second;
  }
  if (entry == nullptr) {
    return Failed(ErrorClass::kNotRecorded,
                  fmt::format("{}: {} does not hold this call (key {}); {}", model_name_, file_, key, Nearest(parts)));
  }
  if (on_delta && !entry->completion.reasoning.empty()) on_delta(DeltaKind::kReasoning, entry->completion.reasoning);
  if (on_delta && !entry->completion.text.empty()) on_delta(DeltaKind::kText, entry->completion.text);
  return entry->completion;
}

// What differs from the recorded call that has most in common with this one.
std::string RecordedModel::Nearest(const Json& parts) const {
  constexpr const char* kRemedy = "record again with `upstream`, or replay with what it was recorded with";
  const Entry* nearest = nullptr;
  size_t fewest = parts.size() + 1;
  std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    size_t differ = 0;
    for (const auto& [name, value] : parts.items()) differ += entry.request.value(name, Json()) != value;
    if (differ < fewest || (differ == fewest && entry.line < nearest->line)) {
      fewest = differ;
      nearest = &entry;
    }
  }
  if (nearest == nullptr) return fmt::format("it holds no call at all; {}", kRemedy);
  std::string differences;
  for (const auto& [name, value] : parts.items()) {
    const Json recorded = nearest->request.value(name, Json());
    if (recorded == value) continue;
    if (!differences.empty()) differences += ", ";
    differences += name == "messages_sha256" ? "the prompt"
                   : name == "schema_sha256" ? "the schema"
                                             : fmt::format("{} {} (here {})", name, recorded.dump(), value.dump());
  }
  return fmt::format("the nearest, line {}, differs in {}; {}", nearest->line, differences, kRemedy);
}

}  // namespace warpsmith::gateway
