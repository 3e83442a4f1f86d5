#include "llm_gateway/prompts/prompt_text.h"

#include <catch2/catch.hpp>

#include "common/json.h"
#include "llm_gateway/prompts/prompt_beginnings.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

std::string Quoted(const PromptText& text) {
  std::string out = "\"";
  text.AppendJson(out);
  return out + '"';
}

TEST_CASE("a text stands in JSON as the library would write it", "[unit]") {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all += static_cast<char>(c);
  for (const std::string& text :
       {std::string(), std::string("plain"), std::string("a \"b\" \\ c\n\td\r\f\b"), all,
        std::string("\xC3\xA9 \xF0\x9F\x98\x80"), std::string("bad \xFF, cut \xC3"), std::string("\xED\xA0\x80")}) {
    const std::string wanted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    for (const PromptText& made : {PromptText(text), PromptText::ForMany(text)}) {
      CHECK(Json::parse(Quoted(made)) == Json::parse(wanted));
      CHECK(Quoted(made) == Quoted(made));
      CHECK(made.str() == text);
    }
  }
}

TEST_CASE("copies share a text, and it is measured once", "[unit]") {
  static int asked = 0;
  const auto measure = [](std::string_view text) { return ++asked, static_cast<int64_t>(text.size()); };
  const PromptText text("four");
  const PromptText copy = text;  // NOLINT: what is tested
  CHECK(&copy.str() == &text.str());
  CHECK(text.Measured(measure) == 4);
  CHECK(copy.Measured(measure) == 4);
  CHECK(asked == 1);
  CHECK(copy == PromptText("four"));
  CHECK_FALSE(copy == PromptText());
  CHECK(PromptText().empty());
}

TEST_CASE("beginnings of a search's prompts are put together once, others apart", "[unit]") {
  const PromptVariant variant = PromptVariant::Load(WARPSMITH_SOURCE_DIR "/llm_gateway/prompts", "default").value();
  const PromptVariant terse = PromptVariant::Load(WARPSMITH_SOURCE_DIR "/llm_gateway/prompts", "terse").value();
  PromptBeginnings beginnings;
  v1::ProblemContext context = LayerNormContext();
  const PromptBeginning code = beginnings.Find(variant, PromptKind::kCode, context);
  const PromptBeginning again = beginnings.Find(variant, PromptKind::kCode, context);
  const PromptBeginning repair = beginnings.Find(variant, PromptKind::kRepair, context);
  CHECK(&code.problem.str() == &again.problem.str());
  CHECK(&code.problem.str() == &repair.problem.str());
  CHECK(code.digest.Hex() == again.digest.Hex());
  CHECK(code.digest.Hex() == Sha256Hex(code.system.str() + '\0' + code.problem.str()));
  CHECK(code.digest.Hex() != repair.digest.Hex());
  CHECK_FALSE(beginnings.Find(terse, PromptKind::kCode, context).system == code.system);

  // Whatever the second message tells of makes it another one.
  context.add_operator_notes("a note");
  CHECK(&beginnings.Find(variant, PromptKind::kCode, context).problem.str() == &code.problem.str());
  context.set_frozen_weights(!context.frozen_weights());
  CHECK_FALSE(beginnings.Find(variant, PromptKind::kCode, context).problem == code.problem);
  context.set_frozen_weights(!context.frozen_weights());
  context.add_accepted(v1::PRECISION_CLASS_BF16);
  CHECK_FALSE(beginnings.Find(variant, PromptKind::kCode, context).problem == code.problem);
  context.clear_accepted();
  context.mutable_device()->set_emulated(false);
  CHECK_FALSE(beginnings.Find(variant, PromptKind::kCode, context).problem == code.problem);
}

TEST_CASE("what is kept of beginnings is bounded", "[unit]") {
  const PromptVariant variant = PromptVariant::Load(WARPSMITH_SOURCE_DIR "/llm_gateway/prompts", "default").value();
  PromptBeginnings beginnings;
  v1::ProblemContext context = LayerNormContext();
  const std::string large(500'000, 'x');
  for (int i = 0; i < 40; ++i) {
    context.mutable_problem()->set_source("# " + std::to_string(i) + "\n" + large);
    const PromptBeginning made = beginnings.Find(variant, PromptKind::kIdeas, context);
    CHECK(made.problem.str().find("# " + std::to_string(i) + "\n") != std::string::npos);
    CHECK(beginnings.kept_bytes() <= (16u << 20));
  }
}

}  // namespace
}  // namespace warpsmith::gateway
