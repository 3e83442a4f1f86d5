#include "llm_gateway/service/day_ledger.h"

#include <fmt/format.h>

#include <utility>

#include "common/file.h"
#include "common/json.h"
#include "common/log.h"

namespace warpsmith::gateway {
namespace {

constexpr Duration kInterval = std::chrono::seconds(1);
constexpr int64_t kDayMicros = int64_t{24} * 3600 * 1'000'000;

}  // namespace

DayLedger::DayLedger(std::filesystem::path file, CallBudget& day, Clock& clock)
    : file_(std::move(file)), day_(day), clock_(clock) {}

absl::StatusOr<std::unique_ptr<DayLedger>> DayLedger::Open(std::filesystem::path file, CallBudget& day, Clock& clock) {
  std::unique_ptr<DayLedger> ledger(new DayLedger(std::move(file), day, clock));
  std::error_code error;
  std::filesystem::create_directories(ledger->file_.parent_path(), error);
  if (std::filesystem::exists(ledger->file_, error)) WARPSMITH_RETURN_IF_ERROR(ledger->Read());
  ledger->thread_ = std::thread([own = ledger.get()] { own->Work(); });
  return ledger;
}

DayLedger::~DayLedger() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (!thread_.joinable()) return;
  thread_.join();
  (void)Write();
}

int64_t DayLedger::Today() const { return clock_.WallMicros() / kDayMicros; }

absl::Status DayLedger::Read() {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string text, ReadFile(file_, 4096));
  const Json json = Json::parse(text, nullptr, false);
  const auto number = [&json](const char* key) {
    return json.is_object() && json.contains(key) && json[key].is_number() ? json[key].get<double>() : -1.0;
  };
  if (number("day") < 0 || number("usd") < 0 || number("tokens") < 0) {
    return FailedPrecondition(
        fmt::format("{} does not say what the day has cost; remove it to begin the day's budget anew", file_.string()));
  }
  if (static_cast<int64_t>(number("day")) == Today())
    day_.AddSpent(number("usd"), static_cast<int64_t>(number("tokens")));
  return absl::OkStatus();
}

absl::Status DayLedger::Write() {
  std::lock_guard lock(writing_);
  int64_t today;
  CallBudget::State state;
  do {  // both of one day
    today = Today();
    state = day_.state();
  } while (Today() != today);
  const Json json = {{"day", today},
                     {"usd", state.spent_usd + state.reserved_usd},
                     {"tokens", state.spent_tokens + state.reserved_tokens}};
  std::string text = json.dump() + "\n";
  if (text == written_) return absl::OkStatus();
  absl::Status status = WriteFileAtomically(file_, text);
  if (status.ok()) {
    written_ = std::move(text);
  } else if (!std::exchange(failed_, true)) {
    spdlog::error("what the day has cost could not be written; a restart would begin its budget anew: {}",
                  Message(status));
  }
  if (status.ok()) failed_ = false;
  return status;
}

void DayLedger::Work() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kInterval, [this] { return stopping_; })) {
    lock.unlock();
    (void)Write();
    lock.lock();
  }
}

}  // namespace warpsmith::gateway
