#include "gpu_worker/host_code/tensor_layout.h"

#include <fmt/format.h>

#include "gpu_worker/plan/tensor_table.h"

namespace warpsmith::host_code {
namespace {

const char* RoleName(v1::TensorRole role) {
  switch (role) {
    case v1::TENSOR_ROLE_INPUT:
      return "input";
    case v1::TENSOR_ROLE_PARAMETER:
      return "parameter";
    case v1::TENSOR_ROLE_BUFFER:
      return "buffer";
    case v1::TENSOR_ROLE_OUTPUT:
      return "output";
    default:
      return "attribute";
  }
}

std::string Hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

absl::StatusOr<TensorLayout> LayOut(const v1::ProblemSignature& signature) {
  WARPSMITH_ASSIGN_OR_RETURN(const plan::TensorTable table, plan::TensorTable::Build(signature, {}));
  TensorLayout layout;
  for (const v1::ExecutionBuffer& buffer : table.buffers()) {
    *layout.plan.add_buffers() = buffer;
    layout.slot_bytes += buffer.bytes();
  }
  layout.tensors = Json::array();
  for (const v1::TensorSpec& spec : signature.tensors()) {
    const plan::Tensor* tensor = table.Find(spec.name());
    if (tensor == nullptr) return Internal(fmt::format("signature: {} was lost", spec.name()));
    Json entry = {{"name", tensor->name},       {"dtype", tensor->dtype},        {"shape", tensor->shape},
                  {"strides", tensor->strides}, {"role", RoleName(spec.role())}, {"buffer", tensor->buffer}};
    if (!spec.alias_of().empty()) entry["alias"] = spec.alias_of();
    if (tensor->kind == v1::BUFFER_KIND_UPDATED) entry["updated"] = true;
    layout.tensors.push_back(std::move(entry));
  }
  return layout;
}

Json PlacesToJson(const std::vector<std::vector<reference::SharedBuffer>>& slots) {
  Json all = Json::array();
  for (const std::vector<reference::SharedBuffer>& buffers : slots) {
    Json places = Json::array();
    for (const reference::SharedBuffer& buffer : buffers) {
      Json place = {{"payload_offset", buffer.payload_offset}, {"payload_bytes", buffer.payload_bytes}};
      if (buffer.path.empty()) {
        place["ipc_handle"] = Hex(buffer.ipc_handle);
      } else {
        place["path"] = buffer.path;
      }
      places.push_back(std::move(place));
    }
    all.push_back(std::move(places));
  }
  return all;
}

}  // namespace warpsmith::host_code
