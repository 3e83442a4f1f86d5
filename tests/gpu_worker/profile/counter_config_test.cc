// CUPTI's host side for chips by name: no GPU is needed, CUPTI's library is.
#include "gpu_worker/profile/counter_config.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "gpu_worker/profile/cupti_paths.h"
#include "gpu_worker/profile/metric_set.h"

namespace {

using namespace warpsmith::profile;

const CuptiApi* Cupti() {
  static const absl::StatusOr<CuptiApi> kApi = CuptiApi::Load(FindCupti());
  if (!kApi.ok()) WARN("skipped: " << warpsmith::Message(kApi.status()));
  return kApi.ok() ? &*kApi : nullptr;
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("An H200's and an L40S's metrics, and how many passes they take", "[unit]") {
  const CuptiApi* api = Cupti();
  if (api == nullptr) return;
  for (const char* chip : {"GH100", "AD102"}) {
    INFO(chip);
    auto config = CounterConfig::Create(*api, chip, {}, 0);
    REQUIRE(config.ok());
    const std::vector<std::string>& metrics = (*config)->metrics();
    for (std::string_view name :
         {metric::kTime, metric::kDramShare, metric::kDramRead, metric::kDramWrite, metric::kDramPeak, metric::kSmShare,
          metric::kL2Hits, metric::kL1Hits, metric::kActiveWarps, metric::kIssueActive, metric::kTensorInstructions,
          metric::kSharedWavefronts, metric::kLoadConflicts, metric::kStoreConflicts, metric::kFmaPipe,
          metric::kLoadSectors, metric::kStoreSectors, metric::kFp32Peak}) {
      INFO(name);
      CHECK(Contains(metrics, name));
    }
    const auto stalls = std::count_if(metrics.begin(), metrics.end(),
                                      [](const std::string& name) { return !StallReason(name).empty(); });
    CHECK(stalls >= 17);
    CHECK((*config)->image().size() > 0);
    CHECK((*config)->passes() >= 5);
    CHECK((*config)->passes() <= 30);
    WARN(chip << ": " << metrics.size() << " metrics in " << (*config)->passes() << " passes");
  }
}

TEST_CASE("What only one of the chips has is left out on the other", "[unit]") {
  const CuptiApi* api = Cupti();
  if (api == nullptr) return;
  auto hopper = CounterConfig::Create(*api, "GH100", {}, 0);
  auto ada = CounterConfig::Create(*api, "AD102", {}, 0);
  REQUIRE(hopper.ok());
  REQUIRE(ada.ok());
  CHECK(Contains((*hopper)->metrics(), metric::kTensorPipeAll));
  CHECK_FALSE(Contains((*ada)->metrics(), metric::kTensorPipeAll));
  const char* gmma = "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio";
  CHECK(Contains((*hopper)->metrics(), gmma));
  CHECK_FALSE(Contains((*ada)->metrics(), gmma));
}

TEST_CASE("Few passes: what matters most is kept", "[unit]") {
  const CuptiApi* api = Cupti();
  if (api == nullptr) return;
  auto config = CounterConfig::Create(*api, "GH100", {}, 4);
  REQUIRE(config.ok());
  CHECK((*config)->passes() <= 4);
  CHECK(Contains((*config)->metrics(), metric::kTime));
  CHECK(Contains((*config)->metrics(), metric::kDramRead));
  CHECK(CounterConfig::Create(*api, "GH100", {}, 1).ok());
}

TEST_CASE("A chip that CUPTI does not know is said so", "[unit]") {
  const CuptiApi* api = Cupti();
  if (api == nullptr) return;
  auto config = CounterConfig::Create(*api, "ZZ999", {}, 0);
  REQUIRE_FALSE(config.ok());
  CHECK(warpsmith::Message(config.status()).find("ZZ999") != std::string::npos);
}

TEST_CASE("No CUPTI: what was tried and what to install", "[unit]") {
  auto none = CuptiApi::Load({"/nowhere/libcupti.so.13"});
  REQUIRE_FALSE(none.ok());
  CHECK(warpsmith::Message(none.status()).find("/nowhere/libcupti.so.13") != std::string::npos);
  CHECK(warpsmith::Message(none.status()).find("nvidia-cuda-cupti") != std::string::npos);
  CHECK_FALSE(CuptiApi::Load({}).ok());
}

TEST_CASE("Counters that are not permitted come with the remedy", "[unit]") {
  const CuptiApi* api = Cupti();
  if (api == nullptr) return;
  const absl::Status status = CuptiStatus(*api, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "cuptiRangeProfilerEnable");
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(warpsmith::Message(status).find("NVreg_RestrictProfilingToAdminUsers=0") != std::string::npos);
  CHECK(CuptiStatus(*api, CUPTI_SUCCESS, "x").ok());
}
