// The kernel bank through a real coordinator: real PostgreSQL, real gRPC, scripted workers.
#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "tests/coordinator/bank_fixture.h"

namespace warpsmith::testing {
namespace {

using Catch::Contains;

TEST_CASE("a confirmation admits a kernel, with all that is known of it", "[pg][bank]") {
  BankCluster cluster;
  cluster.gateway.write_kernel = [](const v1::ImplementIdeaRequest&, int index) {
    return BankSource("v", fmt::format("y[{}] = 0;", index), fmt::format("ms={}", 0.5 + 0.1 * index));
  };
  WorkerPtr worker = cluster.Gpu("w1", "h2");
  const v1::Search search = cluster.Run(2);
  const v1::ListKernelsReply banked = cluster.Banked();
  REQUIRE(banked.kernels_size() == 2);
  const v1::BankKernel& best = banked.kernels(0);
  CHECK(best.candidate_id() == search.best_candidate_id());
  CHECK(best.state() == "trusted");
  CHECK(best.champion());
  CHECK(!banked.kernels(1).champion());
  CHECK(!best.emulated());
  CHECK(best.ratio_to_reference() == Approx(2));
  CHECK(best.ratio_low() < 2);
  CHECK(best.ratio_high() > 2);
  CHECK(best.harness_rev() == "h2");

  const v1::KernelDetail detail = cluster.Show(best.candidate_id().substr(0, 8)).value();
  CHECK(detail.kernel().id() == best.id());
  CHECK_THAT(detail.source(), Contains("ms=0.5"));
  CHECK(detail.problem().source() == "class Model: softmax\n");
  REQUIRE(detail.provenance_size() == 1);
  const v1::KernelProvenance& provenance = detail.provenance(0);
  CHECK(provenance.search_id() == search.id());
  CHECK(provenance.candidate_id() == best.candidate_id());
  CHECK(provenance.submitted_by() == "alice");
  REQUIRE(provenance.chain_size() == 1);
  CHECK_THAT(provenance.chain(0).title(), Contains("idea 0 of round 1"));
  CHECK(provenance.chain(0).category() == "memory_access");
  CHECK(provenance.model() == "fake-model");
  CHECK(provenance.provider() == "fake");
  CHECK(provenance.harness_rev() == "h2");
  CHECK(provenance.judge_rev() == "judge1");
  CHECK(provenance.device().uuid() == "GPU-w1");
  CHECK(provenance.device().driver() == "590.1");
  CHECK(provenance.baselines_size() == 1);
  CHECK(provenance.confirmation().reference_low() > 0);
  CHECK(provenance.confirmed_at_us() > 0);
  REQUIRE(detail.checks_size() >= 1);
  CHECK(detail.checks(detail.checks_size() - 1).verdict() == "admitted");
  CHECK(absl::IsNotFound(cluster.Show("zzzzzzzz").status()));
  CHECK(absl::IsInvalidArgument(cluster.Show("ab").status()));
  CHECK(cluster.Pending().kernels_size() == 0);
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("what was only measured stays out, says why, and comes in when it is verified", "[pg][bank]") {
  BankCluster cluster;
  WorkerPtr worker = cluster.Gpu("w1", "h2");
  worker->hold_confirmations = true;
  const std::string id = cluster.Begin(1);
  REQUIRE(cluster.Eventually([&] { return !Confirmations(*worker).empty(); }));
  const v1::Search cancelled = cluster.Cancel(id).value();
  worker->hold_confirmations = false;
  CHECK(cluster.Banked().kernels_size() == 0);
  v1::ListPendingReply pending = cluster.Pending();
  REQUIRE(pending.kernels_size() == 1);
  CHECK(pending.kernels(0).kind() == "search");
  CHECK(pending.kernels(0).candidate_id() == cancelled.best_candidate_id());
  CHECK_THAT(pending.kernels(0).reason(), Contains("cancelled before") && Contains("bank verify --pending"));
  // Verifying the bank does not mean what waits at its door, unless it is asked for.
  CHECK(cluster.Verify({}).value().queued() == 0);

  SECTION("its confirmation succeeds") {
    v1::KernelFilter filter;
    filter.set_pending(true);
    const auto verdicts = cluster.Verified(filter);
    REQUIRE(verdicts.size() == 1);
    CHECK(verdicts[0].verdict() == "admitted");
    REQUIRE(cluster.Banked().kernels_size() == 1);
    CHECK(cluster.Banked().kernels(0).candidate_id() == cancelled.best_candidate_id());
    CHECK(cluster.Show(cancelled.best_candidate_id()).value().provenance(0).search_id() == id);
    CHECK(cluster.Pending().kernels_size() == 0);
  }
  SECTION("its confirmation fails") {
    worker->confirmation_fails = true;
    const auto verdicts = cluster.Verified(ById(pending.kernels(0).id()));
    REQUIRE(verdicts.size() == 1);
    CHECK(verdicts[0].verdict() == "failed");
    CHECK(cluster.Banked().kernels_size() == 0);
    CHECK_THAT(cluster.Pending().kernels(0).reason(), Contains("wrong_output") && Contains("output[7]"));
  }
  SECTION("its problem is refused now") {
    worker.reset();
    worker = cluster.Gpu("w2", "h2");
    worker->intake_error = "softmax.py has no class Model; add one";
    const auto verdicts = cluster.Verified(ById(pending.kernels(0).id()));
    REQUIRE(verdicts.size() == 1);
    CHECK(verdicts[0].verdict() == "given_up");
    CHECK_THAT(cluster.Pending().kernels(0).reason(), Contains("no class Model"));
    CHECK(!cluster.Pending().kernels(0).verifying());
  }
  // System searches are no part of an ordinary list.
  v1::ListSearchesRequest list;
  CHECK(cluster.List(list).value().searches_size() == 1);
  list.set_include_system(true);
  CHECK(cluster.List(list).value().searches_size() == 2);
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("a confirmation without an interval, or one that fails, admits nothing", "[pg][bank]") {
  BankCluster cluster;
  WorkerPtr worker = cluster.Gpu("w1", "h2");
  worker->confirmation_ratio = false;
  CHECK(cluster.Run(1).best_ms() > 0);
  REQUIRE(cluster.Pending().kernels_size() == 1);
  CHECK_THAT(cluster.Pending().kernels(0).reason(), Contains("no ratio to the reference with an interval"));
  worker->confirmation_fails = true;
  CHECK(cluster.Run(1, "relu").best_ms() == 0);
  CHECK(cluster.Pending().kernels_size() == 1);  // the second is nobody's best any more
  CHECK(cluster.Banked().kernels_size() == 0);
}

TEST_CASE("confirmations compare with the bank's champion, else with the search's best", "[pg][bank]") {
  BankCluster cluster;
  std::atomic<int> generation{0};
  cluster.gateway.write_kernel = [&](const v1::ImplementIdeaRequest&, int index) {
    const int number = generation * 10 + index;
    return BankSource("v", fmt::format("y[{}] = 0;", number), fmt::format("ms={}", 0.5 + 0.01 * number));
  };
  WorkerPtr worker = cluster.Gpu("w1", "h2");
  cluster.Run(2);
  const std::string champion = cluster.Banked().kernels(0).source_sha256();
  for (const v1::EvaluateTask& task : Confirmations(*worker)) {
    // The best has no rival but what came into the bank meanwhile; the others have the best.
    if (task.candidate_sha256() == champion) {
      CHECK(task.incumbent_sha256() != champion);
    } else {
      CHECK(task.incumbent_sha256() == champion);
      CHECK(task.incumbent_ms() == Approx(0.5));
    }
  }
  const size_t before = Confirmations(*worker).size();
  generation = 1;
  cluster.Run(2);
  const std::vector<v1::EvaluateTask> all = Confirmations(*worker);
  REQUIRE(all.size() > before);
  for (size_t i = before; i < all.size(); ++i) {
    CHECK(all[i].incumbent_sha256() == champion);
    CHECK(all[i].incumbent_ms() == Approx(0.5));
  }
  // Another problem has no champion.
  generation = 2;
  cluster.Run(1, "relu");
  REQUIRE(Confirmations(*worker, "relu").size() == 1);
  CHECK(Confirmations(*worker, "relu")[0].incumbent_sha256().empty());
  CHECK(cluster.Query("SELECT count(*) FROM kernel WHERE champion") == "2");
}

TEST_CASE("one kernel a problem, device class and code: the same again adds where it came from", "[pg][bank]") {
  BankCluster cluster;
  std::atomic<int> searches{0};
  cluster.gateway.write_kernel = [&](const v1::ImplementIdeaRequest&, int) {
    const int number = searches;
    // The second has other names, the third other code that compiles to the same module.
    return number < 2 ? BankSource("v" + std::to_string(number), "", "ms=0.5 cubin=aaaaaaaa")
                      : BankSource("v", "y[1] = 0;", "ms=0.5 cubin=aaaaaaaa");
  };
  WorkerPtr worker = cluster.Gpu("w1", "h2");
  std::vector<std::string> ids;
  for (searches = 0; searches < 3; ++searches) ids.push_back(cluster.Run(1).id());
  REQUIRE(cluster.Banked().kernels_size() == 1);
  const v1::BankKernel kernel = cluster.Banked().kernels(0);
  CHECK(kernel.search_id() == ids[0]);
  CHECK(kernel.found() == 3);
  const v1::KernelDetail detail = cluster.Show(kernel.id()).value();
  REQUIRE(detail.provenance_size() == 3);
  for (int i = 0; i < 3; ++i) CHECK(detail.provenance(i).search_id() == ids[static_cast<size_t>(i)]);
  CHECK(cluster.Query("SELECT string_agg(verdict, ' ' ORDER BY id) FROM kernel_check") ==
        "admitted found_again found_again");
  // Another problem's kernel with the same code is another kernel.
  cluster.Run(1, "relu");
  CHECK(cluster.Banked().kernels_size() == 2);
  CHECK(cluster.Banked("", "relu").kernels_size() == 1);
  CHECK(cluster.Pending().kernels_size() == 0);
}

TEST_CASE("a newer harness makes kernels stale: they are measured again before anything compares", "[pg][bank]") {
  BankCluster cluster;
  std::atomic<int> generation{0};
  cluster.gateway.write_kernel = [&](const v1::ImplementIdeaRequest&, int) {
    return BankSource("v", fmt::format("y[1] = {};", generation.load()), "ms=0.5");
  };
  WorkerPtr worker = cluster.Gpu("w1", "h9");
  cluster.Run(1);
  const std::string champion = cluster.Banked().kernels(0).id();
  worker.reset();
  worker = cluster.Gpu("w2", "h10");

  SECTION("elsewhere: it waits for an operator") {
    cluster.Run(1, "relu");
    REQUIRE(cluster.Banked("", "softmax").kernels_size() == 1);
    CHECK(cluster.Banked("", "softmax").kernels(0).state() == "stale");
    CHECK(!cluster.Banked("", "softmax").kernels(0).champion());
    REQUIRE(cluster.Pending().kernels_size() == 1);
    CHECK(cluster.Pending().kernels(0).kind() == "stale");
    CHECK_THAT(cluster.Pending().kernels(0).reason(), Contains("h9") && Contains("h10"));
    v1::KernelFilter filter;
    filter.set_older_than_harness("h10");
    const auto verdicts = cluster.Verified(filter);
    REQUIRE(verdicts.size() == 1);
    CHECK(verdicts[0].kernel_id() == champion);
    CHECK(verdicts[0].verdict() == "remeasured");
    CHECK(verdicts[0].old_ms() == 0);  // nothing is compared across revisions
    CHECK(verdicts[0].new_ms() == Approx(0.5));
    CHECK(cluster.Verify(filter).value().queued() == 0);
  }
  SECTION("on a problem that is searched: by itself, and only then is it an incumbent") {
    generation = 1;
    worker->hold_confirmations = true;
    const std::string id = cluster.Begin(1);
    REQUIRE(cluster.Eventually([&] { return Confirmations(*worker).size() == 2; }));
    for (const v1::EvaluateTask& task : Confirmations(*worker)) CHECK(task.incumbent_sha256().empty());
    worker->hold_confirmations = false;
    cluster.Finished(id);
    REQUIRE(
        cluster.Eventually([&] { return cluster.Query("SELECT verdict FROM kernel_verification") == "remeasured"; }));
    CHECK(cluster.Query("SELECT submitted_by FROM search WHERE system") == "coordinator");
  }
  CHECK(cluster.Query("SELECT harness_rev, state, champion FROM kernel WHERE id = '" + champion + "'") ==
        "h10|trusted|t");
  // An old worker's confirmation does not make its kernel trusted.
  worker.reset();
  worker = cluster.Gpu("w3", "h9");
  cluster.Run(1, "gelu");
  CHECK(cluster.Query("SELECT state FROM kernel WHERE problem_name = 'gelu'") == "stale");
}

TEST_CASE("verification reports drift, and takes a kernel that fails out until it passes again", "[pg][bank]") {
  BankCluster cluster;
  WorkerPtr worker = cluster.Gpu("w1", "h2");
  cluster.Run(1);
  const std::string id = cluster.Banked().kernels(0).id();
  const double ms = cluster.Banked().kernels(0).median_ms();
  CHECK(cluster.Verified(ById(id))[0].verdict() == "confirmed");
  worker->confirmation_scale = 1.5;
  v1::KernelFilter family;
  family.set_operator_family("softmax");
  const auto drifted = cluster.Verified(family);
  REQUIRE(drifted.size() == 1);
  CHECK(drifted[0].verdict() == "drifted");
  CHECK(drifted[0].old_ms() == Approx(ms));
  CHECK(drifted[0].new_ms() == Approx(1.5 * ms));
  CHECK(cluster.Banked().kernels(0).median_ms() == Approx(1.5 * ms));
  worker->confirmation_fails = true;
  CHECK(cluster.Verified(family)[0].verdict() == "failed");
  CHECK(cluster.Banked().kernels_size() == 0);
  REQUIRE(cluster.Pending().kernels_size() == 1);
  CHECK(cluster.Pending().kernels(0).kind() == "failed");
  worker->confirmation_fails = false;
  CHECK(cluster.Verify(family).value().queued() == 0);  // only where it is named
  CHECK(cluster.Verified(ById(id))[0].verdict() == "confirmed");
  CHECK(cluster.Banked().kernels(0).champion());
  CHECK(cluster.Show(id).value().checks_size() == 5);

  // Twice at once is one.
  worker->hold_confirmations = true;
  CHECK(cluster.Verify(ById(id)).value().queued() == 1);
  const v1::VerifyKernelsReply again = cluster.Verify(ById(id)).value();
  CHECK(again.queued() == 0);
  CHECK(again.already_queued() == 1);
  worker->hold_confirmations = false;
  cluster.Await({again.search_ids().begin(), again.search_ids().end()});
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("the emulated device's kernels are a part of their own", "[pg][bank]") {
  BankCluster cluster;
  const auto on = [&](const std::string& device_class) {
    auto request = SmallSearch(1);
    request.mutable_settings()->set_device_class(device_class);
    return cluster.Finished(cluster.Submit(request).value());
  };
  WorkerPtr emulated = cluster.Worker("w1");
  on("emulated");
  const int emulated_kernels = cluster.Banked().kernels_size();
  CHECK(emulated_kernels > 0);
  CHECK(cluster.Banked().kernels(0).emulated());
  WorkerPtr gpu = cluster.Gpu("w2", "h2");
  on("test GPU");
  const v1::ListKernelsReply of_gpu = cluster.Banked();
  for (const v1::BankKernel& kernel : of_gpu.kernels()) CHECK(!kernel.emulated());
  CHECK(cluster.Banked("emulated").kernels_size() == emulated_kernels);
  // Neither is compared with the other's.
  for (const v1::EvaluateTask& task : Confirmations(*gpu)) {
    if (task.incumbent_sha256().empty()) continue;
    CHECK(cluster.Query("SELECT bool_or(s.emulated) FROM candidate c JOIN search s ON s.id = c.search_id "
                        "WHERE c.source_sha256 = '" +
                        task.incumbent_sha256() + "'") == "f");
  }
  CHECK_THAT(cluster.Export(), !Contains("\"emulated\":true"));
}

TEST_CASE("an archive goes into another cluster's bank once that has verified it", "[pg][bank]") {
  std::string archive;
  v1::KernelDetail original;
  {
    BankCluster cluster;
    WorkerPtr worker = cluster.Gpu("w1", "h2");
    cluster.Run(2);
    cluster.Run(1, "relu");
    archive = cluster.Export();
    original = cluster.Show(cluster.Banked("", "relu").kernels(0).id()).value();
    v1::KernelFilter one;
    one.set_problem("relu");
    const std::string part = cluster.Export(one);
    CHECK(std::count(part.begin(), part.end(), '\n') == 3);
  }
  CHECK(std::count(archive.begin(), archive.end(), '\n') == 3 + 2);

  BankCluster cluster;
  // A line in the middle that was tampered with: nothing at all comes in.
  std::string tampered = archive;
  tampered.replace(tampered.find("warpsmith-plan"), 14, "warpsmith-PLAN");
  CHECK_THAT(Message(cluster.Import(tampered).status()), Contains("line 2") && Contains("kernel.source"));
  CHECK_THAT(Message(cluster.Import(archive.substr(0, archive.size() / 2)).status()), Contains("breaks off"));
  CHECK_THAT(Message(cluster.Import(archive, "two\nlines").status()), Contains("device_class"));
  CHECK(cluster.Query("SELECT count(*) FROM problem") == "0");

  const v1::ImportKernelsReply first = cluster.Import(archive).value();
  CHECK(first.read() == 3);
  CHECK(first.queued() == 3);
  REQUIRE(first.notes_size() == 1);
  CHECK_THAT(first.notes(0), Contains("no worker of class test GPU"));
  CHECK(cluster.Banked().kernels_size() == 0);
  CHECK(cluster.Pending().kernels_size() == 3);
  CHECK(cluster.Pending().kernels(0).verifying());
  const v1::ImportKernelsReply again = cluster.Import(archive).value();
  CHECK(again.queued() == 0);
  CHECK(again.already_queued() == 3);

  WorkerPtr worker = cluster.Gpu("w2", "h2");
  for (const v1::Verification& one : cluster.Await({first.search_ids().begin(), first.search_ids().end()})) {
    CHECK(one.verdict() == "admitted");
  }
  CHECK(cluster.Pending().kernels_size() == 0);
  REQUIRE(cluster.Banked("", "relu").kernels_size() == 1);
  const v1::BankKernel relu = cluster.Banked("", "relu").kernels(0);
  CHECK(relu.source_sha256() == original.kernel().source_sha256());
  CHECK(relu.idea_title() == original.kernel().idea_title());
  CHECK(relu.ratio_to_reference() == Approx(original.kernel().ratio_to_reference()));
  const v1::KernelDetail detail = cluster.Show(relu.id()).value();
  REQUIRE(detail.provenance_size() == 1);
  CHECK(detail.provenance(0).imported_at_us() > 0);
  v1::KernelProvenance told = detail.provenance(0);
  told.clear_imported_at_us();
  CHECK(google::protobuf::util::MessageDifferencer::Equals(told, original.provenance(0)));
  CHECK(detail.checks(0).verdict() == "admitted");

  // Once more: everything is there already.
  const v1::ImportKernelsReply last = cluster.Import(archive).value();
  CHECK(last.already_banked() == 3);
  CHECK(last.queued() == 0);
  CHECK(cluster.Query("SELECT count(*) FROM kernel_provenance") == "3");
  CHECK(cluster.Bookkeeping() == "");

  // A kernel that was imported is a seed like any other.
  const std::string seeded = cluster.Run(1, "gelu").id();
  CHECK(cluster.gateway.proposals().back().context().patterns_size() == 2);
  // One a problem, chosen when the round opened and kept with the search.
  CHECK(cluster.Query("SELECT string_agg(k.problem_name, ' ' ORDER BY k.problem_name) FROM search_seed s "
                      "JOIN kernel k ON k.id = s.kernel_id WHERE s.search_id = '" +
                      seeded + "'") == "relu softmax");
}

}  // namespace
}  // namespace warpsmith::testing
