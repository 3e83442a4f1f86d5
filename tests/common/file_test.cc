#include "common/file.h"

#include <catch2/catch.hpp>

#include "common/hash.h"

namespace warpsmith {
namespace {

TEST_CASE("files are written whole and read back", "[unit]") {
  auto folder = TemporaryDirectory::Create("file-test");
  REQUIRE(folder.ok());
  auto path = folder->path() / "a";
  std::string data("x\0y", 3);
  REQUIRE(WriteFileAtomically(path, data).ok());
  CHECK(*ReadFile(path) == data);
  CHECK(ReadFile(path, 2).status().code() == absl::StatusCode::kResourceExhausted);
  auto missing = ReadFile(folder->path() / "b");
  CHECK(missing.status().code() == absl::StatusCode::kNotFound);
  CHECK_THAT(Message(missing.status()), Catch::Contains("/b"));
  CHECK_FALSE(ReadFile(folder->path()).ok());
  CHECK(std::distance(std::filesystem::directory_iterator(folder->path()), {}) == 1);
}

TEST_CASE("a temporary folder goes with its owner", "[unit]") {
  std::filesystem::path path;
  {
    auto folder = TemporaryDirectory::Create("file-test");
    path = folder->path();
    REQUIRE(WriteFileAtomically(path / "a", "1").ok());
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("SHA-256 of the standard's example", "[unit]") {
  CHECK(Sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace warpsmith
