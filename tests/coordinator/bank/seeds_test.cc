// Which kernels of other problems are near.
#include "coordinator/bank/seeds.h"

#include <catch2/catch.hpp>

namespace warpsmith::bank {
namespace {

void Add(v1::ProblemSignature* signature, v1::TensorRole role, const std::string& dtype,
         const std::vector<int64_t>& shape) {
  v1::TensorSpec* tensor = signature->add_tensors();
  tensor->set_role(role);
  tensor->set_dtype(dtype);
  for (int64_t size : shape) tensor->add_shape(size);
}

// A row-wise problem: one input, one output of the same shape.
v1::ProblemSignature Rows(const std::vector<int64_t>& shape, const std::string& dtype = "float32") {
  v1::ProblemSignature signature;
  Add(&signature, v1::TENSOR_ROLE_INPUT, dtype, shape);
  Add(&signature, v1::TENSOR_ROLE_OUTPUT, dtype, shape);
  return signature;
}

Neighbour Kernel(const std::string& id, const std::string& problem, const v1::ProblemSignature& signature,
                 double log_ratio, bool trusted = true) {
  return {id, problem, signature, log_ratio, trusted};
}

std::vector<std::string> Ids(const std::vector<Neighbour>& neighbours) {
  std::vector<std::string> ids;
  for (const Neighbour& neighbour : neighbours) ids.push_back(neighbour.kernel_id);
  return ids;
}

using Names = std::vector<std::string>;

TEST_CASE("distance is 0 for the same shapes, symmetric, and grows with what differs", "[unit]") {
  const v1::ProblemSignature base = Rows({128, 4096});
  CHECK(Distance(base, base) == 0);
  CHECK(Distance(v1::ProblemSignature(), v1::ProblemSignature()) == 0);
  const std::vector<v1::ProblemSignature> others = {
      Rows({128, 8192}),    Rows({128, 65536}), Rows({128, 4096}, "float16"),
      Rows({4, 128, 4096}), Rows({}),           v1::ProblemSignature()};
  for (const v1::ProblemSignature& other : others) {
    CHECK(Distance(base, other) > 0);
    CHECK(Distance(base, other) == Approx(Distance(other, base)));
  }
  CHECK(Distance(base, Rows({128, 8192})) < Distance(base, Rows({128, 65536})));
  // The same number of elements in another shape is nearer than another number of them.
  CHECK(Distance(base, Rows({256, 2048})) < Distance(base, Rows({4096, 4096})));
  CHECK(Distance(base, Rows({128, 4096}, "bfloat16")) < Distance(base, v1::ProblemSignature()));
}

TEST_CASE("tensors are compared within their role", "[unit]") {
  v1::ProblemSignature plain = Rows({64, 64}), weighted = plain, swapped;
  Add(&weighted, v1::TENSOR_ROLE_PARAMETER, "float32", {64, 64});
  Add(&swapped, v1::TENSOR_ROLE_INPUT, "float32", {64, 64});
  Add(&swapped, v1::TENSOR_ROLE_INPUT, "float32", {64, 64});
  CHECK(Distance(plain, weighted) > 0);
  CHECK(Distance(plain, swapped) > 0);
  v1::ProblemSignature attribute = plain;
  Add(&attribute, v1::TENSOR_ROLE_ATTRIBUTE, "float32", {64, 64});
  CHECK(Distance(weighted, attribute) == 0);  // what a module holds, however it holds it
}

TEST_CASE("hostile shapes keep the distance finite", "[unit]") {
  const v1::ProblemSignature odd = Rows({-5, 0, INT64_MAX});
  CHECK(std::isfinite(Distance(odd, Rows({1}))));
  CHECK(Distance(odd, odd) == 0);
}

TEST_CASE("seeds: no kernel of the problem itself, one a problem, the fastest of the near ones first", "[unit]") {
  const v1::ProblemSignature mine = Rows({128, 4096});
  std::vector<Neighbour> all = {
      Kernel("own", "p", mine, 9),
      Kernel("near-slow", "a", Rows({128, 8192}), 0.1),
      Kernel("near-fast", "b", Rows({64, 4096}), 0.5),
      Kernel("near-fast-twin", "b", Rows({64, 4096}), 0.4),
      Kernel("far-fastest", "c", Rows({1, 16}), 3),
  };
  CHECK(Ids(ChooseSeeds("p", mine, all, 5)) == Names{"far-fastest", "near-fast", "near-slow"});
  // With more problems than three times the limit, what is far does not come in, however fast.
  for (int i = 0; i < 3; ++i) {
    all.push_back(Kernel("like" + std::to_string(i), "l" + std::to_string(i), mine, 0.01 * i));
  }
  CHECK(Ids(ChooseSeeds("p", mine, all, 1)) == Names{"like2"});
  CHECK(ChooseSeeds("p", mine, all, 0).empty());
  CHECK(ChooseSeeds("p", mine, {}, 5).empty());
}

TEST_CASE("seeds: what an older revision confirmed comes last, and order does not depend on the input's", "[unit]") {
  const v1::ProblemSignature mine = Rows({128, 4096});
  std::vector<Neighbour> all = {Kernel("stale", "a", mine, 5, false), Kernel("b1", "b", mine, 0.2),
                                Kernel("c1", "c", mine, 0.2), Kernel("b2", "b", mine, 9, false),
                                Kernel("odd", "d", mine, std::nan(""))};
  const Names expected = {"b1", "c1", "odd", "stale"};
  CHECK(Ids(ChooseSeeds("p", mine, all, 5)) == expected);
  std::reverse(all.begin(), all.end());
  CHECK(Ids(ChooseSeeds("p", mine, all, 5)) == expected);
}

}  // namespace
}  // namespace warpsmith::bank
