// `warpsmith simulate` on a file, from arguments to the page.
#include <catch2/catch.hpp>
#include <fstream>

#include "cli/exit_code.h"
#include "cli/message_json.h"
#include "cli/simulate_command.h"
#include "common/file.h"
#include "common/json.h"
#include "tests/cli/printed.h"
#include "tests/coordinator/replay/recordings.h"

namespace warpsmith::cli {
namespace {

using Catch::Matchers::Contains;

class SimulateFixture {
 public:
  SimulateFixture() : folder_(TemporaryDirectory::Create("simulate").value()) {
    file = Write("recording.json", MessageToJson(replay::Climbing()));
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path) << text;
    return path;
  }
  Printed Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "simulate");
    return RunIt(arguments);
  }
  std::string folder() const { return folder_.path().string(); }

  std::string file;

 private:
  TemporaryDirectory folder_;
};

TEST_CASE("a recording is replayed under several strategies and settings", "[unit]") {
  SimulateFixture fixture;
  const std::vector<std::string> arguments = {"--recording", fixture.file,   "--compare", "branching,sequential",
                                              "--variant",   "one:rounds=1", "--repeats", "5"};
  const Printed page = fixture.Run(arguments);
  INFO(page.err);
  REQUIRE(page.code == kExitOk);
  for (const char* part : {"branching", "sequential", "one", "tokens", "95 %", "One recorded search"}) {
    CHECK_THAT(page.out, Contains(part));
  }
  std::vector<std::string> with_json = arguments;
  with_json.emplace_back("--json");
  const Json json = Json::parse(fixture.Run(with_json).out);
  CHECK(json["policies"].size() == 3);
  CHECK(json["policies"][2]["tokens"]["mean"] == 1000 + 8 * 2000);
  CHECK(json["budgets"].size() == 4);
  CHECK(fixture.Run(with_json).out == fixture.Run(with_json).out);
}

TEST_CASE("recordings are written to be replayed elsewhere", "[unit]") {
  SimulateFixture fixture;
  const std::string folder = fixture.folder() + "/kept";
  REQUIRE(fixture.Run({"--recording", fixture.file, "--save", folder, "--repeats", "1"}).code == kExitOk);
  const Printed again = fixture.Run({"--recording", folder + "/recorded.json", "--repeats", "1"});
  CHECK(again.code == kExitOk);
  CHECK_THAT(again.out, Contains("as recorded"));
}

TEST_CASE("what cannot be replayed is told", "[unit]") {
  SimulateFixture fixture;
  const std::string broken = fixture.Write("broken.json", "{\"search_id\": 3");
  struct Case {
    std::vector<std::string> arguments;
    std::string says;
  };
  const Case cases[] = {
      {{}, "--recording"},
      {{"--recording", "/nowhere.json"}, "/nowhere.json"},
      {{"--recording", broken}, "broken.json"},
      {{"--recording", fixture.file, "--variant", "wide"}, "NAME:FIELD=VALUE"},
      {{"--recording", fixture.file, "--variant", "wide:depth=3"}, "depth"},
      {{"--recording", fixture.file, "--variant", "wide:rounds=many"}, "rounds"},
      {{"--recording", fixture.file, "--compare", "guessing"}, "guessing"},
      {{"--recording", fixture.file, "--repeats", "0"}, "--repeats"},
  };
  for (const Case& test : cases) {
    const Printed outcome = fixture.Run(test.arguments);
    INFO(outcome.err);
    CHECK(outcome.code != kExitOk);
    CHECK_THAT(outcome.err, Contains(test.says));
  }
  CHECK(ParseVariant("a:max_usd=2.5,frozen_weights=true,strategy=evolve")->settings.max_usd() == 2.5);
}

}  // namespace
}  // namespace warpsmith::cli
