// The archive: what is written is read, and nothing else is.
#include "coordinator/bank/archive.h"

#include <google/protobuf/util/message_differencer.h>

#include <catch2/catch.hpp>

#include "common/hash.h"
#include "common/json.h"
#include "coordinator/bank/archive_check.h"

namespace warpsmith::bank {
namespace {

v1::ArchivedKernel Sample(const std::string& name = "softmax") {
  v1::ArchivedKernel kernel;
  kernel.mutable_problem()->set_name(name);
  kernel.mutable_problem()->set_source("class Model: pass  # größer\n");
  kernel.set_problem_sha256(Sha256Hex(kernel.problem().source()));
  kernel.mutable_intake()->set_tolerance(1e-4);
  kernel.mutable_problem()->set_id(ProblemId(kernel.problem().source(), kernel.intake()));
  kernel.set_source("/* warpsmith-plan {} */\n\"quoted\"\t\\ \n");
  kernel.set_source_sha256(Sha256Hex(kernel.source()));
  kernel.set_device_class("NVIDIA H200 sm_90");
  kernel.set_precision_class(v1::PRECISION_CLASS_FP32);
  kernel.add_accepted(v1::PRECISION_CLASS_FP32);
  kernel.set_median_ms(0.25);
  v1::KernelProvenance* provenance = kernel.add_provenance();
  provenance->set_search_id("s1");
  provenance->set_candidate_id("c1");
  provenance->add_chain()->set_title("keep the row in registers");
  (*provenance->mutable_tune())["N"] = 4;
  (*provenance->mutable_tune())["n"] = 8;
  return kernel;
}

std::string Write(const std::vector<v1::ArchivedKernel>& kernels) {
  ArchiveWriter writer;
  std::string text = writer.Header(1);
  for (const v1::ArchivedKernel& kernel : kernels) text += writer.Kernel(kernel);
  return text + writer.End();
}

absl::StatusOr<std::vector<v1::ArchivedKernel>> Read(const std::string& text, size_t piece = 7) {
  ArchiveReader reader;
  for (size_t at = 0; at < text.size(); at += piece) {
    WARPSMITH_RETURN_IF_ERROR(reader.Take(std::string_view(text).substr(at, piece)));
  }
  return reader.Finish();
}

std::string Refusal(const std::string& text) {
  auto read = Read(text, 4096);
  return read.ok() ? "" : Message(read.status());
}

// An archive whose only kernel has something wrong with it, with a checksum that fits.
std::string RefusalOf(const std::function<void(v1::ArchivedKernel*)>& spoil) {
  v1::ArchivedKernel kernel = Sample();
  spoil(&kernel);
  const std::string refusal = Refusal(Write({kernel}));
  if (!refusal.empty()) CHECK_THAT(refusal, Catch::StartsWith("line 2: "));
  return refusal;
}

TEST_CASE("an archive comes back as it was written, in whatever pieces it comes", "[unit]") {
  const std::vector<v1::ArchivedKernel> kernels = {Sample("a"), Sample("b")};
  const std::string text = Write(kernels);
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  for (size_t piece : {size_t{1}, size_t{100}, text.size()}) {
    auto read = Read(text, piece);
    REQUIRE(read.ok());
    REQUIRE(read->size() == 2);
    CHECK(google::protobuf::util::MessageDifferencer::Equals((*read)[0], kernels[0]));
    CHECK((*read)[1].problem().name() == "b");
  }
  CHECK(Read(Write({}))->empty());
}

TEST_CASE("what is not a whole archive is refused", "[unit]") {
  const std::string text = Write({Sample()});
  const size_t second = text.find('\n') + 1, third = text.find('\n', second) + 1;
  CHECK_THAT(Refusal(""), Catch::Contains("breaks off"));
  CHECK_THAT(Refusal(text.substr(0, third)), Catch::Contains("line 2: the archive breaks off"));
  CHECK_THAT(Refusal(text.substr(0, text.size() - 1)), Catch::Contains("breaks off"));
  CHECK_THAT(Refusal(text.substr(second)), Catch::Contains("line 1: an archive begins with its header"));
  CHECK_THAT(Refusal(text + "\n"), Catch::Contains("line 4: there is something behind"));
  CHECK_THAT(Refusal(text.substr(0, second) + text), Catch::Contains("line 2: header: an archive has one"));
  CHECK_THAT(Refusal(text.substr(0, third) + text.substr(second)), Catch::Contains("line 4: end.kernels is 1, but 2"));
  std::string changed = text;
  changed.replace(changed.find("0.25"), 4, "0.26");
  CHECK_THAT(Refusal(changed), Catch::Contains("line 3: end.sha256"));
  std::string version = text;
  version.replace(version.find("\"version\":1"), 11, "\"version\":9");
  CHECK_THAT(Refusal(version), Catch::Contains("line 1: header.version is 9"));
  CHECK_THAT(Refusal("{\"header\":{\"format\":\"tar\",\"version\":1}}\n"), Catch::Contains("line 1: header.format"));
}

TEST_CASE("lines that are no kernels are refused with their number", "[unit]") {
  const std::string header = ArchiveWriter().Header(1);
  const auto second = [&](const std::string& line) { return Refusal(header + line + "\n"); };
  for (const char* line : {"", "[]", "7", "{}", "{\"kernel\":{},\"end\":{}}", "{\"kernel\":7}", "{\"exploit\":{}}",
                           "{\"kernel\":{\"surprise\":1}}", "{\"kernel\":{\"source\":7}}",
                           "{\"kernel\":{\"medianMs\":\"x\"}}", "not json", "{\"kernel\":{\"source\":\"\\ud800\"}}"}) {
    INFO(line);
    CHECK_THAT(second(line), Catch::StartsWith("line 2: "));
  }
  CHECK_THAT(second("{\"kernel\":{\"surprise\":1}}"), Catch::Contains("surprise"));
  CHECK_THAT(second("{\"kernel\":{\"title\":\"a\",\"title\":\"b\"}}"), Catch::Contains("\"title\" stands twice"));
  CHECK_THAT(second("{\"kernel\":{\"device_class\":\"a\",\"deviceClass\":\"b\"}}"), Catch::Contains("stands twice"));
  CHECK_THAT(second("{\"kernel\":{\"title\":\"\xff\xfe\"}}"), Catch::Contains("UTF-8"));
  CHECK_THAT(second("{\"kernel\":" + std::string(40, '[') + std::string(40, ']') + "}"), Catch::Contains("nests"));
}

TEST_CASE("each field of a kernel is checked, and named", "[unit]") {
  using K = v1::ArchivedKernel*;
  CHECK(RefusalOf([](K) {}).empty());
  for (const char* name : {"../etc/passwd", "a/b", "a\\b", ".hidden", "", "two\nlines", "nul\1"}) {
    INFO(name);
    CHECK_THAT(RefusalOf([&](K k) { k->mutable_problem()->set_name(name); }), Catch::Contains("kernel.problem.name"));
  }
  CHECK_THAT(RefusalOf([](K k) { k->mutable_problem()->set_name(std::string(300, 'x')); }),
             Catch::Contains("kernel.problem.name"));
  CHECK_THAT(RefusalOf([](K k) { k->mutable_problem()->set_source("other"); }),
             Catch::Contains("kernel.problem.source does not have the SHA-256"));
  CHECK_THAT(RefusalOf([](K k) { k->set_source("other"); }), Catch::Contains("kernel.source does not have"));
  CHECK_THAT(RefusalOf([](K k) { k->set_source_sha256("../../x"); }), Catch::Contains("kernel.source"));
  CHECK_THAT(RefusalOf([](K k) { k->set_source(""); }), Catch::Contains("kernel.source is empty"));
  CHECK_THAT(RefusalOf([](K k) {
               k->set_source(std::string("a\0b", 3));
               k->set_source_sha256(Sha256Hex(k->source()));
             }),
             Catch::Contains("kernel.source holds a NUL"));
  CHECK_THAT(RefusalOf([](K k) {
               k->set_source(std::string((1u << 20) + 1, 'x'));
               k->set_source_sha256(Sha256Hex(k->source()));
             }),
             Catch::Contains("kernel.source has 1048577 bytes"));
  CHECK_THAT(RefusalOf([](K k) { k->mutable_problem()->set_id(std::string(64, '0')); }),
             Catch::Contains("kernel.problem.id"));
  CHECK_THAT(RefusalOf([](K k) { k->mutable_intake()->set_eval_mode(true); }), Catch::Contains("kernel.problem.id"));
  CHECK_THAT(RefusalOf([](K k) { k->mutable_intake()->set_tolerance(2); }), Catch::Contains("kernel.intake.tolerance"));
  CHECK_THAT(RefusalOf([](K k) { k->set_device_class(""); }), Catch::Contains("kernel.device_class"));
  CHECK_THAT(RefusalOf([](K k) { k->set_title("a\033[2Jb"); }), Catch::Contains("kernel.title"));
  CHECK_THAT(RefusalOf([](K k) { k->set_median_ms(-1); }), Catch::Contains("kernel.median_ms"));
  CHECK_THAT(RefusalOf([](K k) { k->set_ratio_low(1e300); }), Catch::Contains("kernel.ratio_low"));
  CHECK_THAT(RefusalOf([](K k) { k->clear_accepted(); }), Catch::Contains("kernel.accepted"));
  CHECK_THAT(RefusalOf([](K k) { k->add_accepted(v1::PRECISION_CLASS_UNSPECIFIED); }),
             Catch::Contains("kernel.accepted"));
  CHECK_THAT(RefusalOf([](K k) { k->mutable_provenance(0)->set_search_id("../up"); }),
             Catch::Contains("kernel.provenance.search_id"));
  CHECK_THAT(RefusalOf([](K k) { k->mutable_provenance(0)->add_flags("host_code"); }),
             Catch::Contains("kernel.provenance.flags has host_code"));
  CHECK_THAT(RefusalOf([](K k) { k->mutable_provenance(0)->set_effort(std::string(2u << 20, 'x')); }),
             Catch::Contains("kernel.provenance has more than"));
  CHECK_THAT(RefusalOf([](K k) {
               for (int i = 0; i < kMaxProvenance; ++i) *k->add_provenance() = k->provenance(0);
             }),
             Catch::Contains("kernel.provenance has more than"));
}

TEST_CASE("a line without an end is refused before it fills the memory", "[unit]") {
  ArchiveReader reader;
  REQUIRE(reader.Take(ArchiveWriter().Header(1)).ok());
  const std::string piece(1u << 20, 'x');
  absl::Status status;
  int pieces = 0;
  while (status.ok() && pieces < 100) {
    status = reader.Take(piece);
    ++pieces;
  }
  CHECK(absl::IsResourceExhausted(status));
  CHECK(pieces == 17);
  CHECK_THAT(Message(status), Catch::Contains("line 2: it is longer than 16 MiB"));
}

}  // namespace
}  // namespace warpsmith::bank
