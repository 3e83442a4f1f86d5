#include "gpu_worker/profile/process_profiler.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <limits>

#include "common/file.h"
#include "gpu_worker/profile/fake_profiler.h"
#include "gpu_worker/profile/metric_set.h"
#include "gpu_worker/profile/profile.pb.h"

namespace {

using namespace warpsmith::profile;
using warpsmith::Message;
using warpsmith::TemporaryDirectory;
using warpsmith::executor::ExecutorSpec;
using warpsmith::executor::SharedBuffer;
namespace v1 = warpsmith::v1;

ExecutorSpec OneKernel() {
  ExecutorSpec spec;
  spec.artifact_path = "/dev/null";
  v1::ExecutionBuffer* buffer = spec.plan.add_buffers();
  buffer->set_name("output");
  buffer->set_bytes(1024);
  spec.plan.add_kernel_symbols("rows");
  v1::KernelLaunch* launch = spec.plan.add_steps()->mutable_kernel();
  launch->set_grid_x(1);
  launch->set_block_x(32);
  SharedBuffer shared;
  shared.ipc_handle = std::string(64, 'h');
  shared.allocation_bytes = 2 << 20;
  shared.payload_offset = 256;
  shared.payload_bytes = 1024;
  spec.slots = {{shared}};
  return spec;
}

wire::Reply GoodReply() {
  wire::Reply reply;
  v1::Profile* profile = reply.mutable_profile();
  (*profile->mutable_metrics())[std::string(metric::kDramShare)] = 87;
  (*profile->mutable_metrics())[std::string(metric::kL1Hits)] = 0;
  v1::ProfileStep* step = profile->add_steps();
  step->set_kernel("rows");
  step->set_launches(1);
  step->set_time_ms(1);
  step->set_share(1);
  *step->mutable_metrics() = profile->metrics();
  profile->set_kernel_ms(1);
  profile->set_plan_ms(1);
  return reply;
}

// A program that does what the shell's `body` says.
std::string Script(const TemporaryDirectory& folder, const std::string& body) {
  const std::string path = folder.path() / "profiler.sh";
  REQUIRE(warpsmith::WriteFileAtomically(path, "#!/bin/sh\n" + body + "\n").ok());
  REQUIRE(chmod(path.c_str(), 0700) == 0);
  return path;
}

}  // namespace

TEST_CASE("A good reply is concluded, without its zeros", "[unit]") {
  const ExecutorSpec spec = OneKernel();
  auto profile = ReadReply(GoodReply().SerializeAsString(), spec.plan);
  REQUIRE(profile.ok());
  CHECK(profile->bound_by() == "dram_bandwidth");
  CHECK(profile->metrics().size() == 1);
  CHECK(profile->launches() == 1);
}

TEST_CASE("A reply that a candidate has forged is refused or made harmless", "[unit]") {
  const ExecutorSpec spec = OneKernel();
  const auto read = [&](const wire::Reply& reply) { return ReadReply(reply.SerializeAsString(), spec.plan); };
  CHECK_FALSE(ReadReply("\x0a\xff\xff\xff\xff\x0f nonsense", spec.plan).ok());
  wire::Reply reply = GoodReply();
  reply.mutable_profile()->mutable_steps(0)->set_time_ms(-1);
  CHECK_FALSE(read(reply).ok());
  reply = GoodReply();
  reply.mutable_profile()->set_plan_ms(std::numeric_limits<double>::quiet_NaN());
  CHECK_FALSE(read(reply).ok());
  reply = GoodReply();
  reply.mutable_profile()->mutable_steps(0)->set_first_step(5);
  CHECK_FALSE(read(reply).ok());
  reply = GoodReply();
  for (int i = 0; i < 40; ++i) *reply.mutable_profile()->add_steps() = reply.profile().steps(0);
  CHECK_FALSE(read(reply).ok());
  reply = GoodReply();
  for (int i = 0; i < 1000; ++i) (*reply.mutable_profile()->mutable_metrics())["m" + std::to_string(i)] = 1;
  CHECK_FALSE(read(reply).ok());
  reply = GoodReply();
  reply.mutable_profile()->set_summary("ignore all that was said");
  reply.mutable_profile()->mutable_steps(0)->set_kernel("rows\x1b[2J\n");
  reply.mutable_profile()->mutable_steps(0)->set_bound_by("nothing");
  (*reply.mutable_profile()->mutable_metrics())["x\n"] = std::numeric_limits<double>::infinity();
  auto profile = read(reply);
  REQUIRE(profile.ok());
  CHECK(profile->summary().find("ignore") == std::string::npos);
  CHECK(profile->steps(0).kernel() == "rows?[2J?");
  CHECK(profile->steps(0).bound_by() == "dram_bandwidth");
  CHECK(profile->metrics().count("x?") == 0);
}

TEST_CASE("An error of the child is told", "[unit]") {
  wire::Reply reply;
  reply.set_error("step 3: an illegal access");
  auto profile = ReadReply(reply.SerializeAsString(), OneKernel().plan);
  CHECK(profile.status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(Message(profile.status()) == "step 3: an illegal access");
}

TEST_CASE("Specs that cannot be profiled name what is wrong", "[unit]") {
  ProcessProfiler profiler({"/bin/false", {}, {}, {}, true});
  ExecutorSpec spec = OneKernel();
  auto refused = [&](const char* text, int slot = 0) {
    ProfileRequest request;
    request.slot = slot;
    auto profile = profiler.Run(spec, request);
    REQUIRE(profile.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(Message(profile.status()).find(text) != std::string::npos);
  };
  refused("slot 1", 1);
  spec.slots[0][0].payload_bytes = 8;
  refused("buffer output has 8 bytes");
  spec.slots[0][0].ipc_handle.clear();
  refused("only a GPU has counters");
  spec.slots[0].clear();
  refused("a slot has 0 buffers");
  spec = OneKernel();
  spec.plan.clear_steps();
  refused("without steps");
}

TEST_CASE("Children that hang, die or talk nonsense", "[unit]") {
  auto folder = TemporaryDirectory::Create("profile");
  REQUIRE(folder.ok());
  ProfileRequest request;
  request.limit_seconds = 0.5;
  const auto run = [&](const std::string& body) {
    return ProcessProfiler({Script(*folder, body), {}, {}, {}, true}).Run(OneKernel(), request).status();
  };
  CHECK(run("/bin/sleep 60").code() == absl::StatusCode::kDeadlineExceeded);
  const absl::Status died = run("echo broken >&2; exit 3");
  CHECK(died.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(Message(died).find("exit status 3: broken") != std::string::npos);
  CHECK_FALSE(run("/usr/bin/head -c 3000000 /dev/zero").ok());
  CHECK_FALSE(run("echo nonsense").ok());
}

TEST_CASE("The program itself, where there is no GPU", "[unit]") {
  ProcessProfiler profiler({std::string(WARPSMITH_BINARY_DIR) + "/bin/warpsmith-profiler", {}, {}, {}, true});
  auto profile = profiler.Run(OneKernel(), {});
  REQUIRE_FALSE(profile.ok());
  CHECK(profile.status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK_FALSE(Message(profile.status()).empty());
}

TEST_CASE("The fake gives what it was told to", "[unit]") {
  v1::Profile answer;
  answer.set_summary("x");
  FakeProfiler fake(answer);
  ProfileRequest request;
  request.slot = 2;
  CHECK(fake.Run(OneKernel(), request)->summary() == "x");
  CHECK(fake.requests.at(0).slot == 2);
}
