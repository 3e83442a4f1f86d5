#include "cli/transfer/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/text.h"
#include "common/protocol_names.h"

namespace warpsmith::transfer {
namespace {

void Collect(const std::vector<plan::Step>& steps, std::set<std::string>* seen, std::vector<std::string>* names) {
  const auto add = [&](const std::string& name) {
    if (seen->insert(name).second) names->push_back(name);
  };
  for (const plan::Step& step : steps) {
    if (const auto* kernel = std::get_if<plan::KernelStep>(&step.value)) {
      for (const plan::Argument& argument : kernel->args) {
        if (const auto* view = std::get_if<plan::View>(&argument)) add(view->tensor);
        if (const auto* map = std::get_if<plan::TensorMapArgument>(&argument)) add(map->tensor);
      }
    } else if (const auto* memset = std::get_if<plan::MemsetStep>(&step.value)) {
      add(memset->tensor);
    } else if (const auto* copy = std::get_if<plan::CopyStep>(&step.value)) {
      add(copy->source);
      add(copy->target);
    } else if (const auto* library = std::get_if<plan::LibraryStep>(&step.value)) {
      for (const auto& [field, view] : library->operands) add(view.tensor);
    } else {
      Collect(std::get<plan::RepeatStep>(step.value).steps, seen, names);
    }
  }
}

// The tuning values that the figures are of; where none are told, each name's first.
absl::StatusOr<plan::TuneAssignment> TuneOf(const plan::Plan& plan, const v1::Evaluation& evaluation) {
  plan::TuneAssignment tune;
  for (const plan::TuneParameter& parameter : plan.tune) {
    const auto told = evaluation.tune().find(parameter.name);
    if (told == evaluation.tune().end() && !evaluation.tune().empty()) {
      return InvalidArgument(fmt::format("the evaluation does not tell the tuning value {}", parameter.name));
    }
    tune[parameter.name] = told == evaluation.tune().end() ? parameter.values.front() : told->second;
  }
  return tune;
}

std::string Origin(const v1::ExportedProblem& problem) {
  const v1::ArchivedKernel& kernel = problem.kernel();
  std::string text = cli::Line(problem.problem().name());
  if (!kernel.title().empty()) text += ": " + cli::Line(kernel.title());
  if (kernel.median_ms() > 0) {
    text += fmt::format(". {} ms on {}", cli::FormatMs(kernel.median_ms()), cli::Line(problem.device().name()));
    if (problem.evaluation().ratio_to_eager() > 0) {
      text += fmt::format(", {:.2f} x as fast as PyTorch eager", problem.evaluation().ratio_to_eager());
    }
    if (kernel.emulated()) text += " (the emulated device's time, no GPU's)";
  }
  return text;
}

}  // namespace

const plan::Tensor* KernelSource::Find(const std::string& tensor) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == tensor; });
  return found == tensors.end() ? nullptr : &*found;
}

const v1::TensorSpec* KernelSource::FindSpec(const std::string& tensor) const {
  for (const v1::TensorSpec& spec : signature.tensors()) {
    if (spec.name() == tensor) return &spec;
  }
  return nullptr;
}

absl::StatusOr<KernelSource> ReadKernelSource(const v1::ExportedProblem& problem) {
  KernelSource source;
  source.name = problem.problem().name();
  source.reference = problem.problem().source();
  source.signature = problem.problem().signature();
  auto candidate = plan::ParseCandidate(problem.kernel().source());
  if (!candidate.ok()) return InvalidArgument("its kernel's file: " + Message(candidate.status()));
  source.candidate = *std::move(candidate);
  WARPSMITH_ASSIGN_OR_RETURN(source.tune, TuneOf(source.candidate.plan, problem.evaluation()));
  source.options = plan::CompilerOptions(source.candidate.plan, source.tune);
  const auto table = plan::TensorTable::Build(source.signature, source.candidate.plan.scratch);
  if (!table.ok()) return InvalidArgument("its kernel's plan: " + Message(table.status()));
  source.tensors = table->tensors();
  source.origin = Origin(problem);
  for (const plan::Tensor& tensor : source.tensors) {
    const bool plain = std::all_of(tensor.name.begin(), tensor.name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '[' || c == ']' || c == ':';
    });
    if (!plain) {
      return InvalidArgument(
          fmt::format("its tensor {} has a name that code cannot be written for", cli::Line(tensor.name)));
    }
  }
  return source;
}

std::vector<std::string> TensorsOf(const std::vector<plan::Step>& steps) {
  std::set<std::string> seen;
  std::vector<std::string> names;
  Collect(steps, &seen, &names);
  return names;
}

std::string Identifier(const std::string& name) {
  std::string result;
  for (const unsigned char c : name) result += std::isalnum(c) != 0 && c < 0x80 ? static_cast<char>(c) : '_';
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0])) != 0) result = "k_" + result;
  return result;
}

}  // namespace warpsmith::transfer
