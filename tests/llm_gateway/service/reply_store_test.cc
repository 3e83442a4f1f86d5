#include "llm_gateway/service/reply_store.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>
#include <vector>

#include "common/file.h"

namespace warpsmith::gateway {
namespace {

namespace fs = std::filesystem;

class Counted {
 public:
  std::function<ReplyStore::Made()> Making(const std::string& bytes, bool keep = true) {
    return [this, bytes, keep] { return ++made, ReplyStore::Made{bytes, keep}; };
  }
  std::atomic<int> made{0};
};

std::unique_ptr<ReplyStore> Open(const fs::path& folder, Clock& clock = RealClock(), int64_t max_bytes = 1 << 20) {
  ReplyStoreOptions options;
  options.folder = folder;
  options.max_bytes = max_bytes;
  return ReplyStore::Open(options, clock).value();
}

std::vector<fs::path> Files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

TEST_CASE("a reply is made once, on disk before it is returned, and outlives the store", "[unit]") {
  auto folder = TemporaryDirectory::Create("replies").value();
  for (const fs::path& where : {fs::path(), folder.path() / "replies"}) {
    Cancellation cancellation;
    Counted counted;
    const std::string bytes("one\0two\n", 8);
    auto store = Open(where);
    auto reply = store->Once("key", cancellation, counted.Making(bytes));
    REQUIRE(reply.ok());
    CHECK_FALSE(reply->stored);
    CHECK(reply->bytes == bytes);
    CHECK(Files(folder.path()).size() == (where.empty() ? 0u : 1u));
    reply = store->Once("key", cancellation, counted.Making("other"));
    CHECK(reply->stored);
    CHECK(reply->bytes == bytes);
    CHECK(store->Find("key") == bytes);
    CHECK(store->Find("another") == std::nullopt);
    CHECK(counted.made == 1);
    CHECK(store->Once("", cancellation, counted.Making("no key"))->bytes == "no key");
    CHECK(store->Find("") == std::nullopt);
    if (where.empty()) continue;
    store = Open(where);
    CHECK(store->Once("key", cancellation, counted.Making("other"))->bytes == bytes);
    CHECK((fs::status(where).permissions() & fs::perms::others_all) == fs::perms::none);
  }
}

TEST_CASE("what failed is made again", "[unit]") {
  auto store = Open("");
  Cancellation cancellation;
  Counted counted;
  CHECK(store->Once("key", cancellation, counted.Making("failed", false))->bytes == "failed");
  CHECK(store->Find("key") == std::nullopt);
  CHECK(store->Once("key", cancellation, counted.Making("fine"))->bytes == "fine");
  CHECK(counted.made == 2);
}

TEST_CASE("a second call waits for the first, takes over where that fails, and can be cancelled", "[unit]") {
  auto store = Open("");
  for (bool first_fails : {false, true}) {
    const std::string key = first_fails ? "a" : "b";
    std::atomic<bool> running{false}, go{false};
    std::atomic<int> made{0};
    std::thread first([&] {
      Cancellation cancellation;
      (void)store->Once(key, cancellation, [&] {
        ++made;
        running = true;
        while (!go) std::this_thread::yield();
        return ReplyStore::Made{"first", !first_fails};
      });
    });
    while (!running) std::this_thread::yield();
    Cancellation given_up;
    given_up.Cancel();
    CHECK(store->Once(key, given_up, [] { return ReplyStore::Made{}; }).status().code() ==
          absl::StatusCode::kCancelled);
    std::vector<std::thread> others;
    std::atomic<int> got_first{0}, got_second{0};
    for (int i = 0; i < 8; ++i) {
      others.emplace_back([&] {
        Cancellation cancellation;
        auto reply = store->Once(key, cancellation, [&] { return ++made, ReplyStore::Made{"second", true}; });
        ++(reply->bytes == "first" ? got_first : got_second);
      });
    }
    go = true;
    first.join();
    for (std::thread& other : others) other.join();
    CHECK(made == (first_fails ? 2 : 1));
    CHECK(got_first == (first_fails ? 0 : 8));
    CHECK(got_second == (first_fails ? 8 : 0));
  }
}

TEST_CASE("torn files are set aside, and what a crash left behind is cleared away", "[unit]") {
  auto folder = TemporaryDirectory::Create("replies").value();
  Cancellation cancellation;
  Counted counted;
  {
    auto store = Open(folder.path());
    for (const char* key : {"cut", "changed", "emptied"}) {
      REQUIRE(store->Once(key, cancellation, counted.Making(std::string("a whole reply of ") + key)).ok());
    }
  }
  const std::vector<fs::path> files = Files(folder.path());
  REQUIRE(files.size() == 3);
  fs::resize_file(files[0], fs::file_size(files[0]) - 1);
  std::fstream(files[1], std::ios::in | std::ios::out).seekp(-3, std::ios::end).put('X');
  fs::resize_file(files[2], 0);
  std::ofstream(files[2].string() + ".tmp123") << "half";
  auto store = Open(folder.path());
  for (const char* key : {"cut", "changed", "emptied"}) CHECK(store->Find(key) == std::nullopt);
  CHECK(Files(folder.path() / "torn").size() == 3);
  CHECK(Files(folder.path()).size() == 3);
  CHECK(store->bytes() == 0);
  CHECK_FALSE(store->Once("cut", cancellation, counted.Making("again"))->stored);
  CHECK(Open(folder.path())->Find("cut") == "again");
}

TEST_CASE("age and size are bounded, the oldest go first", "[unit]") {
  auto folder = TemporaryDirectory::Create("replies").value();
  Cancellation cancellation;
  Counted counted;
  auto store = Open(folder.path(), RealClock(), 10'000);
  for (int i = 0; i < 30; ++i) {
    REQUIRE(store->Once("key " + std::to_string(i), cancellation, counted.Making(std::string(1000, 'x'))).ok());
  }
  CHECK(store->bytes() <= 10'000);
  CHECK(Files(folder.path()).size() <= 10);
  CHECK(store->Find("key 0") == std::nullopt);
  CHECK(store->Find("key 29").has_value());
  CHECK(Open(folder.path(), RealClock(), 3'000)->bytes() <= 3'000);

  FakeClock clock;
  auto young = Open("", clock);
  REQUIRE(young->Once("key", cancellation, counted.Making("text")).ok());
  clock.Advance(std::chrono::hours(24 * 6));
  CHECK(young->Find("key").has_value());
  clock.Advance(std::chrono::hours(24 * 2));
  CHECK(young->Find("key") == std::nullopt);
}

TEST_CASE("a folder that cannot be written to is told at the start", "[unit]") {
  auto folder = TemporaryDirectory::Create("replies").value();
  REQUIRE(WriteFileAtomically(folder.path() / "file", "x").ok());
  ReplyStoreOptions options;
  options.folder = folder.path() / "file" / "replies";
  auto store = ReplyStore::Open(options, RealClock());
  REQUIRE_FALSE(store.ok());
  CHECK_THAT(Message(store.status()), Catch::Contains("--data-dir"));
}

}  // namespace
}  // namespace warpsmith::gateway
