#include "cli/search_options.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "cli/text.h"
#include "coordinator/search/settings.h"

namespace warpsmith::cli {
namespace {

// A number of the settings, set only where it is given.
template <typename Number>
void Setting(CLI::App* command, v1::SearchSettings* settings, const char* name, void (v1::SearchSettings::*set)(Number),
             Number low, Number high, const char* description) {
  command
      ->add_option_function<Number>(
          name, [settings, set](Number value) { (settings->*set)(value); }, description)
      ->check(Quiet(CLI::Range(low, high)));
}

// NAME=WEIGHT.
void AddModelWeight(const std::string& text, v1::SearchSettings* settings) {
  const size_t equals = text.rfind('=');
  char* end = nullptr;
  const double weight = equals == std::string::npos ? 0 : std::strtod(text.c_str() + equals + 1, &end);
  if (equals == 0 || end == nullptr || end == text.c_str() + equals + 1 || *end != 0 || !(weight >= 0)) {
    throw CLI::ValidationError("--model-split", Line(text) + " is not NAME=WEIGHT, as in o3=2");
  }
  (*settings->mutable_model_split())[text.substr(0, equals)] = weight;
}

}  // namespace

void AddIntakeOptions(CLI::App* command, v1::IntakeSettings* intake) {
  command->add_flag_callback(
      "--eval-mode", [intake] { intake->set_eval_mode(true); }, "call .eval() on the module (makes dropout inert)");
  command->add_flag_callback(
      "--require-mutations", [intake] { intake->set_require_mutations(true); },
      "changes of buffers are part of the answer");
  command
      ->add_option_function<double>(
          "--tolerance", [intake](double value) { intake->set_tolerance(value); },
          "absolute and relative; default 1e-2")
      ->check(Quiet(CLI::Range(1e-12, 1.0)));
}

void AddSearchOptions(CLI::App* command, SearchOptions* search) {
  using S = v1::SearchSettings;
  S* settings = &search->settings;
  command
      ->add_option_function<std::string>(
          "--preset", [settings](const std::string& name) { settings->set_preset(name); },
          "parents × ideas × implementations: quick 2×2×2, standard 3×3×3 (default), deep 4×4×4")
      ->check(Quiet(CLI::IsMember({"quick", "standard", "deep"})));
  command
      ->add_option_function<std::string>(
          "--strategy", [settings](const std::string& name) { settings->set_strategy(name); },
          "branching (default: rounds of several ideas, the best lead on), sequential (one kernel, revised again and "
          "again), best_of_n (independent attempts) or evolve (islands)")
      ->check(Quiet(CLI::IsMember(search::StrategyNames())));
  Setting<int32_t>(command, settings, "--rounds", &S::set_rounds, 1, 1000, "default 5");
  Setting<int32_t>(command, settings, "--parents", &S::set_parents, 1, 64, "a round; default from the preset");
  Setting<int32_t>(command, settings, "--ideas", &S::set_ideas, 1, 64, "a parent; default from the preset");
  Setting<int32_t>(command, settings, "--implementations", &S::set_implementations, 1, 64,
                   "an idea; default from the preset");
  Setting<int32_t>(command, settings, "--repairs", &S::set_repairs, -1, 10,
                   "of a failed kernel; default 2, -1 for none");
  Setting<int32_t>(command, settings, "--islands", &S::set_islands, 1, 64,
                   "of strategy evolve; default as many as parents, from 2 to 8");
  Setting<int32_t>(command, settings, "--migration-rounds", &S::set_migration_rounds, -1, 1000,
                   "of strategy evolve: the best move on after so many; default 2, -1 for never");
  Setting<double>(command, settings, "--max-usd", &S::set_max_usd, 0, 1e9, "spend on models; 0: no limit");
  Setting<int64_t>(command, settings, "--max-tokens", &S::set_max_tokens, 0, INT64_MAX, "in and out; 0: no limit");
  Setting<double>(command, settings, "--max-gpu-hours", &S::set_max_gpu_hours, 0, 1e9, "0: no limit");
  Setting<int32_t>(command, settings, "--stop-after", &S::set_stop_after_rounds_without_gain, 0, 1000,
                   "rounds without gain; 0: never");
  Setting<double>(command, settings, "--stop-at-roofline", &S::set_stop_at_roofline_share, 0, 1,
                  "share of what the device allows at which a kernel is good enough; default 0.95, 0: never");
  Setting<double>(command, settings, "--round-deadline", &S::set_round_deadline_seconds, 1, 604800,
                  "seconds; default 1800");
  Setting<int64_t>(command, settings, "--seed", &S::set_seed, INT64_MIN, INT64_MAX, "of draws; default 0");
  command->add_option("--accept", search->accepted, "precision classes: fp32 (default), tf32, fp16, bf16")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option_function<std::vector<std::string>>(
          "--models",
          [settings](const std::vector<std::string>& names) {
            for (const std::string& name : names) settings->add_models(name);
          },
          "of the gateway's configuration; default all")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option_function<std::vector<std::string>>(
          "--model-split",
          [settings](const std::vector<std::string>& parts) {
            settings->set_model_choice("fixed_split");
            for (const std::string& part : parts) AddModelWeight(part, settings);
          },
          "fixed shares of the calls, NAME=WEIGHT; default: more calls for the models that bring more (bandit)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option_function<std::string>(
      "--device-class", [settings](const std::string& name) { settings->set_device_class(name); },
      "on which to evaluate; default any");
  command->add_flag_callback(
      "--frozen-weights", [settings] { settings->set_frozen_weights(true); },
      "kernels may prepare weights once, ahead of time");
  command
      ->add_option_function<std::string>(
          "--baselines", [settings](const std::string& name) { settings->set_baselines(name); },
          "of PyTorch on a GPU: all (default), or eager: without torch.compile, which takes a minute or more a problem")
      ->check(Quiet(CLI::IsMember({"all", "eager"})));
  command->add_option("--request-id", search->request_id, "the same id again is the same search");
  AddIntakeOptions(command, settings->mutable_intake());
}

}  // namespace warpsmith::cli
