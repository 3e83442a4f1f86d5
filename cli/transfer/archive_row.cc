#include "cli/transfer/archive_row.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>

#include "cli/transfer/clean_text.h"
#include "common/protocol_names.h"

namespace warpsmith::transfer {
namespace {

Json NumberOrNull(double value) { return value > 0 ? Json(value) : Json(nullptr); }

double TimeOf(const v1::ExportedSearch& search, const char* baseline) {
  for (const v1::Baseline& one : search.problem().baselines()) {
    if (one.name() == baseline && one.emulated() == search.emulated()) return one.median_ms();
  }
  return 0;
}

}  // namespace

Json ArchiveRow(const v1::ExportedSearch& search, const v1::ExportedCandidate& exported) {
  const v1::Candidate& candidate = exported.candidate();
  const v1::Evaluation& evaluation = candidate.evaluation();
  const bool correct = evaluation.outcome() == v1::OUTCOME_OK;
  const double time = correct ? evaluation.timing().median_ms() : 0;
  const double eager = TimeOf(search, "eager"), compiled = TimeOf(search, "compile_default");
  double difference = 0;
  for (const v1::TrialVerdict& trial : evaluation.trials()) difference = std::max(difference, trial.max_error());
  Json profile = nullptr;
  if (std::string text;
      evaluation.has_profile() && google::protobuf::util::MessageToJsonString(evaluation.profile(), &text).ok()) {
    profile = WithoutPaths(text);
  }
  return {{"Op_Name", search.problem().name()},
          {"Level_ID", search.level()},
          {"Task_ID", search.number()},
          {"Kernel_Name", WithoutPaths(candidate.idea().title())},
          {"CUDA_Runtime", NumberOrNull(time)},
          {"PyTorch_Native_Runtime", NumberOrNull(eager)},
          {"PyTorch_Compile_Runtime", NumberOrNull(compiled)},
          {"CUDA_Speedup_Native", NumberOrNull(correct ? evaluation.ratio_to_eager() : 0)},
          {"CUDA_Speedup_Compile", NumberOrNull(time > 0 ? compiled / time : 0)},
          {"CUDA_Code", WithoutPaths(candidate.source())},
          {"PyTorch_Code_Module", WithoutPaths(search.problem().source())},
          {"PyTorch_Code_Functional", nullptr},
          {"Correct", correct},
          // Relative to the output's size, against float64.
          {"Max_Diff", evaluation.trials().empty() ? Json(nullptr) : Json(difference)},
          {"Error", correct ? Json(nullptr)
                            : Json(OutcomeName(evaluation.outcome()) + ": " + WithoutPaths(evaluation.message()))},
          {"NCU_Profile", profile},
          {"Torch_Profile", nullptr},
          {"Clang_Tidy", nullptr}};
}

}  // namespace warpsmith::transfer
