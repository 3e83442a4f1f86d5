// Whose turn it is on the device: one candidate at a time, those of the problem that is loaded first, since loading
// another costs seconds; but nobody is passed over more than a bounded number of times.
// Threading: safe from any thread.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_DEVICE_TURN_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_DEVICE_TURN_H_

#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace warpsmith::evaluate {

class DeviceTurn {
 public:
  explicit DeviceTurn(int most_passed_over = 16) : most_passed_over_(most_passed_over) {}

  // The device is its holder's until it goes.
  class Hold {
   public:
    explicit Hold(DeviceTurn* turn) : turn_(turn) {}
    Hold(Hold&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}
    Hold& operator=(Hold&& other) noexcept {
      std::swap(turn_, other.turn_);
      return *this;
    }
    ~Hold() {
      if (turn_ != nullptr) turn_->Release();
    }

   private:
    DeviceTurn* turn_;
  };

  // Waits; nullopt once a stop is asked for.
  std::optional<Hold> Take(const std::string& problem_id, std::stop_token stop);

  int waiting() const;

 private:
  struct Ticket {
    std::string problem_id;
    int passed_over = 0;
    bool called = false;
  };

  void Release();
  void CallNext();  // with mutex_ held

  const int most_passed_over_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::list<Ticket*> waiting_;  // in order of arrival; guarded by mutex_, as all below
  bool taken_ = false;
  std::string problem_id_;  // of whoever had the device last
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_DEVICE_TURN_H_
