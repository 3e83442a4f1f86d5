#include "coordinator/bank/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/protocol_names.h"
#include "coordinator/bank/code_identity.h"
#include "coordinator/store/text.h"

namespace warpsmith::bank {
namespace {

// Two 95 % intervals that part by less than this are no drift: boards warm up, drivers change.
constexpr double kLeastDrift = 0.01;
// The emulated device shares its processor with everything else.
constexpr double kEmulatedDrift = 0.5;

bool Above(double value, double least) { return std::isfinite(value) && value > least; }

bool HasInterval(const v1::Confirmation& confirmation) {
  const double ratio = confirmation.ratio_to_reference();
  const double low = confirmation.reference_low(), high = confirmation.reference_high();
  return Above(ratio, 0) && Above(low, 0) && std::isfinite(high) && low <= ratio && ratio <= high;
}

double Finite(double value) { return std::isfinite(value) ? value : 0; }

}  // namespace

bool Older(const Revisions& revisions, const Revisions& than) {
  return OlderRevision(revisions.harness, than.harness) || OlderRevision(revisions.judge, than.judge);
}

Figures FiguresOf(const v1::Evaluation& evaluation, double log_ratio) {
  Figures figures;
  const v1::Confirmation& confirmation = evaluation.confirmation();
  figures.median_ms = Finite(evaluation.timing().median_ms());
  figures.ratio_to_eager = Finite(evaluation.ratio_to_eager());
  figures.log_ratio = Finite(log_ratio);
  if (HasInterval(confirmation)) {
    figures.ratio = confirmation.ratio_to_reference();
    figures.ratio_low = confirmation.reference_low();
    figures.ratio_high = confirmation.reference_high();
    figures.log_ratio = std::log(figures.ratio);
    if (Above(confirmation.candidate_ms(), 0)) figures.median_ms = confirmation.candidate_ms();
  }
  figures.precision_class = evaluation.reached();
  figures.revisions = {store::CleanLine(evaluation.harness_rev(), 40), store::CleanLine(evaluation.judge_rev(), 40)};
  figures.device_name = store::CleanLine(evaluation.timing().device_name(), 200);
  return figures;
}

std::string WhyNotAdmitted(const v1::ProblemSignature& signature, const v1::Evaluation& evaluation,
                           const std::string& device_class, bool emulated, const v1::DeviceDescription& device) {
  if (signature.degenerate()) return "a trivial answer passes every check of this problem";
  if (evaluation.outcome() != v1::OUTCOME_OK) {
    std::string why = fmt::format("its confirmation ended with {}", OutcomeName(evaluation.outcome()));
    const std::string message = store::CleanLine(evaluation.message(), 300);
    return message.empty() ? why : why + ": " + message;
  }
  for (const char* flag : {"suspicious", "host_code", "screened"}) {
    if (std::find(evaluation.flags().begin(), evaluation.flags().end(), flag) != evaluation.flags().end()) {
      return fmt::format("its confirmation is flagged {}", flag);
    }
  }
  if (!Above(evaluation.timing().median_ms(), 0)) return "its confirmation has no time";
  if (store::CleanLine(device.device_class(), 200) != device_class || device.emulated() != emulated ||
      evaluation.timing().emulated() != emulated) {
    return fmt::format("its confirmation ran on {}, not on {}", store::CleanLine(device.device_class(), 200),
                       device_class);
  }
  const v1::Confirmation& confirmation = evaluation.confirmation();
  if (HasInterval(confirmation)) return "";
  if (emulated && !Above(confirmation.ratio_to_reference(), 0)) return "";
  return "its confirmation has no ratio to the reference with an interval";
}

Comparison Compare(const Figures& before, const Figures& now, bool emulated) {
  if (before.revisions.harness != now.revisions.harness || before.median_ms <= 0) {
    return {"remeasured", fmt::format("times by harness {} do not compare with those by {}",
                                      before.revisions.harness.empty() ? "(none)" : before.revisions.harness,
                                      now.revisions.harness.empty() ? "(none)" : now.revisions.harness)};
  }
  const double change = std::expm1(now.log_ratio - before.log_ratio);
  bool drifted = false;
  if (before.ratio > 0 && now.ratio > 0) {
    const bool apart = now.ratio_low > before.ratio_high || now.ratio_high < before.ratio_low;
    drifted = apart && std::abs(change) > (emulated ? kEmulatedDrift : kLeastDrift);
  } else {
    drifted = std::abs(change) > kEmulatedDrift;
  }
  const std::string text = fmt::format("{:.4g} times the reference's speed, {:.4g} before ({:+.1f} %)",
                                       std::exp(now.log_ratio), std::exp(before.log_ratio), change * 100);
  return {drifted ? "drifted" : "confirmed", text};
}

}  // namespace warpsmith::bank
