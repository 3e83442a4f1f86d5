// One stream between a worker and a coordinator: ordered in each direction, with delays; when it breaks, what was under
// way is lost, and each end hears of it in its own time. Threading: one thread.
#ifndef WARPSMITH_TESTS_SIMULATION_LINK_H_
#define WARPSMITH_TESTS_SIMULATION_LINK_H_

#include <memory>
#include <string>

#include "tests/simulation/world.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::simulation {

class VirtualCoordinator;
class VirtualWorker;

class Link : public std::enable_shared_from_this<Link> {
 public:
  static std::shared_ptr<Link> Open(World& world, VirtualWorker& worker,
                                    const std::shared_ptr<VirtualCoordinator>& coordinator);

  void Up(v1::WorkerMessage message);
  void Down(v1::CoordinatorMessage message);
  void Break(const std::string& why);

 private:
  Link(World& world, VirtualWorker& worker, const std::shared_ptr<VirtualCoordinator>& coordinator)
      : world_(world), worker_(worker), coordinator_(coordinator) {}
  Micros Arrival(Micros* last);
  bool Cut();
  void Observe(const v1::CoordinatorMessage& message);

  World& world_;
  VirtualWorker& worker_;
  const std::weak_ptr<VirtualCoordinator> coordinator_;
  uint64_t session_ = 0;
  bool open_ = true;
  Micros last_up_ = 0;
  Micros last_down_ = 0;
};

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_LINK_H_
