#include "coordinator/search/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/hash.h"
#include "common/json.h"

namespace warpsmith::search {
namespace {

// Texts that models wrote may be anything; a hash must not fail on them.
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <typename View, typename ToArray>
Json SortedTexts(const std::vector<View>& views, ToArray to_array) {
  std::vector<std::string> texts;
  texts.reserve(views.size());
  for (const View& view : views) texts.push_back(Dump(to_array(view)));
  std::sort(texts.begin(), texts.end());
  return texts;
}

struct ToJson {
  Json operator()(const Propose& a) const {
    Json json = {{"action", "propose"}, {"parent_id", a.parent_id}, {"count", a.count}, {"round", a.round}};
    if (a.island != 0) json["island"] = a.island;
    return json;
  }
  Json operator()(const Implement& a) const {
    return {{"action", "implement"},
            {"idea_id", a.idea_id},
            {"count", a.count},
            {"indexes", a.indexes},
            {"round", a.round}};
  }
  Json operator()(const Repair& a) const {
    return {{"action", "repair"}, {"candidate_id", a.candidate_id}, {"attempt", a.attempt}};
  }
  Json operator()(const Evaluate& a) const {
    return {{"action", "evaluate"}, {"candidate_id", a.candidate_id}, {"stage", a.stage}};
  }
  Json operator()(const CloseRound& a) const { return {{"action", "close_round"}, {"round", a.round}}; }
  Json operator()(const Finish& a) const { return {{"action", "finish"}, {"reason", a.reason}}; }
};

// Reads the fields of one action and remembers the first that is wrong.
class FieldReader {
 public:
  FieldReader(const Json& json, size_t place) : json_(json), place_(place) {}

  std::string Text(const char* field) {
    auto it = json_.find(field);
    if (it != json_.end() && it->is_string()) return it->get<std::string>();
    Fail(field, "a string");
    return "";
  }
  int Integer(const char* field) {
    auto it = json_.find(field);
    if (it != json_.end() && IsInt(*it)) return it->get<int>();
    Fail(field, "an integer");
    return 0;
  }
  // 0 where it is not there.
  int OptionalInteger(const char* field) { return json_.contains(field) ? Integer(field) : 0; }
  std::vector<int> Integers(const char* field) {
    auto it = json_.find(field);
    if (it != json_.end() && it->is_array() && std::all_of(it->begin(), it->end(), IsInt)) {
      return it->get<std::vector<int>>();
    }
    Fail(field, "a list of integers");
    return {};
  }
  void Fail(const char* field, const char* expected) {
    if (status_.ok()) status_ = InvalidArgument(fmt::format("action {}: field {} must be {}", place_, field, expected));
  }
  const absl::Status& status() const { return status_; }

 private:
  static bool IsInt(const Json& value) {
    if (!value.is_number_integer()) return false;
    const auto number = value.get<int64_t>();
    return number >= std::numeric_limits<int>::min() && number <= std::numeric_limits<int>::max();
  }

  const Json& json_;
  size_t place_;
  absl::Status status_;
};

}  // namespace

std::string SnapshotHash(const Snapshot& s) {
  const SearchValues& v = s.values;
  Json json;
  json["search"] = s.search_id;
  json["values"] = {v.strategy,
                    v.rounds,
                    v.parents,
                    v.ideas,
                    v.implementations,
                    v.repairs,
                    v.max_usd,
                    v.max_tokens,
                    v.max_gpu_hours,
                    v.stop_after_rounds_without_gain,
                    v.round_deadline_seconds,
                    v.round_close_share,
                    v.confirm,
                    v.islands,
                    v.migration_rounds,
                    v.stop_at_roofline_share};
  json["round"] = {s.round, s.round_started_us};
  json["usage"] = {s.usage.usd, s.usage.tokens, s.usage.gpu_seconds, s.usage.model_calls, s.usage.calls_refused};
  json["candidates"] = SortedTexts(s.candidates, [](const CandidateView& c) -> Json {
    return {c.id,
            c.idea_id,
            c.parent_id,
            c.repair_of,
            c.round,
            c.index,
            c.repair_attempt,
            static_cast<int>(c.state),
            static_cast<int>(c.outcome),
            c.median_ms,
            c.spread,
            c.log_ratio,
            c.reason,
            c.twin_of,
            c.roofline_share};
  });
  json["ideas"] = SortedTexts(s.ideas, [](const IdeaView& i) -> Json {
    return {i.id,        i.parent_id, i.category,          i.title, i.origin, i.round,
            i.requested, i.delivered, i.operator_injected, i.island};
  });
  json["tasks"] = SortedTexts(s.tasks, [](const TaskView& t) -> Json {
    return {static_cast<int>(t.kind), t.subject_id, t.parent_id, t.round, t.count, static_cast<int>(t.state)};
  });
  json["exhausted"] = SortedTexts(s.exhausted_parents, [](const std::string& id) -> Json { return id; });
  json["bank_seeds"] = Json::array();
  for (const BankSeed& seed : s.bank_seeds) json["bank_seeds"].push_back(seed.candidate_id);
  return Sha256Hex(Dump(json));
}

std::string ActionsToJson(const std::vector<Action>& actions) {
  Json json = Json::array();
  for (const Action& action : actions) json.push_back(std::visit(ToJson{}, action));
  return Dump(json);
}

absl::StatusOr<std::vector<Action>> ActionsFromJson(std::string_view text) {
  WARPSMITH_ASSIGN_OR_RETURN(const Json json, ParseStrictJson(text, {.max_depth = 4, .max_bytes = 16u << 20}));
  if (!json.is_array()) return InvalidArgument("actions must be a list");
  std::vector<Action> actions;
  for (size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_object()) return InvalidArgument(fmt::format("action {} must be an object", i));
    FieldReader reader(json[i], i);
    const std::string name = reader.Text("action");
    if (name == "propose") {
      actions.push_back(Propose{reader.Text("parent_id"), reader.Integer("count"), reader.Integer("round"),
                                reader.OptionalInteger("island")});
    } else if (name == "implement") {
      actions.push_back(Implement{reader.Text("idea_id"), reader.Integer("count"), reader.Integers("indexes"),
                                  reader.Integer("round")});
    } else if (name == "repair") {
      actions.push_back(Repair{reader.Text("candidate_id"), reader.Integer("attempt")});
    } else if (name == "evaluate") {
      actions.push_back(Evaluate{reader.Text("candidate_id"), reader.Text("stage")});
    } else if (name == "close_round") {
      actions.push_back(CloseRound{reader.Integer("round")});
    } else if (name == "finish") {
      actions.push_back(Finish{reader.Text("reason")});
    } else {
      reader.Fail("action", "propose, implement, repair, evaluate, close_round or finish");
    }
    WARPSMITH_RETURN_IF_ERROR(reader.status());
  }
  return actions;
}

std::string Describe(const Action& action) {
  struct Describer {
    std::string operator()(const Propose& a) const {
      return fmt::format("propose {} ideas from {} (round {}{})", a.count,
                         a.parent_id.empty() ? "the module" : a.parent_id, a.round,
                         a.island == 0 ? "" : fmt::format(", island {}", a.island));
    }
    std::string operator()(const Implement& a) const {
      return fmt::format("implement idea {} {} times (round {})", a.idea_id, a.indexes.size(), a.round);
    }
    std::string operator()(const Repair& a) const {
      return fmt::format("repair candidate {} (attempt {})", a.candidate_id, a.attempt);
    }
    std::string operator()(const Evaluate& a) const {
      return fmt::format("evaluate candidate {} ({})", a.candidate_id, a.stage);
    }
    std::string operator()(const CloseRound& a) const { return fmt::format("close round {}", a.round); }
    std::string operator()(const Finish& a) const { return fmt::format("finish: {}", a.reason); }
  };
  return std::visit(Describer{}, action);
}

}  // namespace warpsmith::search
