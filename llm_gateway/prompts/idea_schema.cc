#include "llm_gateway/prompts/idea_schema.h"

namespace warpsmith::gateway {
namespace {

Json Text(const char* description) { return {{"type", "string"}, {"description", description}}; }

Json Closed(Json properties) {
  Json required = Json::array();
  for (const auto& property : properties.items()) required.push_back(property.key());
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Json MakeSchema() {
  Json category = Text("what kind of change it is");
  category["enum"] = {"memory_access", "async_latency",         "precision",
                      "compute",       "parallelism_occupancy", "control_flow"};
  Json risk = Text("that it fails or makes the kernel slower");
  risk["enum"] = {"low", "medium", "high"};
  Json idea =
      Closed({{"title", Text("short and specific")},
              {"category", std::move(category)},
              {"bottleneck", Text("what limits the kernel now")},
              {"evidence", Text("which of the figures given show it")},
              {"hypothesis", Text("why the change helps, and how the gain follows")},
              {"plan", {{"type", "array"}, {"items", Text("one step")}}},
              {"expected_speedup", {{"type", "number"}, {"description", "over the kernel shown; 1.3: 30 % more"}}},
              {"risk", std::move(risk)},
              {"changes_precision",
               {{"type", "boolean"}, {"description", "results differ by more than the order of additions"}}}});
  return Closed({{"ideas", {{"type", "array"}, {"items", std::move(idea)}}}});
}

}  // namespace

const Json& IdeaSchema() {
  static const Json& schema = *new Json(MakeSchema());
  return schema;
}

}  // namespace warpsmith::gateway
