#include "tests/coordinator/previous_worker.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/grpc_channel.h"

namespace warpsmith::testing {
namespace {

using grpc::internal::RpcMethod;

void ListRunning(const std::map<int64_t, previous::Assignment>& running,
                 google::protobuf::RepeatedPtrField<previous::RunningTask>* listed) {
  for (const auto& [id, assignment] : running) {
    previous::RunningTask* task = listed->Add();
    task->set_task_id(id);
    task->set_epoch(assignment.epoch());
  }
}

}  // namespace

PreviousWorker::PreviousWorker(std::string address, std::string worker_id)
    : address_(std::move(address)), worker_id_(std::move(worker_id)) {
  thread_ = std::thread([this] { Loop(); });
}

PreviousWorker::~PreviousWorker() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (context_ != nullptr) context_->TryCancel();
  }
  wake_.notify_all();
  thread_.join();
}

void PreviousWorker::Loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    Serve();
    lock.lock();
    wake_.wait_for(lock, std::chrono::milliseconds(50), [this] { return stopping_; });
  }
}

void PreviousWorker::Serve() {
  auto channel = ConnectTo(address_);
  grpc::ClientContext context;
  const RpcMethod method("/warpsmith.v1.WorkerService/Session", RpcMethod::BIDI_STREAMING, channel);
  using Factory = grpc::internal::ClientReaderWriterFactory<previous::WorkerMessage, previous::CoordinatorMessage>;
  std::unique_ptr<grpc::ClientReaderWriter<previous::WorkerMessage, previous::CoordinatorMessage>> stream(
      Factory::Create(channel.get(), method, &context));
  previous::WorkerMessage message;
  previous::Hello* hello = message.mutable_hello();
  hello->set_worker_id(worker_id_);
  hello->set_boot_id("the-one-boot");
  hello->set_version("0.0.1");
  hello->set_slots(4);
  hello->mutable_device()->set_name("emulated");
  hello->mutable_device()->set_device_class("emulated");
  hello->mutable_device()->set_emulated(true);
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    context_ = &context;
    open_ = true;
    sent_.clear();
    ListRunning(running_, hello->mutable_running());
  }
  std::thread writer;
  if (stream->Write(message)) {
    writer = std::thread([&] {
      std::unique_lock lock(mutex_);
      while (open_ && !stopping_) {
        std::vector<previous::Assignment> ready;
        if (!hold) {
          for (const auto& [id, assignment] : running_) {
            if (!finished_.contains(id)) ready.push_back(assignment);
          }
        }
        lock.unlock();
        std::vector<previous::TaskResult> results;
        for (const previous::Assignment& assignment : ready) results.push_back(Compute(assignment));
        lock.lock();
        for (previous::TaskResult& result : results) {
          if (running_.contains(result.task_id())) finished_[result.task_id()] = std::move(result);
        }
        std::vector<previous::WorkerMessage> outgoing;
        for (const auto& [id, result] : finished_) {
          if (sent_[id]) continue;
          sent_[id] = true;
          *outgoing.emplace_back().mutable_result() = result;
        }
        ListRunning(running_, outgoing.emplace_back().mutable_sync()->mutable_running());
        lock.unlock();
        for (const previous::WorkerMessage& one : outgoing) {
          if (!stream->Write(one)) break;
        }
        lock.lock();
        wake_.wait_for(lock, std::chrono::milliseconds(50));
      }
    });
    previous::CoordinatorMessage incoming;
    while (stream->Read(&incoming)) Handle(incoming);
  }
  {
    std::lock_guard lock(mutex_);
    open_ = false;
    context_ = nullptr;
  }
  wake_.notify_all();
  if (writer.joinable()) writer.join();
  context.TryCancel();
  stream->Finish();
}

void PreviousWorker::Handle(const previous::CoordinatorMessage& message) {
  std::lock_guard lock(mutex_);
  if (message.has_welcome()) {
    ++connections;
  } else if (message.has_assignment()) {
    running_[message.assignment().task_id()] = message.assignment();
    finished_.erase(message.assignment().task_id());
    sent_.erase(message.assignment().task_id());
  } else if (message.has_ack() || message.has_cancel()) {
    const int64_t id = message.has_ack() ? message.ack().task_id() : message.cancel().task_id();
    const int64_t epoch = message.has_ack() ? message.ack().epoch() : message.cancel().epoch();
    if (message.has_ack()) ++(message.ack().recorded() ? acknowledged : stale);
    if (const auto found = running_.find(id); found != running_.end() && found->second.epoch() == epoch) {
      running_.erase(found);
      finished_.erase(id);
    }
  }
  wake_.notify_all();
}

std::string PreviousWorker::Fetch(const std::string& sha256) {
  auto channel = ConnectTo(address_);
  grpc::ClientContext context;
  const RpcMethod method("/warpsmith.v1.WorkerService/GetBlob", RpcMethod::SERVER_STREAMING, channel);
  previous::BlobRequest request;
  request.set_sha256(sha256);
  std::unique_ptr<grpc::ClientReader<previous::BlobChunk>> reader(
      grpc::internal::ClientReaderFactory<previous::BlobChunk>::Create(channel.get(), method, &context, request));
  std::string text;
  previous::BlobChunk chunk;
  while (reader->Read(&chunk)) text += chunk.data();
  return reader->Finish().ok() ? text : "";
}

previous::TaskResult PreviousWorker::Compute(const previous::Assignment& assignment) {
  previous::TaskResult result;
  result.set_task_id(assignment.task_id());
  result.set_epoch(assignment.epoch());
  if (assignment.has_intake()) {
    previous::TensorSpec* tensor = result.mutable_intake()->mutable_signature()->add_tensors();
    tensor->set_name("x");
    tensor->set_dtype("float32");
    result.mutable_intake()->mutable_signature()->set_operator_family("softmax");
    previous::Baseline* eager = result.mutable_intake()->add_baselines();
    eager->set_name("eager");
    eager->set_median_ms(1.0);
    eager->set_emulated(true);
    return result;
  }
  const std::string text = Fetch(assignment.evaluate().candidate_sha256());
  const size_t at = text.find("ms=");
  previous::Evaluation* evaluation = result.mutable_evaluation();
  evaluation->set_outcome(previous::OUTCOME_OK);
  evaluation->mutable_timing()->set_median_ms(at == std::string::npos ? 1 : std::atof(text.c_str() + at + 3));
  evaluation->mutable_timing()->set_spread(0.01);
  evaluation->mutable_timing()->set_emulated(true);
  evaluation->set_gpu_seconds(0.5);
  evaluation->set_judge_rev("judge1");
  return result;
}

}  // namespace warpsmith::testing
