#include "gpu_worker/supervisor.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <optional>
#include <thread>
#include <utility>

#include "common/log.h"
#include "gpu_worker/exit_code.h"

namespace warpsmith {
namespace {

constexpr std::chrono::milliseconds kLook(50);  // how often a running worker is looked at

// False if a stop came first.
bool Pause(double seconds, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  woken.wait_for(lock, stop, FromSeconds(seconds), [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, cuda::GpuProbe& probe) : options_(std::move(options)), probe_(probe) {
  for (const SupervisedWorker& worker : options_.workers) reports_[worker.worker_id] = {};
}

std::map<std::string, Supervisor::Report> Supervisor::Reports() const {
  const std::lock_guard lock(mutex_);
  return reports_;
}

void Supervisor::Set(const SupervisedWorker& worker, State state) {
  const std::lock_guard lock(mutex_);
  reports_[worker.worker_id].state = state;
}

int Supervisor::Run(std::stop_token stop) {
  {
    std::vector<std::jthread> lives;
    lives.reserve(options_.workers.size());
    for (const SupervisedWorker& worker : options_.workers) {
      lives.emplace_back([this, &worker, stop] { Live(worker, stop); });
    }
  }
  const auto reports = Reports();
  const bool bad = std::any_of(reports.begin(), reports.end(),
                               [](const auto& entry) { return entry.second.state == State::kRetired; });
  return bad && !stop.stop_requested() ? 1 : 0;
}

bool Supervisor::StopChild(const SupervisedWorker& worker, ChildProcess& child) const {
  child.Kill(SIGTERM);
  if (child.Wait(FromSeconds(options_.stop_limit))) return true;
  spdlog::error("worker {} did not stop within {} s; it is killed", worker.worker_id, options_.stop_limit);
  if (child.Stop(std::chrono::milliseconds(100))) return true;
  spdlog::error("worker {} cannot be killed: it hangs in the driver of {}", worker.worker_id, worker.gpu);
  return false;
}

Supervisor::End Supervisor::RunOnce(const SupervisedWorker& worker, const std::stop_token& stop) {
  ChildOptions options;
  options.arguments = worker.arguments;
  options.stderr_to_parent = true;
  const TimePoint start = RealClock().Now();
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(options);
  if (!child.ok()) {
    spdlog::error("worker {} cannot be started: {}", worker.worker_id, Message(child.status()));
    return {};
  }
  {
    const std::lock_guard lock(mutex_);
    Report& report = reports_[worker.worker_id];
    report.state = State::kRunning;
    report.pid = (*child)->pid();
    ++report.starts;
  }
  spdlog::info("worker {} runs on {} as process {}", worker.worker_id, worker.gpu, (*child)->pid());
  std::optional<ChildExit> exit;
  while (!(exit = (*child)->Wait(kLook))) {
    if (stop.stop_requested()) {
      StopChild(worker, **child);
      return {End::kStopped, 0};
    }
  }
  End end;
  end.seconds = ToSeconds(RealClock().Now() - start);
  if (stop.stop_requested()) {
    end.kind = End::kStopped;
  } else if (!exit->signaled && exit->exit_code == 0) {
    end.kind = End::kDrained;
  } else if (!exit->signaled && exit->exit_code == kExitGpuWedged) {
    end.kind = End::kWedged;
  } else if (!exit->signaled && exit->exit_code == kExitGpuRetired) {
    end.kind = End::kRetired;
  } else {
    spdlog::error("worker {} died ({})", worker.worker_id, exit->Describe());
  }
  return end;
}

bool Supervisor::WaitUntilWell(const SupervisedWorker& worker, const std::stop_token& stop) {
  for (;;) {
    const absl::Status well = probe_.Check(worker.gpu_uuid).status();
    if (well.ok()) return !stop.stop_requested();
    spdlog::error("{} is not well, so worker {} stays down: {}; looking again in {} s", worker.gpu, worker.worker_id,
                  Message(well), options_.recheck_pause);
    Set(worker, State::kGpuUnwell);
    if (!Pause(options_.recheck_pause, stop)) return false;
  }
}

void Supervisor::Live(const SupervisedWorker& worker, std::stop_token stop) {
  double pause = options_.shortest_pause;
  while (!stop.stop_requested()) {
    const End end = RunOnce(worker, stop);
    switch (end.kind) {
      case End::kStopped:
        Set(worker, State::kStopped);
        return;
      case End::kDrained:
        spdlog::info("worker {} has drained", worker.worker_id);
        Set(worker, State::kDrained);
        return;
      case End::kRetired:
        spdlog::error("{} is out of service, and worker {} stays down; see its log above for the reason and the remedy",
                      worker.gpu, worker.worker_id);
        Set(worker, State::kRetired);
        return;
      case End::kWedged:
        spdlog::error("{} is wedged; worker {} is started again once the GPU answers", worker.gpu, worker.worker_id);
        Set(worker, State::kGpuUnwell);
        if (!Pause(options_.recheck_pause, stop)) break;
        if (!WaitUntilWell(worker, stop)) break;
        continue;
      case End::kDied:
        if (end.seconds >= options_.steady_after) pause = options_.shortest_pause;
        Set(worker, State::kPausing);
        if (!Pause(pause, stop)) break;
        pause = std::min(2 * pause, options_.longest_pause);
        if (!WaitUntilWell(worker, stop)) break;
        continue;
    }
  }
  Set(worker, State::kStopped);
}

}  // namespace warpsmith
