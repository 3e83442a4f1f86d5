// A FAKE gateway in virtual time: no models, but what a gateway does to its caller. Replies are kept by idempotency
// key, so a repeated call costs nothing; providers bill as soon as they are asked, within what the call may cost; calls
// take time, and may fail before they cost anything, be cut off after they did, or die with the gateway.
// Threading: one thread; a call lets virtual time pass.
#ifndef WARPSMITH_TESTS_SIMULATION_VIRTUAL_GATEWAY_H_
#define WARPSMITH_TESTS_SIMULATION_VIRTUAL_GATEWAY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/engine/gateway_client.h"
#include "tests/simulation/world.h"

namespace warpsmith::simulation {

class VirtualGateway {
 public:
  explicit VirtualGateway(World& world);

  // The process ends, with every call in it, and another starts after a while. Kept replies may be lost with it.
  void Crash();
  // One coordinator's connection.
  std::unique_ptr<engine::GatewayClient> Connect();

 private:
  class Client;
  // How a call fares.
  struct Flight {
    bool cancelled = false;
    int boot = 0;
    Micros deadline = 0;
  };

  absl::Status Begin(const engine::GatewayCall& call, Flight* flight);
  // Time passes; an error where the call was cancelled, cut off or came to its deadline meanwhile.
  absl::Status Pass(const Flight& flight, double seconds);
  absl::Status CutOff();
  // One of so many parts of one of so many calls.
  v1::ModelCall Bill(const v1::CallContext& context, int calls_of_request, int parts);
  v1::ProposeIdeasReply MakeIdeas(const v1::ProposeIdeasRequest& request);
  v1::Implementation MakeImplementation(const v1::CallContext& context, int index, int calls_of_request,
                                        const std::string& name, bool of_catalog);
  const v1::ModelDescription* Model(const v1::CallContext& context) const;

  World& world_;
  std::vector<v1::ModelDescription> models_;
  int boot_ = 1;
  Micros away_until_ = 0;
  int ideas_ = 0;
  std::map<std::string, v1::ProposeIdeasReply> kept_ideas_;
  std::map<std::pair<std::string, int>, v1::Implementation> kept_implementations_;
};

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_VIRTUAL_GATEWAY_H_
