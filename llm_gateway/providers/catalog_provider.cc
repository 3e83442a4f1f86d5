#include "llm_gateway/providers/catalog_provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "llm_gateway/catalog/recipe_match.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

// A kernel of an idea that changes precision is wrong where only float32's is accepted.
bool Accepted(const RecipeIdea& idea, const v1::ProblemContext& context) {
  return !idea.idea.changes_precision() ||
         std::any_of(context.accepted().begin(), context.accepted().end(),
                     [](int precision) { return precision > v1::PRECISION_CLASS_FP32; });
}

bool Fits(const RecipeIdea& idea, const RecipeValues& matched, const v1::ProblemContext& context) {
  return Accepted(idea, context) && !FittingSettings(idea, matched, context.device()).empty();
}

// Offered once the ideas it builds on were tried; one that does not fit this problem is not waited for.
bool Ready(const Recipe& recipe, const RecipeIdea& idea, const std::set<std::string>& tried,
           const RecipeValues& matched, const v1::ProblemContext& context) {
  return std::all_of(idea.after.begin(), idea.after.end(), [&](const std::string& key) {
    if (tried.count(recipe.name + "/" + key) != 0) return true;
    auto earlier =
        std::find_if(recipe.ideas.begin(), recipe.ideas.end(), [&](const auto& one) { return one.key == key; });
    return earlier == recipe.ideas.end() || !Fits(*earlier, matched, context);
  });
}

v1::Implementation Exhausted(v1::ModelCall call, int index, std::string message) {
  v1::Implementation implementation;
  implementation.set_index(index);
  implementation.set_status("exhausted");
  implementation.set_message(std::move(message));
  *implementation.mutable_call() = std::move(call);
  return implementation;
}

v1::Implementation Expanded(v1::ModelCall call, int index, const RecipeIdea& idea, const RecipeValues& setting) {
  auto source = idea.source.Expand(setting);
  if (!source.ok()) return Exhausted(std::move(call), index, Message(source.status()));
  v1::Implementation implementation;
  implementation.set_index(index);
  implementation.set_status("ok");
  implementation.set_source(ValidText(*source));
  *implementation.mutable_call() = std::move(call);
  return implementation;
}

}  // namespace

v1::ModelDescription CatalogProvider::Describe() const {
  v1::ModelDescription description;
  description.set_name(name_);
  description.set_provider("catalog");
  description.set_enabled(true);
  return description;
}

v1::ModelCall CatalogProvider::Call() const {
  v1::ModelCall call;
  call.set_provider("catalog");
  call.set_model(name_);
  call.set_finish_reason("stop");
  call.set_tries(1);
  return call;
}

v1::ProposeIdeasReply CatalogProvider::ProposeIdeas(const v1::ProposeIdeasRequest& request, const CallScope&) {
  std::set<std::string> tried;
  for (const v1::TriedIdea& one : request.tried()) tried.insert(one.idea().catalog_key());
  std::vector<const RecipeIdea*> available;
  std::string misfits;
  bool any_fits = false;
  for (const Recipe& recipe : recipes_) {
    auto matched = MatchRecipe(recipe, request.context().problem());
    if (!matched.ok()) {
      misfits += (misfits.empty() ? "" : "; ") + Message(matched.status());
      continue;
    }
    any_fits = true;
    for (const RecipeIdea& idea : recipe.ideas) {
      if (tried.count(idea.idea.catalog_key()) != 0 || !Ready(recipe, idea, tried, *matched, request.context()))
        continue;
      if (Fits(idea, *matched, request.context())) available.push_back(&idea);
    }
  }

  v1::ProposeIdeasReply reply;
  std::set<std::string> categories;
  std::set<const RecipeIdea*> chosen;
  for (bool any_category : {false, true}) {
    for (const RecipeIdea* idea : available) {
      if (reply.ideas_size() >= request.count()) break;
      if (chosen.count(idea) != 0 || (!any_category && categories.count(idea->idea.category()) != 0)) continue;
      chosen.insert(idea);
      categories.insert(idea->idea.category());
      *reply.add_ideas() = idea->idea;
    }
  }
  *reply.add_calls() = Call();
  if (reply.ideas_size() < request.count()) {
    reply.set_shortfall("exhausted");
    if (!any_fits) reply.mutable_calls(0)->set_error(Bounded("no recipe fits this problem: " + misfits, 2000));
  }
  return reply;
}

CatalogProvider::Found CatalogProvider::Find(const v1::Idea& idea, const v1::ProblemContext& context) const {
  Found found;
  if (idea.catalog_key().empty()) {
    found.problem = fmt::format(
        "the catalog implements only its own ideas; \"{}\" is from {}: name a model in gateway.yaml "
        "to have it implemented",
        OneLine(idea.title(), 200), idea.origin().empty() ? "elsewhere" : OneLine(idea.origin(), 100));
    return found;
  }
  for (const Recipe& recipe : recipes_) {
    for (const RecipeIdea& one : recipe.ideas) {
      if (one.idea.catalog_key() != idea.catalog_key()) continue;
      auto matched = MatchRecipe(recipe, context.problem());
      if (!matched.ok()) {
        found.problem = "the recipe does not fit this problem: " + Message(matched.status());
        return found;
      }
      found.idea = &one;
      found.settings = FittingSettings(one, *matched, context.device());
      if (found.settings.empty())
        found.problem = fmt::format("no setting of {} fits this problem and device", one.idea.catalog_key());
      return found;
    }
  }
  found.problem = fmt::format("there is no recipe idea {}", OneLine(idea.catalog_key(), 200));
  return found;
}

v1::Implementation CatalogProvider::Implement(const v1::ImplementIdeaRequest& request, int index, const CallScope&) {
  Found found = Find(request.idea(), request.context());
  if (found.settings.empty()) return Exhausted(Call(), index, found.problem);
  if (static_cast<size_t>(index) >= found.settings.size()) {
    return Exhausted(
        Call(), index,
        fmt::format("{} has {} settings for this problem", found.idea->idea.catalog_key(), found.settings.size()));
  }
  return Expanded(Call(), index, *found.idea, found.settings[static_cast<size_t>(index)]);
}

v1::Implementation CatalogProvider::Repair(const v1::RepairRequest& request, const CallScope&) {
  Found found = Find(request.idea(), request.context());
  for (size_t i = 0; i + 1 < found.settings.size(); ++i) {
    auto source = found.idea->source.Expand(found.settings[i]);
    if (source.ok() && *source == request.failed().source())
      return Expanded(Call(), 0, *found.idea, found.settings[i + 1]);
  }
  return Exhausted(Call(), 0,
                   found.problem.empty() ? "the catalog has no further setting for this candidate" : found.problem);
}

}  // namespace warpsmith::gateway
