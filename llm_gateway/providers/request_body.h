// The body of a request: what is small as a JSON value, and the prompt's texts written straight into it, so that a
// prompt of a hundred kilobytes is copied once and brought into JSON's form as seldom as its parts change.
// Threading: one thread. Errors: none.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_REQUEST_BODY_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_REQUEST_BODY_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

class RequestBody {
 public:
  // `fields`: an object with all members but those that are written; one of the same name is left out.
  RequestBody(Json fields, std::initializer_list<const char*> written, size_t text_bytes);

  // `,"key":`; a value follows.
  void Key(const char* key);
  void Raw(std::string_view json) { text_ += json; }
  // A string: texts joined by blank lines.
  void String(const std::vector<const PromptText*>& texts);
  void String(const PromptText& text) { String(std::vector<const PromptText*>{&text}); }
  // A string of something short.
  void Word(std::string_view word);
  std::string Finish();

 private:
  std::string text_;
};

// The bytes of all texts.
size_t TextBytes(const PromptRequest& request);
// The texts of one role, empty ones left out.
std::vector<const PromptText*> TextsOf(const PromptRequest& request, std::string_view role);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_REQUEST_BODY_H_
