#include "gpu_worker/library/cudnn_attention.h"

#include <fmt/format.h>

#include <limits>

#include "gpu_worker/library/cudnn_graph.h"

namespace warpsmith::library {
namespace {

class PreparedAttention : public PreparedCall {
 public:
  PreparedAttention(CudnnRunner* runner, const AttentionCall& call)
      : runner_(runner), call_(call), graph_(runner->api()) {}

  absl::Status Build() {
    const AttentionCall& c = call_;
    const cudnnDataType_t type = CudnnTypeOf(c.type);
    const Shape q_shape = {c.batch, c.heads_q, c.length_q, c.width_qk};
    const Shape k_shape = {c.batch, c.heads_k, c.length_kv, c.width_qk};
    const Shape v_shape = {c.batch, c.heads_v, c.length_kv, c.width_v};
    const Shape o_shape = {c.batch, c.heads_q, c.length_q, c.width_v};
    const Shape scores_shape = {c.batch, c.heads_q, c.length_q, c.length_kv};
    const Shape rows_shape = {c.batch, c.heads_q, c.length_q, 1};
    q_ = graph_.Tensor(q_shape, Packed(q_shape), type);
    // k as its transpose: the last two dimensions and strides change places.
    const Shape k_strides = Packed(k_shape);
    k_ = graph_.Tensor({k_shape[0], k_shape[1], k_shape[3], k_shape[2]},
                       {k_strides[0], k_strides[1], k_strides[3], k_strides[2]}, type);
    v_ = graph_.Tensor(v_shape, Packed(v_shape), type);
    o_ = graph_.Tensor(o_shape, Packed(o_shape), type);

    const GraphTensor scores = graph_.Virtual(scores_shape, CUDNN_DATA_FLOAT);
    graph_.MatrixProduct(q_, k_, scores);
    const GraphTensor scale = graph_.Scalar(c.scale);
    const GraphTensor scaled = graph_.Virtual(scores_shape, CUDNN_DATA_FLOAT);
    graph_.Pointwise(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT, scores, &scale, nullptr, scaled);
    const GraphTensor visible = Mask(scaled, scores_shape);

    const GraphTensor maximum = graph_.Virtual(rows_shape, CUDNN_DATA_FLOAT);
    graph_.Reduce(CUDNN_REDUCE_TENSOR_MAX, visible, maximum);
    const GraphTensor shifted = graph_.Virtual(scores_shape, CUDNN_DATA_FLOAT);
    graph_.Pointwise(CUDNN_POINTWISE_SUB, CUDNN_DATA_FLOAT, visible, &maximum, nullptr, shifted);
    const GraphTensor exponential = graph_.Virtual(scores_shape, CUDNN_DATA_FLOAT);
    graph_.Pointwise(CUDNN_POINTWISE_EXP, CUDNN_DATA_FLOAT, shifted, nullptr, nullptr, exponential);
    const GraphTensor sum = graph_.Virtual(rows_shape, CUDNN_DATA_FLOAT);
    graph_.Reduce(CUDNN_REDUCE_TENSOR_ADD, exponential, sum);
    // Nothing reads the rows' log-sums, but cuDNN knows attention by them: without, it finds no engine, or a wrong one.
    const GraphTensor logarithm = graph_.Virtual(rows_shape, CUDNN_DATA_FLOAT);
    graph_.Pointwise(CUDNN_POINTWISE_LOG, CUDNN_DATA_FLOAT, sum, nullptr, nullptr, logarithm);
    const GraphTensor log_sum = graph_.Virtual(rows_shape, CUDNN_DATA_FLOAT);
    graph_.Pointwise(CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, maximum, &logarithm, nullptr, log_sum);
    const GraphTensor probability = graph_.Virtual(scores_shape, type);
    graph_.Pointwise(CUDNN_POINTWISE_DIV, CUDNN_DATA_FLOAT, exponential, &sum, nullptr, probability);
    graph_.MatrixProduct(probability, v_, o_);
    return graph_.Build(runner_->handle(), CudnnRunner::kMaxWorkspaceBytes);
  }

  size_t workspace_bytes() const { return graph_.workspace_bytes(); }

  absl::Status Enqueue(const std::map<std::string, CUdeviceptr>& addresses, CUstream stream) override {
    WARPSMITH_RETURN_IF_ERROR(runner_->UseStream(stream));
    auto at = [&](const char* name) { return reinterpret_cast<void*>(addresses.at(name)); };
    return Annotate(
        graph_.Execute(runner_->handle(), {{q_.id, at("q")}, {k_.id, at("k")}, {v_.id, at("v")}, {o_.id, at("o")}},
                       runner_->workspace()),
        "attention_forward");
  }

  std::string Describe() const override {
    return fmt::format("attention_forward {} {}x{}x{}x{} by cuDNN {}", Name(call_.type), call_.batch, call_.heads_q,
                       call_.length_q, call_.width_qk, CudnnVersionText(runner_->api().version));
  }

 private:
  // Scores that row may not see become minus infinity: those of columns past the row, or past the row moved so that the
  // last row sees the last column.
  GraphTensor Mask(const GraphTensor& scores, const Shape& shape) {
    if (call_.mask == CausalMask::kNone) return scores;
    GraphTensor row = graph_.Virtual(shape, CUDNN_DATA_INT32);
    graph_.Pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, scores, nullptr, nullptr, row, 2);
    const GraphTensor column = graph_.Virtual(shape, CUDNN_DATA_INT32);
    graph_.Pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, scores, nullptr, nullptr, column, 3);
    if (call_.mask == CausalMask::kBottomRight) {
      row = Shift(row, CUDNN_POINTWISE_ADD, call_.length_kv, shape);
      row = Shift(row, CUDNN_POINTWISE_SUB, call_.length_q, shape);
    }
    const GraphTensor sees = graph_.Virtual(shape, CUDNN_DATA_BOOLEAN);
    graph_.Pointwise(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, row, &column, nullptr, sees);
    // Before 9.10 cuDNN's pattern wants the lowest finite value.
    const GraphTensor hidden = graph_.Scalar(runner_->api().version < 91000 ? std::numeric_limits<float>::lowest()
                                                                            : -std::numeric_limits<float>::infinity());
    const GraphTensor visible = graph_.Virtual(shape, CUDNN_DATA_FLOAT);
    graph_.Pointwise(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, scores, &hidden, &sees, visible);
    return visible;
  }

  GraphTensor Shift(const GraphTensor& row, cudnnPointwiseMode_t mode, int64_t by, const Shape& shape) {
    const GraphTensor amount = graph_.Scalar(static_cast<int32_t>(by));
    const GraphTensor moved = graph_.Virtual(shape, CUDNN_DATA_INT32);
    graph_.Pointwise(mode, CUDNN_DATA_INT32, row, &amount, nullptr, moved, 3);
    return moved;
  }

  CudnnRunner* runner_;
  AttentionCall call_;
  CudnnGraph graph_;
  GraphTensor q_, k_, v_, o_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<PreparedCall>> PrepareAttention(CudnnRunner* runner, const AttentionCall& call,
                                                               const std::map<std::string, CUdeviceptr>& addresses) {
  const int version = runner->api().version;
  // 9.10.0 and 9.10.1 are withdrawn by NVIDIA for attention.
  if (version < 90100 || version == 91000 || version == 91001) {
    return FailedPrecondition(
        fmt::format("attention_forward: needs cuDNN 9.1 or later, but not 9.10.0 and 9.10.1; this "
                    "is {}",
                    CudnnVersionText(version)));
  }
  auto prepared = std::make_shared<PreparedAttention>(runner, call);
  if (absl::Status built = prepared->Build(); !built.ok()) {
    return FailedPrecondition(
        fmt::format("attention_forward: b, h_q, s_q, d_qk, causal_mask: cuDNN {} has no engine for this shape on this "
                    "GPU: {}",
                    CudnnVersionText(version), Message(built)));
  }
  WARPSMITH_RETURN_IF_ERROR(Annotate(runner->Reserve(prepared->workspace_bytes()), "attention_forward"));
  const size_t bytes = static_cast<size_t>(call.o_extent() * ElementBytes(call.type));
  if (auto target = DeviceBuffer::Allocate(runner->driver(), bytes, "a trial target"); target.ok()) {
    std::map<std::string, CUdeviceptr> trial = addresses;
    trial["o"] = target->address();
    auto run = runner->Time([&](CUstream stream) { return prepared->Enqueue(trial, stream); });
    WARPSMITH_RETURN_IF_ERROR(run.status());
  }
  return prepared;
}

}  // namespace warpsmith::library
