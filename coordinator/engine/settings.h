// What an operator can set about the engine. Plain data. Units: seconds, US dollars.
#ifndef WARPSMITH_COORDINATOR_ENGINE_SETTINGS_H_
#define WARPSMITH_COORDINATOR_ENGINE_SETTINGS_H_

namespace warpsmith::engine {

struct EngineSettings {
  double tick_seconds = 1;  // round deadlines are looked at this often
  double intake_deadline_seconds = 900;
  double evaluate_deadline_seconds = 900;
  double propose_deadline_seconds = 600;
  double implement_deadline_seconds = 1200;
  double repair_deadline_seconds = 600;
  int model_threads = 8;           // calls to the gateway at once
  double max_usd_per_day = 0;      // for models, over all searches, a UTC day; 0: no limit
  int max_searches_per_owner = 0;  // under way at once, over all of an owner's batches; others wait; 0: no limit
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_SETTINGS_H_
