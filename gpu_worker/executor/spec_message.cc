#include "gpu_worker/executor/spec_message.h"

#include <fmt/format.h>

#include "common/file.h"
#include "gpu_worker/executor/executor.pb.h"

namespace warpsmith::executor {
namespace {

constexpr size_t kMaxArtifactBytes = 192u << 20;  // with the rest of a spec, within a frame
constexpr size_t kIpcHandleBytes = 64;

absl::Status CheckBuffer(const v1::ExecutionBuffer& buffer, const SharedBuffer& place, bool cuda) {
  if (place.payload_bytes < buffer.bytes() || place.payload_offset < 0 || place.payload_offset % 256 != 0) {
    return InvalidArgument(
        fmt::format("buffer {} has {} bytes at {} of its memory, the plan needs {} at a multiple of 256", buffer.name(),
                    place.payload_bytes, place.payload_offset, buffer.bytes()));
  }
  if (cuda && (place.ipc_handle.size() != kIpcHandleBytes || place.allocation_bytes < place.payload_bytes ||
               place.allocation_bytes - place.payload_bytes < place.payload_offset)) {
    return InvalidArgument(fmt::format("buffer {} is no memory of a GPU, or lies outside its allocation of {} bytes",
                                       buffer.name(), place.allocation_bytes));
  }
  if (!cuda && place.path.empty()) return InvalidArgument(fmt::format("buffer {} has no file", buffer.name()));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSpec(const ExecutorSpec& spec, bool cuda) {
  if (spec.slots.empty()) return InvalidArgument("an executor needs at least one slot of buffers");
  for (const std::vector<SharedBuffer>& slot : spec.slots) {
    if (slot.size() != static_cast<size_t>(spec.plan.buffers_size())) {
      return InvalidArgument(
          fmt::format("a slot has {} buffers, the plan has {}", slot.size(), spec.plan.buffers_size()));
    }
    for (size_t b = 0; b < slot.size(); ++b) {
      WARPSMITH_RETURN_IF_ERROR(CheckBuffer(spec.plan.buffers(static_cast<int>(b)), slot[b], cuda));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> EncodeSpec(const ExecutorSpec& spec, const std::string& nonce, bool cuda) {
  wire::Spec message;
  message.set_nonce(nonce);
  if (cuda) {
    WARPSMITH_ASSIGN_OR_RETURN(*message.mutable_artifact(), ReadFile(spec.artifact_path, kMaxArtifactBytes));
  } else {
    message.set_artifact_path(spec.artifact_path);
  }
  *message.mutable_plan() = spec.plan;
  message.set_address_space_bytes(spec.address_space_bytes);
  for (const std::vector<SharedBuffer>& slot : spec.slots) {
    wire::Slot* target = message.add_slots();
    for (const SharedBuffer& place : slot) {
      wire::Buffer* buffer = target->add_buffers();
      buffer->set_path(place.path);
      buffer->set_payload_offset(place.payload_offset);
      buffer->set_payload_bytes(place.payload_bytes);
      buffer->set_ipc_handle(place.ipc_handle);
      buffer->set_allocation_bytes(place.allocation_bytes);
    }
  }
  return message.SerializeAsString();
}

}  // namespace warpsmith::executor
