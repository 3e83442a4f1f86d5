#include "gpu_worker/device/cuda/canary.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "common/file.h"
#include "gpu_worker/device/cuda/canary_run.h"
#ifdef WARPSMITH_CUDA
#include "gpu_worker/device/cuda/canary_kernel.h"
#endif

namespace warpsmith::cuda {
namespace {

// A program that stands for warpsmith-canary.
class Script {
 public:
  Script() : folder_(*TemporaryDirectory::Create("canary-test")) {}
  ProcessCanaryOptions Saying(const std::string& commands) {
    const std::string path = (folder_.path() / "canary.sh").string();
    REQUIRE(WriteFileAtomically(path, "#!/bin/sh\n" + commands + "\n").ok());
    chmod(path.c_str(), 0700);
    ProcessCanaryOptions options;
    options.program = path;
    options.environment = {{"PATH", "/usr/bin:/bin"}, {"COUNT", (folder_.path() / "count").string()}};
    options.deadline = std::chrono::milliseconds(1500);
    return options;
  }

 private:
  TemporaryDirectory folder_;
};

std::string Answer(double milliseconds, double rate, int64_t bytes = 1 << 28) {
  return "echo '" + CanaryToJson(CanaryFigures{milliseconds, rate, bytes, 0}) + "'";
}

TEST_CASE("figures and refusals survive their JSON", "[unit]") {
  const auto figures = CanaryFromJson(CanaryToJson(CanaryFigures{1.5, 4e12, 1 << 28, 9}));
  REQUIRE(figures.ok());
  CHECK(figures->kernel_ms == 1.5);
  CHECK(figures->copy_bytes_per_second == 4e12);
  CHECK(figures->copy_bytes == 1 << 28);
  const auto wrong = CanaryFromJson(CanaryToJson(MakeStatus(absl::StatusCode::kDataLoss, "element 3")));
  CHECK(wrong.status().code() == absl::StatusCode::kDataLoss);
  CHECK(Message(wrong.status()) == "element 3");
  CHECK(CanaryFromJson(CanaryToJson(NotFound("no driver"))).status().code() == absl::StatusCode::kInternal);
  for (const char* bad : {"", "[]", "{}", "{\"kernel_ms\": 0, \"copy_bytes_per_second\": 1, \"copy_bytes\": 1}",
                          "{\"kernel_ms\": \"1\", \"copy_bytes_per_second\": 1, \"copy_bytes\": 1}",
                          "{\"kernel_ms\": 1, \"copy_bytes_per_second\": -1, \"copy_bytes\": 1}"}) {
    INFO(bad);
    CHECK_FALSE(CanaryFromJson(bad).ok());
  }
}

TEST_CASE("later canaries are held to the first one's time", "[unit]") {
  Script script;
  // The second is 15 % slower, the third 25 %, the fourth copies at two thirds, the fifth had room for less.
  ProcessCanary canary(
      script.Saying("n=$(cat \"$COUNT\" 2>/dev/null || echo 0); echo $((n+1)) > \"$COUNT\"\ncase $n in\n0) " +
                    Answer(1, 3e12) + ";;\n1) " + Answer(1.15, 3e12) + ";;\n2) " + Answer(1.25, 3e12) + ";;\n3) " +
                    Answer(1, 2e12) + ";;\n4) " + Answer(1, 2e12, 1 << 26) + ";;\nesac"));
  CHECK(canary.Check().ok());
  CHECK(canary.Check().ok());
  CHECK(canary.Check().code() == absl::StatusCode::kOutOfRange);
  CHECK(canary.Check().code() == absl::StatusCode::kOutOfRange);
  CHECK(canary.Check().ok());
  CHECK(canary.first()->kernel_ms == 1);
  CHECK(canary.last()->copy_bytes == 1 << 26);
}

TEST_CASE("a canary that is wrong, late, gone or silent", "[unit]") {
  Script script;
  const auto check = [&](const std::string& commands) {
    ProcessCanary canary(script.Saying(commands));
    return canary.Check();
  };
  CHECK(check("echo '" + CanaryToJson(MakeStatus(absl::StatusCode::kDataLoss, "wrong")) + "'; exit 1").code() ==
        absl::StatusCode::kDataLoss);
  CHECK(check("sleep 60").code() == absl::StatusCode::kDeadlineExceeded);
  const absl::Status killed = check("kill -SEGV $$");
  CHECK(killed.code() == absl::StatusCode::kInternal);
  CHECK(Message(killed).find("SIGSEGV") != std::string::npos);
  CHECK(check("exit 3").code() == absl::StatusCode::kInternal);
  CHECK_FALSE(check("echo nonsense").ok());
  ProcessCanaryOptions missing = script.Saying("exit 0");
  missing.program += ".not";
  CHECK_FALSE(ProcessCanary(missing).Check().ok());
}

#ifdef WARPSMITH_CUDA
TEST_CASE("the host's arithmetic is what it was computed to be elsewhere", "[unit]") {
  CHECK(MixOnHost(0, 0) == 0x3f803039);
  CHECK(MixOnHost(0, 1) == 0x800d8110);
  CHECK(MixOnHost(1, 16) == 0x0ee49f9b);
  CHECK(MixOnHost(77777, 16) == 0x0ec363f9);
  CHECK(MixOnHost(524287, 4096) == 0xf7369369);
}
#endif

}  // namespace
}  // namespace warpsmith::cuda
