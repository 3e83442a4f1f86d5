#include "cli/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/names.h"
#include "cli/text.h"
#include "common/fast_p.h"

namespace warpsmith::cli::report {
namespace {

constexpr std::string_view kFateClasses[kFates] = {"valid",  "screened", "suspicious", "wrong",  "uncompiled",
                                                   "nofile", "nofile",   "machine",    "pending"};
constexpr std::string_view kFateLabels[kFates] = {"correct",      "screened out", "not believed",
                                                  "not correct",  "not compiled", "no file",
                                                  "nothing left", "machine",      "pending"};

double MsOf(const v1::Candidate& candidate) {
  return HasTime(FateOf(candidate)) ? candidate.evaluation().timing().median_ms() : 0;
}

// Among those that were fully validated, if there are any.
bool Better(const v1::Candidate& a, const v1::Candidate* b) {
  if (b == nullptr) return true;
  const bool a_valid = FateOf(a) == Fate::kValid, b_valid = FateOf(*b) == Fate::kValid;
  if (a_valid != b_valid) return a_valid;
  const double a_ratio = a.evaluation().ratio_to_eager(), b_ratio = b->evaluation().ratio_to_eager();
  if (a_ratio > 0 && b_ratio > 0) return a_ratio > b_ratio;
  return MsOf(a) < MsOf(*b);
}

IdeaFigures IdeaOf(const v1::IdeaNode& node) {
  IdeaFigures idea;
  idea.node = &node;
  int correct = 0, ended = 0, nothing_left = 0;
  std::map<std::string, int> failures;
  for (const v1::Candidate& candidate : node.candidates()) {
    const Fate fate = FateOf(candidate);
    nothing_left += fate == Fate::kNothingLeft;
    if (fate == Fate::kPending || fate == Fate::kNothingLeft) continue;
    ++ended;
    if (fate == Fate::kValid || fate == Fate::kScreened) {
      ++correct;
      if (MsOf(candidate) > 0 && Better(candidate, idea.best)) idea.best = &candidate;
    } else {
      ++failures[OutcomeText(candidate)];
    }
  }
  if (idea.best != nullptr) {
    idea.ms = MsOf(*idea.best);
    idea.ratio = idea.best->evaluation().ratio_to_eager();
  }
  if (ended == 0) {
    idea.outcome = node.candidates_size() == nothing_left ? "no implementation" : "pending";
  } else if (correct > 0) {
    idea.outcome = fmt::format("{} of {} correct", correct, ended);
  } else {
    const auto most = std::max_element(failures.begin(), failures.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    idea.outcome = fmt::format("{} × {}", most->second, most->first);
    if (most->second < ended) idea.outcome += fmt::format(", {} other", ended - most->second);
  }
  return idea;
}

void AddFailure(const v1::Candidate& candidate, std::vector<FailureFigures>* failures) {
  const std::string outcome = OutcomeText(candidate);
  auto at = std::find_if(failures->begin(), failures->end(),
                         [&](const FailureFigures& failure) { return failure.outcome == outcome; });
  if (at == failures->end()) at = failures->insert(at, {outcome, 0, &candidate, ""});
  ++at->count;
  if (at->message.empty() && !candidate.evaluation().message().empty()) {
    at->message = candidate.evaluation().message();
    at->first = &candidate;
  }
}

std::string Sentence(const SearchFigures& figures) {
  const v1::Search& search = figures.search;
  std::string out = fmt::format("The best kernel takes {}", MsText(search.best_ms()));
  if (!figures.precision.empty()) out += " in class " + figures.precision;
  std::vector<std::string> ratios;
  if (search.best_ratio_to_eager() > 0) {
    ratios.push_back(fmt::format("{} the speed of PyTorch eager", RatioText(search.best_ratio_to_eager())));
  }
  for (const char* name : {"compile_default", "compile_max_autotune", "library"}) {
    const BaselineFigures* baseline = figures.Find(name);
    if (baseline == nullptr || baseline->ratio <= 0) continue;
    ratios.push_back(fmt::format("{} {}{}", RatioText(baseline->ratio), ratios.empty() ? "the speed of " : "that of ",
                                 baseline->label));
  }
  for (size_t i = 0; i < ratios.size(); ++i) {
    out += (i == 0 ? ", " : i + 1 == ratios.size() ? " and " : ", ") + ratios[i];
  }
  if (search.emulated())
    return out + ". Timed on the emulated device: such times rank kernels on a CPU and say nothing of a GPU.";
  return out + (figures.device.empty() ? "." : ", on " + figures.device + ".");
}

std::string WithoutKernel(const SearchFigures& figures) {
  const v1::Search& search = figures.search;
  if (search.state() == v1::SEARCH_STATE_FAILED) {
    return "The search failed: " + (search.error().empty() ? "no reason was recorded" : Line(search.error()));
  }
  int failed = 0;
  for (const FailureFigures& failure : figures.failures) failed += failure.count;
  std::string out = Ended(search.state()) ? "The search ended without a valid kernel"
                    : search.state() == v1::SEARCH_STATE_INTAKE
                        ? "The problem is being taken in; no kernel has been tried"
                        : "No valid kernel yet";
  if (figures.candidates == 0) return out + (Ended(search.state()) ? ": none was tried." : ".");
  out += fmt::format(": {} of {} candidates failed", failed, figures.candidates);
  if (!figures.failures.empty()) {
    out += fmt::format(", {} as {}", figures.failures.size() == 1 ? "all" : "most", figures.failures[0].outcome);
  }
  return out + ".";
}

}  // namespace

Fate FateOf(const v1::Candidate& candidate) {
  if (candidate.state() == "rejected") {
    return candidate.reject_reason() == "exhausted" ? Fate::kNothingLeft : Fate::kNoFile;
  }
  if (candidate.state() != "done") return Fate::kPending;
  const v1::Evaluation& evaluation = candidate.evaluation();
  switch (evaluation.outcome()) {
    case v1::OUTCOME_OK:
      return evaluation.reason() == "screened" ? Fate::kScreened : Fate::kValid;
    case v1::OUTCOME_SUSPICIOUS:
      return Fate::kSuspicious;
    case v1::OUTCOME_PLAN_ERROR:
    case v1::OUTCOME_COMPILE_ERROR:
      return Fate::kNotCompiled;
    case v1::OUTCOME_UNSPECIFIED:
    case v1::OUTCOME_NEEDS_GPU:
    case v1::OUTCOME_INFRA_ERROR:
      return Fate::kMachine;
    default:
      return Fate::kWrong;
  }
}

// A time that is not believed is not drawn.
bool HasTime(Fate fate) { return fate == Fate::kValid || fate == Fate::kScreened; }
std::string_view FateClass(Fate fate) { return kFateClasses[static_cast<int>(fate)]; }
std::string_view FateLabel(Fate fate) { return kFateLabels[static_cast<int>(fate)]; }

std::string OutcomeText(const v1::Candidate& candidate) {
  if (candidate.state() == "rejected") {
    return candidate.reject_reason().empty() ? "rejected" : "rejected (" + Line(candidate.reject_reason()) + ")";
  }
  if (candidate.state() != "done") return Line(candidate.state());
  std::string out = OutcomeName(candidate.evaluation().outcome());
  if (!candidate.evaluation().reason().empty()) out += " (" + Line(candidate.evaluation().reason()) + ")";
  return out;
}

std::string BaselineLabel(const std::string& name) {
  if (name == "eager") return "PyTorch eager";
  if (name == "eager_tf32_off") return "PyTorch eager, TF32 off";
  if (name == "eager_graph") return "PyTorch eager as a CUDA graph";
  if (name == "compile_default") return "torch.compile";
  if (name == "compile_max_autotune") return "torch.compile max-autotune";
  if (name == "library") return "the library call";
  return Line(name);
}

std::string RatioText(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return "–";
  const int digits = ratio >= 99.95 ? 0 : ratio >= 9.995 ? 1 : ratio >= 0.0995 ? 2 : 4;
  return fmt::format("{:.{}f}×", ratio, digits);
}

std::string MsText(double ms) { return ms > 0 && std::isfinite(ms) ? FormatMs(ms) + " ms" : "–"; }

std::string ShortVerdict(const v1::Candidate& candidate) {
  const double ms = MsOf(candidate);
  if (!(ms > 0)) return OutcomeText(candidate);
  const double ratio = candidate.evaluation().ratio_to_eager();
  return (FateOf(candidate) == Fate::kScreened ? "screened out at " : "") + MsText(ms) +
         (ratio > 0 ? ", " + RatioText(ratio) : "");
}

SearchFigures::SearchFigures(const v1::SearchReport& of) : report(of), search(of.search()) {
  lineage.insert(report.best_lineage().begin(), report.best_lineage().end());
  for (const v1::IdeaNode& node : report.ideas()) {
    ideas.push_back(IdeaOf(node));
    for (const v1::Candidate& candidate : node.candidates()) {
      by_id[candidate.id()] = &candidate;
      idea_of[candidate.id()] = &node;
      ideas.back().on_lineage = ideas.back().on_lineage || lineage.count(candidate.id()) > 0;
      ++candidates;
      const Fate fate = FateOf(candidate);
      ++fates[static_cast<int>(fate)];
      if (!HasTime(fate) && fate != Fate::kPending && fate != Fate::kNothingLeft) AddFailure(candidate, &failures);
    }
  }
  std::stable_sort(failures.begin(), failures.end(),
                   [](const FailureFigures& a, const FailureFigures& b) { return a.count > b.count; });
  if (const auto found = by_id.find(search.best_candidate_id()); found != by_id.end()) best = found->second;
  for (const v1::Candidate& kernel : report.kernels()) {
    if (!search.best_candidate_id().empty() && kernel.id() == search.best_candidate_id()) best = &kernel;
  }
  if (best != nullptr) {
    device = best->evaluation().timing().device_name();
    if (best->evaluation().reached() != v1::PRECISION_CLASS_UNSPECIFIED) {
      precision = PrecisionClassName(best->evaluation().reached());
    }
  }
  for (const v1::Baseline& baseline : search.problem().baselines()) {
    if (device.empty()) device = baseline.device_name();
    if (baseline.name() == "eager" && baseline.median_ms() > 0) eager_ms = baseline.median_ms();
  }
  for (const v1::Baseline& baseline : search.problem().baselines()) {
    BaselineFigures& figure = baselines.emplace_back();
    figure.baseline = &baseline;
    figure.label = BaselineLabel(baseline.name());
    if (baseline.median_ms() <= 0 || search.best_ms() <= 0 || baseline.emulated() != search.emulated()) continue;
    figure.ratio = RatioToBaseline(baseline.median_ms(), eager_ms, search.best_ms(), search.best_ratio_to_eager());
  }
  if (eager_ms <= 0 && search.best_ms() > 0) eager_ms = search.best_ms() * search.best_ratio_to_eager();
  for (IdeaFigures& idea : ideas) {
    if (idea.ms <= 0) continue;
    const std::string& parent = idea.node->parent_id();
    const auto found = by_id.find(parent);
    const double before = parent.empty() ? eager_ms : found == by_id.end() ? 0 : MsOf(*found->second);
    if (before > 0) idea.ratio_to_parent = before / idea.ms;
    for (const v1::Candidate& candidate : idea.node->candidates()) {
      if (before > 0 && FateOf(candidate) == Fate::kValid && MsOf(candidate) > 0 && MsOf(candidate) < before) {
        ++faster_than_parent;
      }
    }
  }
}

const BaselineFigures* SearchFigures::Find(std::string_view name) const {
  for (const BaselineFigures& figure : baselines) {
    if (figure.baseline->name() == name) return &figure;
  }
  return nullptr;
}

std::string Verdict(const SearchFigures& figures) {
  if (figures.search.best_ms() <= 0) return WithoutKernel(figures);
  std::string out = Sentence(figures);
  if (figures.best == nullptr) return out;
  const v1::Confirmation& confirmed = figures.best->evaluation().confirmation();
  if (confirmed.ratio_to_reference() > 0) {
    out += fmt::format(" Confirmed in turn with PyTorch on the same inputs: {} (95 % between {} and {}).",
                       RatioText(confirmed.ratio_to_reference()), RatioText(confirmed.reference_low()),
                       RatioText(confirmed.reference_high()));
  }
  return out;
}

}  // namespace warpsmith::cli::report
