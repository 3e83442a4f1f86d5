#include "gpu_worker/session/worker.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "common/file.h"

namespace warpsmith::session {
namespace {

using namespace std::chrono_literals;

// A coordinator in this process: keeps what the worker said and lets the test answer.
class ScriptedCoordinator final : public CoordinatorConnector {
 public:
  class Stream final : public CoordinatorStream {
   public:
    Stream(ScriptedCoordinator& owner, StreamListener& listener) : owner_(owner), listener_(listener) {}
    ~Stream() override { CloseOnce(absl::OkStatus()); }
    void Send(v1::WorkerMessage message) override {
      std::lock_guard lock(owner_.mutex_);
      if (owner_.refuse_) return;
      owner_.received_.push_back(std::move(message));
      owner_.changed_.notify_all();
    }
    void Close() override {
      std::thread([this] { CloseOnce(absl::OkStatus()); }).detach();
    }
    void CloseOnce(const absl::Status& status) {
      if (!closed_.exchange(true)) {
        {
          std::lock_guard lock(owner_.mutex_);
          if (owner_.current_ == this) owner_.current_ = nullptr;
        }
        listener_.OnClosed(status);
      }
    }
    ScriptedCoordinator& owner_;
    StreamListener& listener_;
    std::atomic<bool> closed_{false};
  };

  std::unique_ptr<CoordinatorStream> Open(StreamListener& listener) override {
    std::lock_guard lock(mutex_);
    ++connections;
    auto stream = std::make_unique<Stream>(*this, listener);
    current_ = stream.get();
    listener_ = &listener;
    return stream;
  }
  absl::StatusOr<std::string> GetBlob(const std::string&) override { return NotFound("none here"); }

  void Welcome() {
    v1::CoordinatorMessage message;
    message.mutable_welcome()->set_lease_seconds(0.3);
    listener_->OnMessage(message);
  }
  void Assign(int64_t task, int64_t epoch) {
    v1::CoordinatorMessage message;
    message.mutable_assignment()->set_task_id(task);
    message.mutable_assignment()->set_epoch(epoch);
    listener_->OnMessage(message);
  }
  void Acknowledge(int64_t task, int64_t epoch, bool recorded = true) {
    v1::CoordinatorMessage message;
    message.mutable_ack()->set_task_id(task);
    message.mutable_ack()->set_epoch(epoch);
    message.mutable_ack()->set_recorded(recorded);
    listener_->OnMessage(message);
  }
  void CancelTask(int64_t task, int64_t epoch) {
    v1::CoordinatorMessage message;
    message.mutable_cancel()->set_task_id(task);
    message.mutable_cancel()->set_epoch(epoch);
    listener_->OnMessage(message);
  }
  void Break() {
    Stream* stream;
    {
      std::lock_guard lock(mutex_);
      stream = current_;
    }
    stream->CloseOnce(Unavailable("cut"));
  }

  // The first message from `from` on that `wanted` takes; fails the test after ten seconds.
  v1::WorkerMessage WaitFor(const std::function<bool(const v1::WorkerMessage&)>& wanted) {
    std::unique_lock lock(mutex_);
    // Syncs keep coming, so the end is fixed.
    const auto end = std::chrono::steady_clock::now() + 10s;
    for (;;) {
      for (; seen_ < received_.size(); ++seen_) {
        if (wanted(received_[seen_])) return received_[seen_++];
      }
      if (changed_.wait_until(lock, end) == std::cv_status::timeout) {
        FAIL("the worker did not say what was waited for");
      }
    }
  }
  v1::Hello WaitForHello() {
    return WaitFor([](auto& m) { return m.has_hello(); }).hello();
  }
  v1::TaskResult WaitForResult() {
    return WaitFor([](auto& m) { return m.has_result(); }).result();
  }

  std::atomic<int> connections{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<v1::WorkerMessage> received_;
  size_t seen_ = 0;
  bool refuse_ = false;
  Stream* current_ = nullptr;
  StreamListener* listener_ = nullptr;
};

class BlockingRunner final : public TaskRunner {
 public:
  v1::TaskResult Run(const v1::Assignment& assignment, std::stop_token stop) override {
    std::unique_lock lock(mutex_);
    ++started;
    changed_.notify_all();
    changed_.wait(lock, stop, [&] { return open_ || released_.count(assignment.task_id()); });
    if (stop.stop_requested()) ++stopped;
    v1::TaskResult result;
    result.mutable_evaluation()->set_outcome(v1::OUTCOME_OK);
    return result;
  }
  void Release(int64_t task) {
    std::lock_guard lock(mutex_);
    released_.insert(task);
    changed_.notify_all();
  }
  void Open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void WaitStarted(int count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, 10s, [&] { return started >= count; }));
  }
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<int64_t> released_;
  bool open_ = false;
};

struct Fixture {
  // The drain is short where a test leaves something running on purpose.
  explicit Fixture(double drain_seconds = 0.2)
      : folder(*TemporaryDirectory::Create("worker-test")), drain(drain_seconds) {
    Start("boot1");
  }
  ~Fixture() { Stop(); }
  void Start(const std::string& boot) {
    spool = *ResultSpool::Open(folder.path());
    WorkerOptions options;
    options.worker_id = "w1";
    options.boot_id = boot;
    options.drain_seconds = drain;
    worker = std::make_unique<Worker>(options, coordinator, runner, *spool, RealClock());
    thread = std::jthread([this](std::stop_token stop) { worker->Run(stop); });
  }
  void Stop() {
    thread = {};
    worker.reset();
  }
  TemporaryDirectory folder;
  const double drain;
  ScriptedCoordinator coordinator;
  BlockingRunner runner;
  std::unique_ptr<ResultSpool> spool;
  std::unique_ptr<Worker> worker;
  std::jthread thread;
};

TEST_CASE("a worker says Hello, runs what it is given, and keeps the result until it is acknowledged", "[unit]") {
  Fixture f;
  CHECK(f.coordinator.WaitForHello().boot_id() == "boot1");
  f.coordinator.Welcome();
  f.coordinator.Assign(5, 1);
  f.runner.WaitStarted(1);
  auto sync = f.coordinator.WaitFor([](auto& m) { return m.has_sync() && m.sync().running_size() == 1; });
  CHECK(sync.sync().running(0).epoch() == 1);
  CHECK(sync.sync().free_slots() == 1);
  f.runner.Release(5);
  auto result = f.coordinator.WaitForResult();
  CHECK(result.task_id() == 5);
  CHECK(f.spool->Pending().size() == 1);
  f.coordinator.Acknowledge(5, 1);
  f.coordinator.WaitFor([](auto& m) { return m.has_sync() && m.sync().running_size() == 0; });
  CHECK(f.spool->Pending().empty());
}

TEST_CASE("after a broken connection the full state is said again and results are resent", "[unit]") {
  Fixture f;
  f.coordinator.WaitForHello();
  f.coordinator.Welcome();
  f.coordinator.Assign(1, 1);
  f.coordinator.Assign(2, 1);
  f.runner.WaitStarted(2);
  f.runner.Release(1);
  f.coordinator.WaitForResult();
  f.coordinator.Break();
  auto hello = f.coordinator.WaitForHello();
  CHECK(hello.running_size() == 2);  // one running, one finished and not acknowledged
  CHECK(f.coordinator.WaitForResult().task_id() == 1);
  f.coordinator.Welcome();
  f.runner.Release(2);
  CHECK(f.coordinator.WaitForResult().task_id() == 2);
}

TEST_CASE("a result that is finished between Hello and Welcome is sent on that connection", "[unit]") {
  Fixture f;
  f.coordinator.WaitForHello();
  f.coordinator.Welcome();
  f.coordinator.Assign(1, 1);
  f.runner.WaitStarted(1);
  f.coordinator.Break();
  CHECK(f.coordinator.WaitForHello().running_size() == 1);
  f.runner.Release(1);
  CHECK(f.coordinator.WaitForResult().task_id() == 1);
  CHECK(f.coordinator.connections == 2);
}

TEST_CASE("a result that was finished without a connection is not lost with the process", "[unit]") {
  Fixture f;
  f.coordinator.WaitForHello();
  f.coordinator.Welcome();
  f.coordinator.Assign(9, 3);
  f.runner.WaitStarted(1);
  f.runner.Release(9);
  f.coordinator.WaitForResult();
  f.Stop();
  f.Start("boot2");
  auto hello = f.coordinator.WaitFor([](auto& m) { return m.has_hello() && m.hello().boot_id() == "boot2"; }).hello();
  REQUIRE(hello.running_size() == 1);
  CHECK(hello.running(0).epoch() == 3);
  auto result = f.coordinator.WaitForResult();
  CHECK(result.task_id() == 9);
  CHECK(result.epoch() == 3);
}

TEST_CASE("a cancelled task is stopped and never reported", "[unit]") {
  Fixture f;
  f.coordinator.WaitForHello();
  f.coordinator.Welcome();
  f.coordinator.Assign(1, 1);
  f.runner.WaitStarted(1);
  f.coordinator.CancelTask(1, 2);  // another epoch: not ours
  f.coordinator.CancelTask(1, 1);
  f.coordinator.WaitFor([](auto& m) { return m.has_sync() && m.sync().running_size() == 0; });
  for (int i = 0; i < 500 && f.runner.stopped == 0; ++i) RealClock().SleepFor(10ms);
  CHECK(f.runner.stopped == 1);
  CHECK(f.spool->Pending().empty());
}

TEST_CASE("a newer epoch of the same task replaces the older run", "[unit]") {
  Fixture f;
  f.coordinator.WaitForHello();
  f.coordinator.Welcome();
  f.coordinator.Assign(1, 1);
  f.runner.WaitStarted(1);
  f.coordinator.Assign(1, 1);  // said twice: nothing happens
  f.coordinator.Assign(1, 2);
  f.runner.WaitStarted(2);
  f.runner.Release(1);
  auto result = f.coordinator.WaitForResult();
  CHECK(result.epoch() == 2);
  CHECK(f.runner.started == 2);
}

TEST_CASE("a drain finishes what runs, gives back what waits and takes nothing new", "[unit]") {
  Fixture f(10);
  f.coordinator.WaitForHello();
  f.coordinator.Welcome();
  for (int task : {1, 2, 3}) f.coordinator.Assign(task, 1);
  f.runner.WaitStarted(2);
  f.thread.request_stop();
  auto sync = f.coordinator.WaitFor([](auto& m) { return m.has_sync() && m.sync().draining(); });
  CHECK(sync.sync().running_size() == 2);
  CHECK(sync.sync().free_slots() == 0);
  f.coordinator.Assign(4, 1);
  f.runner.Open();
  auto first = f.coordinator.WaitForResult().task_id();
  auto second = f.coordinator.WaitForResult().task_id();
  CHECK(first + second == 3);
  f.coordinator.Acknowledge(1, 1);
  f.coordinator.Acknowledge(2, 1);
  f.thread.join();
  CHECK(f.runner.started == 2);
  CHECK(f.spool->Pending().empty());
}

}  // namespace
}  // namespace warpsmith::session
