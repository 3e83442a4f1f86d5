#include <catch2/catch.hpp>
#include <set>

#include "common/file.h"
#include "llm_gateway/catalog/recipe_match.h"
#include "llm_gateway/providers/catalog_provider.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

const char kRecipe[] = R"yaml(family: layer_norm
match:
  operators_any: [LayerNorm]
  bind:
    input: {role: input, index: 0}
    weight: {role: parameter, suffix: weight}
    bias: {role: parameter, suffix: bias, optional: true}
  extract:
    eps: {pattern: "eps\\s*=\\s*([0-9.e-]+)", default: "1e-5"}
  variables:
    cols: "weight.numel"
    rows: "input.numel / cols"
  require: ["input.dtype == float32", "cols % 4 == 0"]
ideas:
  - {key: first, title: First, category: memory_access, plan: [one], risk: low, expected_speedup: 1.0,
     template: a.cu, settings: [{BLOCK: 128}, {BLOCK: 256}]}
  - {key: second, title: Second, category: memory_access, template: a.cu, settings: [{BLOCK: 32}, {BLOCK: 64}], after: [first]}
  - {key: third, title: Third, category: compute, template: a.cu, settings: [{BLOCK: 32}, {BLOCK: 512}], require: ["cols % BLOCK == 0"]}
  - {key: hopper, title: Hopper, category: async_latency, template: a.cu, needs: sm_90, settings: [{BLOCK: 1}, {BLOCK: 2}]}
  - {key: wmma, title: Wmma, category: precision, template: a.cu, needs_gpu: true, settings: [{BLOCK: 1}, {BLOCK: 2}]}
  - {key: fourth, title: Fourth, category: memory_access, template: a.cu, settings: [{BLOCK: 3}, {BLOCK: 4}], after: [hopper]}
)yaml";
const char kTemplate[] =
    "@{input} @{weight} @{?bias}@{bias}@{/bias}@{!bias}none@{/bias} @{rows}x@{cols} @{eps} @{BLOCK} @{input.dim0} "
    "@{x.dtype}\n";

class Folder {
 public:
  Folder(const std::string& recipe, const std::string& source) {
    std::filesystem::create_directory(path());
    REQUIRE(WriteFileAtomically(path() / "recipe.yaml", recipe).ok());
    REQUIRE(WriteFileAtomically(path() / "a.cu", source).ok());
  }
  std::filesystem::path path() const { return folder_.path() / "norm"; }

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::Create("recipes").value();
};

CatalogProvider MakeProvider() {
  Folder folder(kRecipe, kTemplate);
  auto recipes = LoadRecipes(folder.path().parent_path());
  INFO(Message(recipes.status()));
  REQUIRE(recipes.ok());
  return CatalogProvider("catalog", *std::move(recipes));
}

std::vector<std::string> Propose(CatalogProvider& provider, v1::ProposeIdeasRequest& request, int count,
                                 std::string* shortfall = nullptr) {
  Cancellation cancellation;
  request.set_count(count);
  v1::ProposeIdeasReply reply = provider.ProposeIdeas(request, cancellation);
  std::vector<std::string> keys;
  for (const v1::Idea& idea : reply.ideas()) {
    keys.push_back(idea.catalog_key());
    *request.add_tried()->mutable_idea() = idea;
  }
  if (shortfall != nullptr) *shortfall = reply.shortfall();
  CHECK(reply.calls_size() == 1);
  return keys;
}

using Keys = std::vector<std::string>;

TEST_CASE("ideas are offered in order, of different categories, and once", "[unit]") {
  CatalogProvider provider = MakeProvider();
  v1::ProposeIdeasRequest request;
  *request.mutable_context() = LayerNormContext();
  std::string shortfall;
  // "second" waits for "first"; "hopper" and "wmma" do not fit the emulated device, so "fourth" waits for nothing.
  CHECK(Propose(provider, request, 2, &shortfall) == Keys{"norm/first", "norm/third"});
  CHECK(shortfall.empty());
  CHECK(Propose(provider, request, 1) == Keys{"norm/second"});
  CHECK(Propose(provider, request, 3, &shortfall) == Keys{"norm/fourth"});
  CHECK(shortfall == "exhausted");
  CHECK(Propose(provider, request, 1, &shortfall).empty());

  v1::ProposeIdeasRequest on_gpu;
  *on_gpu.mutable_context() = LayerNormContext();
  on_gpu.mutable_context()->mutable_device()->set_emulated(false);
  on_gpu.mutable_context()->mutable_device()->set_compute_capability(89);
  CHECK(Propose(provider, on_gpu, 10) == Keys{"norm/first", "norm/third", "norm/wmma", "norm/fourth"});
  v1::ProposeIdeasRequest on_hopper;
  *on_hopper.mutable_context() = LayerNormContext();
  on_hopper.mutable_context()->mutable_device()->set_emulated(false);
  on_hopper.mutable_context()->mutable_device()->set_compute_capability(90);
  CHECK(Propose(provider, on_hopper, 10) == Keys{"norm/first", "norm/third", "norm/hopper", "norm/wmma"});
  CHECK(Propose(provider, on_hopper, 10) == Keys{"norm/second", "norm/fourth"});
}

TEST_CASE("an idea that changes precision is offered where a looser class is accepted", "[unit]") {
  std::string text = kRecipe;
  const std::string first = "{key: first, title: First,";
  text.replace(text.find(first), first.size(), first + " changes_precision: true,");
  Folder folder(text, kTemplate);
  auto recipes = LoadRecipes(folder.path().parent_path());
  INFO(Message(recipes.status()));
  REQUIRE(recipes.ok());
  CatalogProvider provider("catalog", *std::move(recipes));
  v1::ProposeIdeasRequest strict;
  *strict.mutable_context() = LayerNormContext();
  strict.mutable_context()->clear_accepted();
  strict.mutable_context()->add_accepted(v1::PRECISION_CLASS_FP32);
  // "second" waits for "first", which does not come.
  CHECK(Propose(provider, strict, 10) == Keys{"norm/second", "norm/third", "norm/fourth"});
  v1::ProposeIdeasRequest loose = strict;
  loose.clear_tried();
  loose.mutable_context()->add_accepted(v1::PRECISION_CLASS_TF32);
  CHECK(Propose(provider, loose, 10) == Keys{"norm/first", "norm/third", "norm/fourth"});
}

TEST_CASE("a problem that does not fit gets nothing, with the reason", "[unit]") {
  CatalogProvider provider = MakeProvider();
  Cancellation cancellation;
  auto reason = [&](const std::function<void(v1::ProblemSignature&)>& change) {
    v1::ProposeIdeasRequest request;
    *request.mutable_context() = LayerNormContext();
    change(*request.mutable_context()->mutable_problem()->mutable_signature());
    request.set_count(1);
    v1::ProposeIdeasReply reply = provider.ProposeIdeas(request, cancellation);
    if (reply.ideas_size() > 0) return std::string("fits");
    CHECK(reply.shortfall() == "exhausted");
    return reply.calls(0).error();
  };
  CHECK(reason([](auto&) {}) == "fits");
  CHECK_THAT(reason([](auto& s) { s.add_operators("relu"); }), Contains("other operators"));
  CHECK_THAT(reason([](auto& s) {
               s.clear_operators();
               s.set_operator_family("softmax");
             }),
             Contains("other operators"));
  CHECK(reason([](auto& s) { s.clear_operators(); }) == "fits");
  CHECK_THAT(reason([](auto& s) { s.mutable_tensors(0)->set_dtype("float16"); }), Contains("input.dtype == float32"));
  CHECK_THAT(reason([](auto& s) { s.mutable_tensors(0)->set_strides(1, 2); }), Contains("not contiguous"));
  CHECK_THAT(reason([](auto& s) { s.mutable_tensors(1)->set_name("ln.gamma"); }), Contains("no tensor for weight"));
  CHECK_THAT(reason([](auto& s) { s.mutable_tensors(1)->set_shape(0, 0); }), Contains("division by zero"));
}

v1::Implementation Implement(CatalogProvider& provider, const std::string& key, int index,
                             const v1::ProblemContext& context = LayerNormContext()) {
  Cancellation cancellation;
  v1::ImplementIdeaRequest request;
  *request.mutable_context() = context;
  request.mutable_idea()->set_title("t");
  request.mutable_idea()->set_catalog_key(key);
  return provider.Implement(request, index, cancellation);
}

TEST_CASE("implementations take the settings in turn", "[unit]") {
  CatalogProvider provider = MakeProvider();
  v1::Implementation first = Implement(provider, "norm/first", 0);
  CHECK(first.status() == "ok");
  CHECK(first.source() == "x ln.weight ln.bias 8x256 1e-3 128 8 float32\n");
  CHECK(first.call().provider() == "catalog");
  CHECK(Implement(provider, "norm/first", 1).source() == "x ln.weight ln.bias 8x256 1e-3 256 8 float32\n");
  CHECK(Implement(provider, "norm/first", 2).status() == "exhausted");
  CHECK(Implement(provider, "norm/third", 0).source() == "x ln.weight ln.bias 8x256 1e-3 32 8 float32\n");
  CHECK(Implement(provider, "norm/third", 1).status() == "exhausted");  // 256 % 512: that setting does not fit
  CHECK_THAT(Implement(provider, "norm/hopper", 0).message(), Contains("no setting"));
  CHECK_THAT(Implement(provider, "", 0).message(), Contains("only its own ideas"));
  CHECK_THAT(Implement(provider, "norm/gone", 0).message(), Contains("no recipe idea"));

  v1::ProblemContext without_bias = LayerNormContext();
  without_bias.mutable_problem()->mutable_signature()->mutable_tensors(2)->set_name("ln.other");
  without_bias.mutable_problem()->set_source("nn.LayerNorm(256)");
  CHECK(Implement(provider, "norm/first", 0, without_bias).source() == "x ln.weight none 8x256 1e-5 128 8 float32\n");
}

TEST_CASE("repair goes on to the next setting", "[unit]") {
  CatalogProvider provider = MakeProvider();
  Cancellation cancellation;
  v1::RepairRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_idea()->set_catalog_key("norm/first");
  request.mutable_failed()->set_source(Implement(provider, "norm/first", 0).source());
  v1::Implementation repaired = provider.Repair(request, cancellation);
  CHECK(repaired.status() == "ok");
  CHECK(repaired.source() == Implement(provider, "norm/first", 1).source());
  request.mutable_failed()->set_source(repaired.source());
  CHECK(provider.Repair(request, cancellation).status() == "exhausted");
  request.mutable_failed()->set_source("something else");
  CHECK(provider.Repair(request, cancellation).status() == "exhausted");
}

TEST_CASE("a broken recipe is refused with its place", "[unit]") {
  auto replaced = [](const std::string& what, const std::string& with) {
    std::string text = kRecipe;
    size_t at = text.find(what);
    REQUIRE(at != text.npos);
    return text.replace(at, what.size(), with);
  };
  auto problem = [](const std::string& recipe, const std::string& source = kTemplate) {
    Folder folder(recipe, source);
    return Message(LoadRecipe(folder.path()).status());
  };
  CHECK(problem(kRecipe).empty());
  CHECK_THAT(problem(replaced("family: layer_norm\n", "")), Contains("recipe.yaml:") && Contains("family: is missing"));
  CHECK_THAT(problem(replaced("role: input,", "role: inputs,")), Contains("recipe.yaml:5: match.bind.input.role"));
  CHECK_THAT(problem(replaced("([0-9.e-]+)", "([0-9.e-]+")), Contains("match.extract.eps.pattern"));
  CHECK_THAT(problem(replaced("([0-9.e-]+)", "[0-9.e-]+")), Contains("has no group"));
  CHECK_THAT(problem(replaced("input.numel / cols", "input.numel / colums")),
             Contains("recipe.yaml:12: match.variables.rows") && Contains("colums"));
  CHECK_THAT(problem(replaced("cols % 4 == 0", "cols % 4")), Contains("match.require") && Contains("comparison"));
  CHECK_THAT(problem(replaced("cols % 4 == 0", "cols % == 4")), Contains("character"));
  CHECK_THAT(problem(replaced("{BLOCK: 128}, {BLOCK: 256}", "{BLOCK: 128}")),
             Contains("ideas[0].settings") && Contains("at least two"));
  CHECK_THAT(problem(replaced("{BLOCK: 128}, {BLOCK: 256}", "{BLOCK: 128}, {BLOK: 256}")), Contains("same names"));
  CHECK_THAT(problem(replaced("{BLOCK: 128}, {BLOCK: 256}", "{BLOCK: 128}, {BLOCK: 128}")), Contains("twice"));
  CHECK_THAT(problem(replaced("after: [first]", "after: [last]")), Contains("ideas[1].after"));
  CHECK_THAT(problem(replaced("key: second", "key: first")), Contains("taken"));
  CHECK_THAT(problem(replaced("category: compute", "category: computing")), Contains("ideas[2].category"));
  CHECK_THAT(problem(replaced("needs: sm_90", "needs: hopper")), Contains("ideas[3].needs"));
  CHECK_THAT(problem(replaced("template: a.cu", "template: ../a.cu")), Contains("ideas[0].template"));
  CHECK_THAT(problem(replaced("template: a.cu", "template: b.cu")), Contains("b.cu"));
  CHECK_THAT(problem(replaced("title: First", "titel: First")), Contains("title"));
  CHECK_THAT(problem(kRecipe, "\n\n@{WARPS}\n"), Contains("a.cu:3") && Contains("WARPS"));
  CHECK_THAT(problem(kRecipe, "@{?bias}x"), Contains("never ended"));
  CHECK_THAT(problem(kRecipe, "@{/bias}x"), Contains("ends nothing"));
  CHECK_THAT(problem(kRecipe, "@{rows"), Contains("a.cu:1"));
}

TEST_CASE("values are chosen by others and derived from settings and device", "[unit]") {
  std::string text = kRecipe;
  auto replace = [&](const std::string& what, const std::string& with) {
    size_t at = text.find(what);
    REQUIRE(at != text.npos);
    text.replace(at, what.size(), with);
  };
  replace("  variables:\n",
          "  choose:\n    type: {of: input.dtype, values: {float32: float, float16: half}}\n  variables:\n");
  replace("template: a.cu, settings: [{BLOCK: 128}, {BLOCK: 256}]}",
          "template: a.cu, settings: [{BLOCK: 128}, {BLOCK: 48}], derive: {blocks: \"ceil_div(cols, BLOCK)\", bytes: "
          "\"blocks * 65536\"}, require: [\"bytes <= device_shared_bytes\"]}");
  Folder folder(text, "@{rows} @{type}\n");
  auto recipe = LoadRecipe(folder.path());
  INFO(Message(recipe.status()));
  REQUIRE(recipe.ok());
  v1::ProblemContext context = LayerNormContext();
  auto matched = MatchRecipe(*recipe, context.problem());
  REQUIRE(matched.ok());
  CHECK(ToText(matched->at("type")) == "float");
  CHECK(ToText(matched->at("training_mode")) == "0");
  // 256 columns: two blocks of 128 want 128 KiB, six of 48 want 384.
  v1::DeviceDescription device;
  auto fitting = [&](int capability) {
    device.set_compute_capability(capability);
    return FittingSettings(recipe->ideas[0], *matched, device);
  };
  REQUIRE(fitting(90).size() == 1);
  CHECK(ToText(fitting(90)[0].at("blocks")) == "2");
  CHECK(fitting(80).size() == 1);
  CHECK(fitting(89).empty());

  *context.mutable_problem()->mutable_signature()->mutable_tensors(0)->mutable_dtype() = "float64";
  CHECK_THAT(Message(MatchRecipe(*recipe, context.problem()).status()), Contains("no type for input.dtype float64"));
}

TEST_CASE("an idea for sm_90a is for that architecture alone", "[unit]") {
  std::string text = kRecipe;
  text.replace(text.find("needs: sm_90"), 12, "needs: sm_90a");
  Folder folder(text, kTemplate);
  auto recipe = LoadRecipe(folder.path());
  REQUIRE(recipe.ok());
  auto matched = MatchRecipe(*recipe, LayerNormContext().problem());
  REQUIRE(matched.ok());
  v1::DeviceDescription device;
  for (auto [capability, settings] : {std::pair{89, 0u}, {90, 2u}, {100, 0u}}) {
    device.set_compute_capability(capability);
    CHECK(FittingSettings(recipe->ideas[3], *matched, device).size() == settings);
  }
}

TEST_CASE("expressions", "[unit]") {
  const RecipeValues values = {{"a", int64_t{12}}, {"b.dim0", int64_t{5}}, {"t", std::string("float32")}};
  auto number = [&](const std::string& text) { return RecipeExpression::Parse(text).value().Evaluate(values); };
  CHECK(number("1 + 2 * 3 - 4 / 2").value() == 5);
  CHECK(number("(1 + 2) * -3").value() == -9);
  CHECK(number("a / b.dim0 + a % b.dim0").value() == 4);
  CHECK(number("min(a, 3, 7) + max(1, -a)").value() == 4);
  CHECK(number("- - 3").value() == 3);
  CHECK(number("ceil_div(a, 5) + ceil_div(a, 4) + ceil_div(0, 3)").value() == 6);
  CHECK(number("ceil_div(-7, 2)").value() == -3);
  CHECK_FALSE(number("ceil_div(a, 0)").ok());
  CHECK_FALSE(number("a / 0").ok());
  CHECK_FALSE(number("a % (b.dim0 - 5)").ok());
  CHECK_FALSE(number("9223372036854775807 + 1").ok());
  CHECK_FALSE(number("t + 1").ok());
  CHECK_FALSE(number("missing").ok());
  CHECK_FALSE(number("a == 1").ok());
  auto holds = [&](const std::string& text) { return RecipeExpression::Parse(text).value().Holds(values); };
  CHECK(holds("t == float32").value());
  CHECK_FALSE(holds("t == float16").value());
  CHECK(holds("t != none").value());
  CHECK(holds("a >= 12").value());
  CHECK(holds("a * 2 < b.dim0 * 5").value());
  CHECK_FALSE(holds("a == t").value());
  CHECK_FALSE(holds("a < t").ok());
  for (const char* bad : {"", "1 +", "(1", "1 2", "min(1", "a = 1", "a == 1 == 2", "99999999999999999999", "a ! b",
                          "ceil_div(1)", "ceil_div(1, 2, 3)"}) {
    INFO(bad);
    CHECK_FALSE(RecipeExpression::Parse(bad).ok());
  }
  CHECK_FALSE(RecipeExpression::Parse(std::string(1000, '(')).ok());
  CHECK_FALSE(RecipeExpression::Parse(std::string(1900, '-') + "1").ok());
}

TEST_CASE("every recipe that ships is whole", "[unit]") {
  auto recipes = LoadRecipes(WARPSMITH_SOURCE_DIR "/llm_gateway/catalog/recipes");
  INFO(Message(recipes.status()));
  REQUIRE(recipes.ok());
  CHECK(recipes->size() >= 20);
  auto documented = ReadFile(WARPSMITH_SOURCE_DIR "/docs/catalog.md");
  REQUIRE(documented.ok());
  for (const Recipe& recipe : *recipes) {
    INFO(recipe.name);
    std::set<std::string> categories;
    size_t section = documented->find("### " + recipe.name + "\n");
    CHECK(section != documented->npos);
    for (const RecipeIdea& idea : recipe.ideas) {
      INFO(idea.key);
      categories.insert(idea.idea.category());
      CHECK(documented->find("| `" + idea.key + "` ", section) != documented->npos);
    }
    CHECK(recipe.ideas.size() >= 4);
    CHECK(categories.size() >= 3);
  }
}

}  // namespace
}  // namespace warpsmith::gateway
