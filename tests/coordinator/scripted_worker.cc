#include "tests/coordinator/scripted_worker.h"

#include <chrono>
#include <cstdlib>

#include "common/grpc_channel.h"
#include "warpsmith/v1/worker.grpc.pb.h"

namespace warpsmith::testing {

struct ScriptedWorker::Stream {
  grpc::ClientContext context;
  std::unique_ptr<v1::WorkerService::Stub> stub;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerMessage, v1::CoordinatorMessage>> session;
  bool open = true;  // guarded by the worker's mutex
};

ScriptedWorker::ScriptedWorker(std::string address, std::string worker_id, std::string boot_id, int slots, bool holding,
                               bool emulated, const std::vector<v1::TaskResult>& spool)
    : hold_evaluations(holding),
      address_(std::move(address)),
      worker_id_(std::move(worker_id)),
      boot_id_(std::move(boot_id)),
      slots_(slots),
      emulated_(emulated) {
  for (const v1::TaskResult& result : spool) spool_[result.task_id()] = result;
  thread_ = std::thread([this] { Loop(); });
}

ScriptedWorker::~ScriptedWorker() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (stream_ != nullptr) stream_->context.TryCancel();
  }
  wake_.notify_all();
  thread_.join();
}

void ScriptedWorker::Loop() {
  while (true) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    Serve();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::milliseconds(50), [this] { return stopping_; });
  }
}

void ScriptedWorker::Serve() {
  Stream stream;
  stream.stub = v1::WorkerService::NewStub(ConnectTo(address_));
  stream.session = stream.stub->Session(&stream.context);
  v1::WorkerMessage hello;
  hello.mutable_hello()->set_worker_id(worker_id_);
  hello.mutable_hello()->set_boot_id(boot_id_);
  hello.mutable_hello()->set_slots(slots_);
  hello.mutable_hello()->set_node("node-of-" + worker_id_);
  hello.mutable_hello()->set_gpu("0");
  v1::DeviceDescription* device = hello.mutable_hello()->mutable_device();
  device->set_name(emulated_ ? "emulated" : "test GPU");
  device->set_device_class(device->name());
  device->set_emulated(emulated_);
  device->set_uuid("GPU-" + worker_id_);
  device->set_driver("590.1");
  {
    std::lock_guard lock(mutex_);
    if (stopping_) stream.context.TryCancel();
    stream_ = &stream;
    sent_.clear();
    for (const auto& [id, assignment] : running_) {
      v1::RunningTask* task = hello.mutable_hello()->add_running();
      task->set_task_id(id);
      task->set_epoch(assignment.epoch());
    }
    for (const auto& [id, result] : spool_) {
      v1::RunningTask* task = hello.mutable_hello()->add_running();
      task->set_task_id(id);
      task->set_epoch(result.epoch());
    }
  }
  std::thread ticker;
  if (stream.session->Write(hello)) {
    ++connections_;
    ticker = std::thread([&] { Tick(stream); });
    v1::CoordinatorMessage message;
    while (stream.session->Read(&message)) Handle(message);
  }
  {
    std::lock_guard lock(mutex_);
    stream.open = false;
    stream_ = nullptr;
  }
  wake_.notify_all();
  if (ticker.joinable()) ticker.join();
  stream.context.TryCancel();
  stream.session->Finish();
}

void ScriptedWorker::Handle(const v1::CoordinatorMessage& message) {
  std::lock_guard lock(mutex_);
  if (message.has_assignment()) {
    assignments_.push_back(message.assignment());
    if (!forget) running_[message.assignment().task_id()] = message.assignment();
  } else if (message.has_ack()) {
    acks_.push_back(message.ack());
    const auto spooled = spool_.find(message.ack().task_id());
    if (spooled != spool_.end() && spooled->second.epoch() == message.ack().epoch()) spool_.erase(spooled);
  } else if (message.has_cancel()) {
    cancelled_.push_back({message.cancel().task_id(), message.cancel().epoch()});
    const auto running = running_.find(message.cancel().task_id());
    if (running != running_.end() && running->second.epoch() == message.cancel().epoch()) running_.erase(running);
  }
  wake_.notify_all();
}

void ScriptedWorker::Tick(Stream& stream) {
  std::unique_lock lock(mutex_);
  while (stream.open && !stopping_) {
    std::vector<v1::Assignment> ready;
    if (!hold) {
      for (auto& [id, assignment] : running_) {
        if (hold_confirmations && assignment.evaluate().stage() == "confirm") continue;
        if (!hold_evaluations || assignment.has_intake()) ready.push_back(assignment);
      }
    }
    if (!ready.empty()) {
      lock.unlock();
      std::vector<v1::TaskResult> results;
      for (const v1::Assignment& assignment : ready) results.push_back(Compute(assignment));
      lock.lock();
      for (v1::TaskResult& result : results) {
        const auto running = running_.find(result.task_id());
        if (running == running_.end() || running->second.epoch() != result.epoch()) continue;
        running_.erase(running);
        sent_[result.task_id()] = false;
        spool_[result.task_id()] = std::move(result);
      }
    }
    std::vector<v1::WorkerMessage> outgoing;
    if (send_results) {
      for (auto& [id, result] : spool_) {
        if (sent_[id]) continue;
        sent_[id] = true;
        for (int copy = 0; copy < duplicates; ++copy) *outgoing.emplace_back().mutable_result() = result;
      }
    }
    for (v1::TaskResult& result : raw_) *outgoing.emplace_back().mutable_result() = std::move(result);
    raw_.clear();
    if (!mute) {
      v1::Sync* sync = outgoing.emplace_back().mutable_sync();
      sync->set_draining(draining);
      sync->mutable_condition()->set_wedged(wedged);
      for (const auto& [id, assignment] : running_) {
        v1::RunningTask* task = sync->add_running();
        task->set_task_id(id);
        task->set_epoch(assignment.epoch());
      }
    }
    lock.unlock();
    for (const v1::WorkerMessage& message : outgoing) {
      if (!stream.session->Write(message)) break;
    }
    lock.lock();
    wake_.wait_for(lock, std::chrono::milliseconds(30));
  }
}

v1::TaskResult ScriptedWorker::Compute(const v1::Assignment& assignment) {
  v1::TaskResult result;
  result.set_task_id(assignment.task_id());
  result.set_epoch(assignment.epoch());
  int failing = infra_errors;
  if (failing > 0 && infra_errors.compare_exchange_strong(failing, failing - 1)) {
    result.set_infra_error("the scripted worker failed");
    return result;
  }
  auto stub = v1::WorkerService::NewStub(ConnectTo(address_));
  grpc::ClientContext context;
  v1::BlobRequest request;
  request.set_sha256(assignment.has_intake() ? assignment.intake().problem_sha256()
                                             : assignment.evaluate().candidate_sha256());
  auto reader = stub->GetBlob(&context, request);
  std::string text;
  v1::BlobChunk chunk;
  while (reader->Read(&chunk)) text += chunk.data();
  if (!reader->Finish().ok()) {
    result.set_infra_error("no blob");
    return result;
  }
  if (assignment.has_intake()) {
    v1::IntakeResult* intake = result.mutable_intake();
    if (!intake_error.empty()) {
      intake->set_error(intake_error);
      return result;
    }
    v1::TensorSpec* tensor = intake->mutable_signature()->add_tensors();
    tensor->set_name("x");
    tensor->set_dtype("float32");
    intake->mutable_signature()->set_operator_family("softmax");
    v1::Baseline* eager = intake->add_baselines();
    eager->set_name("eager");
    eager->set_median_ms(1.0);
    eager->set_emulated(emulated_);
    eager->set_harness_rev(harness_rev);
    return result;
  }
  v1::Evaluation* evaluation = result.mutable_evaluation();
  const size_t at = text.find("ms=");
  evaluation->mutable_timing()->set_median_ms(at == std::string::npos ? 0 : std::atof(text.c_str() + at + 3));
  evaluation->mutable_timing()->set_spread(0.01);
  evaluation->mutable_timing()->set_emulated(emulated_);
  if (const size_t share = text.find("roofline="); share != std::string::npos) {
    evaluation->mutable_roofline()->set_share(std::atof(text.c_str() + share + 9));
  }
  evaluation->set_outcome(v1::OUTCOME_OK);
  evaluation->set_gpu_seconds(0.5);
  evaluation->mutable_stage_seconds()->set_compile(0.04);
  evaluation->mutable_stage_seconds()->set_queue(0.3);
  evaluation->mutable_stage_seconds()->set_run(0.15);
  evaluation->mutable_stage_seconds()->set_measure(0.25);
  evaluation->set_harness_rev(harness_rev);
  evaluation->set_judge_rev("judge1");
  if (const size_t cubin = text.find("cubin="); cubin != std::string::npos) {
    evaluation->set_cubin_sha256(text.substr(cubin + 6, 8));
  }
  if (text.find("outcome=wrong_output") != std::string::npos) {
    evaluation->set_outcome(v1::OUTCOME_WRONG_OUTPUT);
    evaluation->set_message("output[0] is 1, expected 2");
    evaluation->mutable_timing()->set_median_ms(0);
  }
  if (text.find("outcome=compile_error") != std::string::npos) {
    evaluation->set_outcome(v1::OUTCOME_COMPILE_ERROR);
    evaluation->set_reason("source");
    evaluation->set_message("candidate.cu(1): error: expected a ;");
    evaluation->mutable_timing()->set_median_ms(0);
  }
  if (assignment.evaluate().stage() == "confirm") Confirm(assignment.evaluate(), evaluation);
  return result;
}

// As a worker does: a ratio to the reference (1 ms) with its interval on a GPU, or where there is an incumbent.
void ScriptedWorker::Confirm(const v1::EvaluateTask& task, v1::Evaluation* evaluation) const {
  evaluation->mutable_timing()->set_stage("confirm");
  if (confirmation_fails && evaluation->outcome() == v1::OUTCOME_OK) {
    evaluation->set_outcome(v1::OUTCOME_WRONG_OUTPUT);
    evaluation->set_message("output[7] is 3, expected 4");
  }
  if (evaluation->outcome() != v1::OUTCOME_OK) return;
  const double median_ms = evaluation->timing().median_ms() * confirmation_scale;
  evaluation->mutable_timing()->set_median_ms(median_ms);
  if (!confirmation_ratio || (emulated_ && task.incumbent_sha256().empty())) return;
  v1::Confirmation* confirmation = evaluation->mutable_confirmation();
  confirmation->set_ratio_to_reference(1 / median_ms);
  confirmation->set_reference_low(0.99 / median_ms);
  confirmation->set_reference_high(1.01 / median_ms);
  confirmation->set_candidate_ms(median_ms);
  confirmation->set_reference_ms(1);
  confirmation->set_rounds(3);
  if (task.incumbent_sha256().empty()) return;
  confirmation->set_ratio_to_incumbent(task.incumbent_ms() / median_ms);
  confirmation->set_incumbent_ms(task.incumbent_ms());
}

void ScriptedWorker::SendRaw(const v1::TaskResult& result) {
  {
    std::lock_guard lock(mutex_);
    raw_.push_back(result);
  }
  wake_.notify_all();
}

std::vector<v1::Assignment> ScriptedWorker::assignments() const {
  std::lock_guard lock(mutex_);
  return assignments_;
}
std::vector<v1::ResultAck> ScriptedWorker::acks() const {
  std::lock_guard lock(mutex_);
  return acks_;
}
std::vector<v1::TaskResult> ScriptedWorker::spool() const {
  std::lock_guard lock(mutex_);
  std::vector<v1::TaskResult> results;
  for (const auto& [id, result] : spool_) results.push_back(result);
  return results;
}
std::vector<queue::TaskKey> ScriptedWorker::cancelled() const {
  std::lock_guard lock(mutex_);
  return cancelled_;
}

}  // namespace warpsmith::testing
