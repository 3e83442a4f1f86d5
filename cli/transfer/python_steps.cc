#include "cli/transfer/python_steps.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "cli/transfer/python_text.h"
#include "gpu_worker/plan/library_schema.h"
#include "gpu_worker/plan/literal.h"

namespace warpsmith::transfer {
namespace {

// float16's bits as a number.
double HalfValue(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

class StepWriter {
 public:
  explicit StepWriter(const KernelSource& kernel) {
    names_["sm_count"] = "run.sm_count";
    for (const auto& [name, value] : kernel.tune) names_[name] = std::to_string(value);
  }

  absl::Status Write(const std::vector<plan::Step>& steps, const std::string& path, int depth) {
    for (size_t i = 0; i < steps.size(); ++i) {
      const std::string at = fmt::format("{}[{}]", path, i);
      const std::string indent(8 + 4 * static_cast<size_t>(depth), ' ');
      if (const auto* kernel = std::get_if<plan::KernelStep>(&steps[i].value)) {
        WARPSMITH_RETURN_IF_ERROR(Annotate(WriteKernel(*kernel, indent), at));
      } else if (const auto* memset = std::get_if<plan::MemsetStep>(&steps[i].value)) {
        text_ += fmt::format("{}run.memset({}, value={}, width={})\n", indent, PythonString(memset->tensor),
                             memset->value, memset->width);
      } else if (const auto* copy = std::get_if<plan::CopyStep>(&steps[i].value)) {
        text_ += fmt::format("{}run.copy({}, {})\n", indent, PythonString(copy->source), PythonString(copy->target));
      } else if (const auto* library = std::get_if<plan::LibraryStep>(&steps[i].value)) {
        WARPSMITH_RETURN_IF_ERROR(Annotate(WriteLibrary(*library, indent), at));
      } else {
        WARPSMITH_RETURN_IF_ERROR(WriteRepeat(std::get<plan::RepeatStep>(steps[i].value), at, depth));
      }
    }
    return absl::OkStatus();
  }

  std::string text() const { return text_.empty() ? "        return\n" : text_; }

 private:
  std::string Number(const plan::Expression& expression, bool exact = false) const {
    return PythonExpression(expression.text(), names_, exact);
  }

  std::string Sizes(const std::vector<plan::Expression>& sizes, bool exact) const {
    std::string text = "(";
    for (size_t i = 0; i < sizes.size(); ++i) text += (i == 0 ? "" : ", ") + Number(sizes[i], exact);
    return text + (sizes.size() == 1 ? ",)" : ")");
  }

  std::string ViewText(const plan::View& view) const {
    if (view.offset.constant() == 0) return PythonString(view.tensor);
    return fmt::format("run.at({}, {})", PythonString(view.tensor), Number(view.offset));
  }

  absl::StatusOr<std::string> ArgumentText(const plan::Argument& argument) const {
    if (const auto* view = std::get_if<plan::View>(&argument)) return ViewText(*view);
    if (const auto* map = std::get_if<plan::TensorMapArgument>(&argument)) {
      return fmt::format("run.tensor_map({}, box=[{}], swizzle={})", PythonString(map->tensor),
                         fmt::join(map->box, ", "), PythonString(map->swizzle));
    }
    const auto& literal = std::get<plan::Literal>(argument);
    const std::string type(plan::LiteralTypeName(literal.type));
    if (plan::IsFloatingPoint(literal.type)) {
      WARPSMITH_ASSIGN_OR_RETURN(const double value, RoundedLiteral(literal));
      return fmt::format("run.{}({})", type, value);
    }
    return fmt::format("run.{}({})", type,
                       literal.large.has_value() ? std::to_string(*literal.large) : Number(literal.integer));
  }

  absl::Status WriteKernel(const plan::KernelStep& step, const std::string& indent) {
    std::string arguments;
    for (const plan::Argument& argument : step.args) {
      WARPSMITH_ASSIGN_OR_RETURN(const std::string text, ArgumentText(argument));
      arguments += (arguments.empty() ? "" : ", ") + text;
    }
    text_ += fmt::format("{}run.kernel({}, grid={}, block={}, args=[{}]", indent, PythonString(step.kernel),
                         Sizes(step.grid, true), Sizes(step.block, false), arguments);
    if (step.shared_bytes.constant() != 0) text_ += fmt::format(", shared_bytes={}", Number(step.shared_bytes));
    if (step.cooperative) text_ += ", cooperative=True";
    if (!step.cluster.empty()) text_ += fmt::format(", cluster=[{}]", fmt::join(step.cluster, ", "));
    text_ += ")\n";
    return absl::OkStatus();
  }

  absl::Status WriteRepeat(const plan::RepeatStep& step, const std::string& at, int depth) {
    const std::string indent(8 + 4 * static_cast<size_t>(depth), ' ');
    const std::string index = step.index.empty() ? "_" : PythonVariable(step.index, depth);
    text_ += fmt::format("{}for {} in range({}):\n", indent, index, Number(step.count));
    const PythonNames outside = names_;
    if (!step.index.empty()) names_[step.index] = index;
    WARPSMITH_RETURN_IF_ERROR(Write(step.steps, at + ".steps", depth + 1));
    names_ = outside;
    return absl::OkStatus();
  }

  absl::Status WriteLibrary(const plan::LibraryStep& step, const std::string& indent) {
    const plan::LibrarySchema* schema = plan::FindLibrarySchema(step.function);
    if (schema == nullptr) {
      return InvalidArgument(
          fmt::format("the library step {} cannot be expressed by PyTorch's operators", step.function));
    }
    text_ += fmt::format("{}run.{}({}", indent, step.function, PythonString(step.compute));
    for (const plan::LibraryField& field : schema->fields) {
      const std::string key(field.name);
      switch (field.kind) {
        case plan::LibraryField::Kind::kInteger:
          text_ += fmt::format(", {}={}", key, Number(step.integers.at(key)));
          break;
        case plan::LibraryField::Kind::kIntegerList:
          text_ += fmt::format(", {}={}", key, NumberList(step, key));
          break;
        case plan::LibraryField::Kind::kScalar:
          if (step.scalars.count(key) > 0) text_ += fmt::format(", {}={}", key, step.scalars.at(key));
          break;
        case plan::LibraryField::Kind::kOperand:
          text_ += fmt::format(", {}=({}, {})", key, PythonString(step.operands.at(key).tensor),
                               Number(step.operands.at(key).offset));
          break;
        case plan::LibraryField::Kind::kEnum:
          text_ += fmt::format(", {}={}", key, PythonString(step.enums.at(key)));
          break;
      }
    }
    if (step.function == "attention_forward" && step.scalars.count("attn_scale") == 0) {
      text_ += fmt::format(", attn_scale=({}) ** -0.5", Number(step.integers.at("d_qk")));
    }
    text_ += ")\n";
    return absl::OkStatus();
  }

  std::string NumberList(const plan::LibraryStep& step, const std::string& key) const {
    std::string text = "[";
    for (int i = 0;; ++i) {
      const auto found = step.integers.find(fmt::format("{}{}", key, i));
      if (found == step.integers.end()) return text + "]";
      text += (i == 0 ? "" : ", ") + Number(found->second);
    }
  }

  PythonNames names_;
  std::string text_;
};

}  // namespace

absl::StatusOr<double> RoundedLiteral(const plan::Literal& literal) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string bytes, plan::EncodeNumber(literal.type, literal.number));
  if (literal.type == plan::LiteralType::kF64) return literal.number;
  if (literal.type == plan::LiteralType::kF32) {
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  if (literal.type == plan::LiteralType::kF16) return HalfValue(bits);
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

absl::StatusOr<std::string> PythonSteps(const KernelSource& kernel, const std::vector<plan::Step>& steps,
                                        const std::string& path) {
  StepWriter writer(kernel);
  WARPSMITH_RETURN_IF_ERROR(writer.Write(steps, path, 0));
  return writer.text();
}

}  // namespace warpsmith::transfer
