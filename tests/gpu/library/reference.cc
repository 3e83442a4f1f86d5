#include "tests/gpu/library/reference.h"

#include <algorithm>
#include <cmath>

namespace warpsmith::library {
namespace {

double At(const Values& values, int64_t index) { return values[static_cast<size_t>(index)]; }

// Element (n, c, s0, s1, s2) of a tensor of 4 or 5 dimensions, channels first or last.
int64_t Place(const std::vector<int>& shape, bool channels_last, int64_t n, int64_t c, const std::vector<int64_t>& s) {
  const size_t spatial = shape.size() - 2;
  int64_t place = n;
  if (!channels_last) place = place * shape[1] + c;
  for (size_t i = 0; i < spatial; ++i) place = place * shape[i + 2] + s[i];
  return channels_last ? place * shape[1] + c : place;
}

// Counts `position` up within `shape`'s spatial dimensions; false at the end.
bool Advance(const std::vector<int>& shape, std::vector<int64_t>* position) {
  for (size_t i = position->size(); i-- > 0;) {
    if (++(*position)[i] < shape[i + 2]) return true;
    (*position)[i] = 0;
  }
  return false;
}

}  // namespace

Values ReferenceGemm(const GemmCall& call, const Values& a, const Values& b, Values c) {
  for (int64_t batch = 0; batch < call.batch; ++batch) {
    for (int64_t i = 0; i < call.m; ++i) {
      for (int64_t j = 0; j < call.n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < call.k; ++l) {
          const int64_t place_a = batch * call.stride_a + (call.transpose_a ? l + i * call.lda : i + l * call.lda);
          const int64_t place_b = batch * call.stride_b + (call.transpose_b ? j + l * call.ldb : l + j * call.ldb);
          sum += At(a, place_a) * At(b, place_b);
        }
        double& target = c[static_cast<size_t>(batch * call.stride_c + i + j * call.ldc)];
        target = call.alpha * sum + (call.beta == 0 ? 0 : call.beta * target);
      }
    }
  }
  return c;
}

Values ReferenceConvolution(const ConvolutionCall& call, const Values& x, const Values& w, Values y) {
  const size_t spatial = call.x.size() - 2;
  const int64_t channels = call.w[1];
  const int64_t filters_a_group = call.w[0] / call.groups;
  for (int64_t n = 0; n < call.y[0]; ++n) {
    for (int64_t k = 0; k < call.y[1]; ++k) {
      std::vector<int64_t> out(spatial);
      do {
        double sum = 0;
        for (int64_t c = 0; c < channels; ++c) {
          std::vector<int64_t> tap(spatial);
          do {
            std::vector<int64_t> in(spatial);
            bool inside = true;
            for (size_t i = 0; i < spatial; ++i) {
              in[i] = out[i] * call.stride[i] - call.padding[i] + tap[i] * call.dilation[i];
              inside = inside && in[i] >= 0 && in[i] < call.x[i + 2];
            }
            if (!inside) continue;
            const int64_t channel = k / filters_a_group * channels + c;
            sum += At(x, Place(call.x, call.channels_last, n, channel, in)) *
                   At(w, Place(call.w, call.channels_last, k, c, tap));
          } while (Advance(call.w, &tap));
        }
        double& target = y[static_cast<size_t>(Place(call.y, call.channels_last, n, k, out))];
        target = call.alpha * sum + (call.beta == 0 ? 0 : call.beta * target);
      } while (Advance(call.y, &out));
    }
  }
  return y;
}

Values ReferenceAttention(const AttentionCall& call, const Values& q, const Values& k, const Values& v) {
  Values o(static_cast<size_t>(call.o_extent()));
  for (int64_t b = 0; b < call.batch; ++b) {
    for (int64_t h = 0; h < call.heads_q; ++h) {
      const int64_t head_k = b * call.heads_k + h * call.heads_k / call.heads_q;
      const int64_t head_v = b * call.heads_v + h * call.heads_v / call.heads_q;
      for (int64_t i = 0; i < call.length_q; ++i) {
        const int64_t row = (b * call.heads_q + h) * call.length_q + i;
        int64_t seen = call.length_kv;
        if (call.mask == CausalMask::kTopLeft) seen = std::min(seen, i + 1);
        if (call.mask == CausalMask::kBottomRight) seen = std::min(seen, i + 1 + call.length_kv - call.length_q);
        Values scores(static_cast<size_t>(seen));
        for (int64_t j = 0; j < seen; ++j) {
          double sum = 0;
          for (int64_t d = 0; d < call.width_qk; ++d) {
            sum += At(q, row * call.width_qk + d) * At(k, (head_k * call.length_kv + j) * call.width_qk + d);
          }
          scores[static_cast<size_t>(j)] = sum * call.scale;
        }
        const double largest = *std::max_element(scores.begin(), scores.end());
        double total = 0;
        for (double& score : scores) total += score = std::exp(score - largest);
        for (int64_t d = 0; d < call.width_v; ++d) {
          double sum = 0;
          for (int64_t j = 0; j < seen; ++j) {
            sum += At(scores, j) * At(v, (head_v * call.length_kv + j) * call.width_v + d);
          }
          o[static_cast<size_t>(row * call.width_v + d)] = sum / total;
        }
      }
    }
  }
  return o;
}

Difference Compare(const Values& expected, const Values& got) {
  double errors = 0, scale = 0, largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(expected[i] - got[i]);
    errors += error * error;
    scale += expected[i] * expected[i];
    // A NaN must not pass for small.
    largest = error <= largest ? largest : std::isnan(error) ? INFINITY : error;
  }
  const double rms = std::sqrt(scale / static_cast<double>(expected.size()));
  Difference difference;
  difference.rms = std::sqrt(errors / static_cast<double>(expected.size())) / rms;
  difference.largest = largest / rms;
  if (std::isnan(difference.rms)) difference.rms = INFINITY;
  return difference;
}

}  // namespace warpsmith::library
