#include "cli/transfer/cuda_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/transfer/python_steps.h"
#include "cli/transfer/python_text.h"
#include "common/file.h"
#include "gpu_worker/plan/literal.h"

namespace warpsmith::transfer {
namespace {

const std::map<std::string, std::string>& MapTypes() {
  static const auto& types = *new std::map<std::string, std::string>{
      {"float32", "FLOAT32"}, {"float64", "FLOAT64"}, {"float16", "FLOAT16"}, {"bfloat16", "BFLOAT16"},
      {"int64", "INT64"},     {"uint64", "UINT64"},   {"int32", "INT32"},     {"uint32", "UINT32"},
      {"int16", "UINT16"},    {"uint16", "UINT16"}};
  return types;
}

std::string CudaType(plan::LiteralType type) {
  switch (type) {
    case plan::LiteralType::kBool:
    case plan::LiteralType::kU8:
      return "uint8_t";
    case plan::LiteralType::kI8:
      return "int8_t";
    case plan::LiteralType::kI32:
      return "int32_t";
    case plan::LiteralType::kU32:
      return "uint32_t";
    case plan::LiteralType::kI64:
      return "int64_t";
    case plan::LiteralType::kU64:
      return "uint64_t";
    case plan::LiteralType::kF32:
      return "float";
    case plan::LiteralType::kF64:
      return "double";
    default:
      return "uint16_t";  // float16 and bfloat16, by their bits
  }
}

class CudaStepWriter {
 public:
  explicit CudaStepWriter(const KernelSource& kernel) : kernel_(kernel) {
    for (const auto& [name, value] : kernel.tune) names_[name] = fmt::format("({}LL)", value);
  }

  absl::Status Write(const std::vector<plan::Step>& steps, const std::string& path, int depth) {
    for (size_t i = 0; i < steps.size(); ++i) {
      const std::string at = fmt::format("{}[{}]", path, i);
      indent_ = std::string(2 + 2 * static_cast<size_t>(depth), ' ');
      if (const auto* kernel = std::get_if<plan::KernelStep>(&steps[i].value)) {
        WARPSMITH_RETURN_IF_ERROR(Annotate(WriteKernel(*kernel), at));
      } else if (const auto* memset = std::get_if<plan::MemsetStep>(&steps[i].value)) {
        const plan::Tensor& tensor = *kernel_.Find(memset->tensor);
        text_ += fmt::format("{}Memset({}, {}u, {}, {}, stream);\n", indent_, Data(tensor), memset->value,
                             memset->width, tensor.bytes / memset->width);
      } else if (const auto* copy = std::get_if<plan::CopyStep>(&steps[i].value)) {
        const plan::Tensor &source = *kernel_.Find(copy->source), &target = *kernel_.Find(copy->target);
        text_ += fmt::format("{}Check(cudaMemcpyAsync({}, {}, {}, cudaMemcpyDeviceToDevice, stream), \"copy\");\n",
                             indent_, Data(target), Data(source), target.bytes);
      } else if (const auto* library = std::get_if<plan::LibraryStep>(&steps[i].value)) {
        return InvalidArgument(fmt::format(
            "{}: the library step {} is no plain CUDA; export it as pytorch or kernelbench", at, library->function));
      } else {
        WARPSMITH_RETURN_IF_ERROR(WriteRepeat(std::get<plan::RepeatStep>(steps[i].value), at, depth));
      }
    }
    return absl::OkStatus();
  }

  const std::string& text() const { return text_; }

 private:
  std::string Number(const plan::Expression& expression, bool exact = false) const {
    return CudaExpression(expression.text(), names_, exact);
  }

  // Three sides, in braces.
  std::string Sides(const std::vector<plan::Expression>& sizes, bool exact) const {
    std::string text = "{";
    for (size_t i = 0; i < 3; ++i) text += (i == 0 ? "" : ", ") + (i < sizes.size() ? Number(sizes[i], exact) : "1");
    return text + "}";
  }

  static std::string Data(const plan::Tensor& tensor) {
    return fmt::format("data[{}] /* {} */", tensor.buffer, tensor.name);
  }

  template <typename Values>
  static std::string Array(const char* type, const Values& values) {
    return fmt::format("({}[]){{{}}}", type, fmt::join(values, ", "));
  }

  absl::StatusOr<std::string> Variable(const plan::Argument& argument, size_t index) const {
    if (const auto* view = std::get_if<plan::View>(&argument)) {
      const plan::Tensor& tensor = *kernel_.Find(view->tensor);
      if (view->offset.constant() == 0) return fmt::format("void* a{} = {};\n", index, Data(tensor));
      return fmt::format("void* a{} = static_cast<char*>({}) + ({}) * {};\n", index, Data(tensor), Number(view->offset),
                         tensor.element_bytes);
    }
    if (const auto* map = std::get_if<plan::TensorMapArgument>(&argument)) return MapVariable(*map, index);
    const auto& literal = std::get<plan::Literal>(argument);
    std::string value;
    if (literal.type == plan::LiteralType::kF16 || literal.type == plan::LiteralType::kBf16) {
      WARPSMITH_ASSIGN_OR_RETURN(const std::string bytes, plan::EncodeNumber(literal.type, literal.number));
      value = fmt::format("0x{:02x}{:02x}", static_cast<unsigned char>(bytes[1]), static_cast<unsigned char>(bytes[0]));
    } else if (plan::IsFloatingPoint(literal.type)) {
      WARPSMITH_ASSIGN_OR_RETURN(const double rounded, RoundedLiteral(literal));
      value = fmt::format("static_cast<{}>({})", CudaType(literal.type), rounded);
    } else if (literal.large.has_value()) {
      value = fmt::format("{}ULL", *literal.large);
    } else {
      value = fmt::format("static_cast<{}>({})", CudaType(literal.type), Number(literal.integer));
    }
    return fmt::format("{} a{} = {};\n", CudaType(literal.type), index, value);
  }

  std::string MapVariable(const plan::TensorMapArgument& map, size_t index) const {
    const plan::Tensor& tensor = *kernel_.Find(map.tensor);
    const auto type = MapTypes().find(tensor.dtype);
    std::vector<int64_t> shape(tensor.shape.rbegin(), tensor.shape.rend()), strides;
    for (size_t i = tensor.strides.size(); i-- > 1;) strides.push_back(tensor.strides[i - 1] * tensor.element_bytes);
    if (strides.empty()) strides.push_back(0);
    const std::string name = fmt::format("a{}", index);
    return fmt::format(
        "const cuuint64_t {0}_shape[] = {{{1}}}, {0}_strides[] = {{{2}}};\n{3}  const cuuint32_t {0}_box[] = {{{4}}};\n"
        "{3}  TensorMap {0} = EncodeTensorMap({5}, CU_TENSOR_MAP_DATA_TYPE_{6}, {7}, {0}_shape, {0}_strides, {0}_box, "
        "CU_TENSOR_MAP_SWIZZLE_{8});\n",
        name, fmt::join(shape, ", "), fmt::join(strides, ", "), indent_, fmt::join(map.box, ", "), Data(tensor),
        type == MapTypes().end() ? "UINT8" : type->second, shape.size(), map.swizzle == "none" ? "NONE" : map.swizzle);
  }

  absl::Status WriteKernel(const plan::KernelStep& step) {
    text_ += indent_ + "{\n";
    std::vector<std::string> addresses;
    for (size_t i = 0; i < step.args.size(); ++i) {
      WARPSMITH_ASSIGN_OR_RETURN(const std::string variable, Variable(step.args[i], i));
      text_ += indent_ + "  " + variable;
      addresses.push_back(fmt::format("&a{}", i));
    }
    if (addresses.empty()) addresses.push_back("nullptr");
    std::vector<int64_t> cluster(3, 0);
    for (size_t i = 0; i < 3 && !step.cluster.empty(); ++i) cluster[i] = i < step.cluster.size() ? step.cluster[i] : 1;
    text_ += fmt::format(
        "{0}  void* arguments[] = {{{1}}};\n{0}  Launch(reinterpret_cast<const void*>(&::{2}), \"{2}\",\n"
        "{0}         {{{3}, {4}, {5}, {6}, {{{7}}}}}, arguments, stream);\n{0}}}\n",
        indent_, fmt::join(addresses, ", "), step.kernel, Sides(step.grid, true), Sides(step.block, false),
        Number(step.shared_bytes), step.cooperative ? "true" : "false", fmt::join(cluster, ", "));
    return absl::OkStatus();
  }

  absl::Status WriteRepeat(const plan::RepeatStep& step, const std::string& at, int depth) {
    const std::string index = fmt::format("i{}_{}", depth, step.index);
    text_ +=
        fmt::format("{}for (int64_t {} = 0; {} < {}; ++{}) {{\n", indent_, index, index, Number(step.count), index);
    const PythonNames outside = names_;
    if (!step.index.empty()) names_[step.index] = index;
    WARPSMITH_RETURN_IF_ERROR(Write(step.steps, at + ".steps", depth + 1));
    names_ = outside;
    text_ += std::string(2 + 2 * static_cast<size_t>(depth), ' ') + "}\n";
    return absl::OkStatus();
  }

  const KernelSource& kernel_;
  PythonNames names_;
  std::string indent_;
  std::string text_;
};

// One line a buffer, with the first tensor that is in it.
std::string TensorTableText(const KernelSource& kernel) {
  std::map<uint32_t, const plan::Tensor*> buffers;
  std::map<uint32_t, int64_t> bytes;
  for (const plan::Tensor& tensor : kernel.tensors) {
    buffers.emplace(tensor.buffer, &tensor);
    bytes[tensor.buffer] = std::max(bytes[tensor.buffer], tensor.bytes);
  }
  std::string text = "constexpr Tensor kTensor[] = {\n";
  for (const auto& [buffer, tensor] : buffers) {
    const v1::TensorSpec* spec = kernel.FindSpec(tensor->name);
    const char role = spec == nullptr ? 's' : spec->role() == v1::TENSOR_ROLE_OUTPUT ? 'o' : 'i';
    const char type = tensor->dtype == "float16"           ? 'h'
                      : tensor->dtype == "bfloat16"        ? 'b'
                      : tensor->dtype.starts_with("float") ? 'f'
                                                           : 'n';
    text += fmt::format("    {{\"{}\", {}, {}, '{}', '{}'}},  // {}\n", tensor->name, bytes[buffer],
                        tensor->element_bytes, type, role, tensor->dtype);
  }
  return text + "};\n";
}

}  // namespace

absl::StatusOr<CudaPrograms> CudaPrograms::LoadShipped() {
  CudaPrograms programs;
  WARPSMITH_ASSIGN_OR_RETURN(const auto folder, FindShare("cli/transfer/cuda"));
  WARPSMITH_ASSIGN_OR_RETURN(programs.launcher_, ReadFile(folder / "launcher.h"));
  WARPSMITH_ASSIGN_OR_RETURN(programs.main_, ReadFile(folder / "main.h"));
  return programs;
}

absl::StatusOr<std::string> CudaPrograms::Program(const KernelSource& kernel, const std::string& file_name) const {
  const plan::Plan& plan = kernel.candidate.plan;
  CudaStepWriter steps(kernel), prepare(kernel);
  WARPSMITH_RETURN_IF_ERROR(prepare.Write(plan.prepare, "prepare", 0));
  WARPSMITH_RETURN_IF_ERROR(steps.Write(plan.steps, "steps", 0));
  const plan::Architecture least = plan.min_arch.value_or(plan::Architecture{80, 0});
  std::string options, defines;
  for (const std::string& option : kernel.options) {
    if (option.starts_with("-D")) {
      std::string define = option.substr(2);
      std::replace(define.begin(), define.end(), '=', ' ');
      defines += "#define " + define + (option.find('=') == std::string::npos ? " 1\n" : "\n");
    } else if (!option.starts_with("--std=") && option != "--extra-device-vectorization") {
      options += " " + option;
    }
  }
  std::string text =
      fmt::format("// {}\n// Written by warpsmith. nvcc -std=c++17 -O3 -arch=sm_{}{}{} {} -o {}\n", kernel.origin,
                  least.number, least.suffix == 0 ? std::string() : std::string(1, least.suffix), options, file_name,
                  file_name.substr(0, file_name.rfind('.')));
  text += defines + "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n\n" + kernel.candidate.code;
  if (text.back() != '\n') text += '\n';
  text += launcher_ + "\n// ---- This kernel " + std::string(100, '-') + "\n\nnamespace warpsmith {\n\n";
  text +=
      "struct Tensor {\n  const char* name;\n  size_t bytes;\n  int element_bytes;\n  char type;  // f float, h "
      "half, b bfloat16, n other\n  char role;  // i input or parameter, o output, s scratch\n};\n\n";
  text += TensorTableText(kernel);
  text += "\n// `data`: a pointer a tensor, in the order of kTensor, each aligned to 256 bytes.\n";
  text += "inline void Run(void* const* data, int64_t sm_count, cudaStream_t stream) {\n  (void)sm_count;\n" +
          steps.text() + "}\n";
  text += "\n// Before the first Run, and again when a parameter changed.\n";
  text +=
      "inline void Prepare(void* const* data, int64_t sm_count, cudaStream_t stream) {\n"
      "  (void)data, (void)sm_count, (void)stream;\n" +
      prepare.text() + "}\n\n}  // namespace warpsmith\n";
  return text + main_;
}

}  // namespace warpsmith::transfer
