#include "gpu_worker/host_code/tensor_layout.h"

#include <catch2/catch.hpp>

namespace warpsmith::host_code {
namespace {

v1::TensorSpec* Add(v1::ProblemSignature& signature, const std::string& name, v1::TensorRole role) {
  v1::TensorSpec* spec = signature.add_tensors();
  spec->set_name(name);
  spec->set_dtype("float32");
  spec->add_shape(4);
  spec->add_strides(1);
  spec->set_storage_bytes(16);
  spec->set_role(role);
  return spec;
}

}  // namespace

TEST_CASE("tensors that are one allocation share a buffer", "[unit]") {
  v1::ProblemSignature signature;
  Add(signature, "x", v1::TENSOR_ROLE_INPUT);
  Add(signature, "a.weight", v1::TENSOR_ROLE_PARAMETER);
  Add(signature, "b.weight", v1::TENSOR_ROLE_PARAMETER)->set_alias_of("a.weight");
  Add(signature, "output", v1::TENSOR_ROLE_OUTPUT);
  const auto layout = LayOut(signature);
  REQUIRE(layout.ok());
  CHECK(layout->plan.buffers_size() == 3);
  CHECK(layout->slot_bytes == 48);
  REQUIRE(layout->tensors.size() == 4);
  CHECK(layout->tensors[1]["buffer"] == layout->tensors[2]["buffer"]);
  CHECK(layout->tensors[2]["alias"] == "a.weight");
  CHECK(layout->tensors[3]["role"] == "output");
  CHECK(layout->plan.buffers(2).kind() == v1::BUFFER_KIND_OUTPUT);
}

TEST_CASE("buffers whose change is part of the answer are marked", "[unit]") {
  v1::ProblemSignature signature;
  signature.set_mutates_policy(v1::MUTATES_POLICY_REQUIRED);
  Add(signature, "running_mean", v1::TENSOR_ROLE_BUFFER)->set_mutated(true);
  const auto layout = LayOut(signature);
  REQUIRE(layout.ok());
  CHECK(layout->tensors[0]["updated"] == true);
  CHECK(layout->plan.buffers(0).kind() == v1::BUFFER_KIND_UPDATED);
}

TEST_CASE("places say where a payload lies, by path or by handle", "[unit]") {
  reference::SharedBuffer file;
  file.path = "/dev/shm/x";
  file.payload_offset = 65536;
  file.payload_bytes = 16;
  reference::SharedBuffer memory;
  memory.ipc_handle = std::string("\x00\xff", 2);
  const Json places = PlacesToJson({{file, memory}});
  CHECK(places[0][0]["path"] == "/dev/shm/x");
  CHECK(places[0][0]["payload_offset"] == 65536);
  CHECK(places[0][1]["ipc_handle"] == "00ff");
  CHECK(!places[0][1].contains("path"));
}

}  // namespace warpsmith::host_code
