#include "llm_gateway/prompts/device_facts.h"

#include <catch2/catch.hpp>

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

v1::DeviceDescription Device(const std::string& name, int capability, int sm_count) {
  v1::DeviceDescription device;
  device.set_name(name);
  device.set_compute_capability(capability);
  device.set_sm_count(sm_count);
  return device;
}

void CheckAll(const std::string& text, const std::vector<std::string>& wanted) {
  for (const std::string& words : wanted) CHECK_THAT(text, Contains(words));
}

TEST_CASE("an L40S is described rightly", "[unit]") {
  v1::DeviceDescription device = Device("NVIDIA L40S", 89, 142);
  device.set_memory_bytes(int64_t{48} << 30);
  std::string text = DescribeDevice(device);
  CheckAll(text,
           {"compute capability 8.9 (sm_89)", "142 SMs", "48 GiB", "65536 32-bit registers",
            "100 KB of shared memory (99 KB at most a block", "1536 threads in up to 24 blocks", "0.864 TB/s",
            "L2: 96 MB", "91.6 fp32", "183 tf32", "362 fp16 or bf16", "733 fp8", "below 106 fp32", "419 of fp16"});
  size_t lacks = text.find("does not have");
  REQUIRE(lacks != text.npos);
  for (const char* instruction : {"cp.async,", "ldmatrix", "mma.sync", "fp8"}) {
    INFO(instruction);
    CHECK(text.find(instruction) < lacks);
  }
  for (const char* instruction : {"TMA", "clusters", "wgmma", "setmaxnreg"}) {
    INFO(instruction);
    CHECK(text.find(instruction) > lacks);
  }
  device.set_l2_bytes(int64_t{72} << 20);
  CHECK_THAT(DescribeDevice(device), Contains("L2: 72 MB") && !Contains("96 MB"));  // the board's own word
}

TEST_CASE("an H200 is described rightly", "[unit]") {
  std::string text = DescribeDevice(Device("NVIDIA H200", 90, 132));
  CheckAll(text, {"compute capability 9.0 (sm_90)", "132 SMs", "228 KB of shared memory (227 KB at most a block",
                  "2048 threads in up to 32 blocks", "4.8 TB/s", "L2: 50 MB", "34 fp64 and 67 fp32", "494 tf32",
                  "989 fp16 or bf16", "1979 fp8", "cp.async, TMA", "clusters of up to 8", "wgmma for fp8",
                  "\"min_arch\": \"sm_90a\"", "below 14 fp32", "206 of fp16"});
  CHECK_THAT(text, !Contains("does not have"));
}

TEST_CASE("a device's name is matched by whole words", "[unit]") {
  CHECK_THAT(DescribeDevice(Device("NVIDIA H200 NVL", 90, 132)), Contains("836 fp16"));
  CHECK_THAT(DescribeDevice(Device("NVIDIA GH200 480GB", 90, 132)), Contains("4 TB/s"));
  CHECK_THAT(DescribeDevice(Device("NVIDIA H100 80GB HBM3", 90, 132)), Contains("3.35 TB/s"));
  CHECK_THAT(DescribeDevice(Device("NVIDIA H100 PCIe", 90, 114)), Contains("2.04 TB/s"));
  CHECK_THAT(DescribeDevice(Device("NVIDIA L40", 89, 142)), Contains("181 fp16"));
  CHECK_THAT(DescribeDevice(Device("NVIDIA L4", 89, 58)), Contains("0.3 TB/s"));
  CHECK_THAT(DescribeDevice(Device("NVIDIA A100-SXM4-80GB", 80, 108)), Contains("2.04 TB/s") && !Contains(" fp8 on"));
  CHECK_THAT(DescribeDevice(Device("NVIDIA A100-PCIE-40GB", 80, 108)), Contains("1.56 TB/s"));
  CHECK_THAT(DescribeDevice(Device("NVIDIA RTX A1000", 86, 16)), !Contains("TB/s"));  // no A10
}

TEST_CASE("of an unknown board the worker's figures are told, and nothing is made up", "[unit]") {
  v1::DeviceDescription device = Device("Unheard-of", 77, 0);
  CHECK(DescribeDevice(device) == "Unheard-of, compute capability 7.7 (sm_77).");
  device.set_memory_bandwidth(1.25e12);
  device.set_l2_bytes(32 << 20);
  CHECK_THAT(DescribeDevice(device), Contains("1.25 TB/s") && Contains("L2: 32 MB") && !Contains("TFLOP"));
}

TEST_CASE("the emulated device says what it cannot run", "[unit]") {
  v1::DeviceDescription device;
  device.set_emulated(true);
  CHECK_THAT(DescribeDevice(device), Contains("emulated") && Contains("cannot run inline PTX") && !Contains("TB/s"));
}

}  // namespace
}  // namespace warpsmith::gateway
