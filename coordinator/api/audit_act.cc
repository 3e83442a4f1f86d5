#include "coordinator/api/audit_act.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <vector>

#include "common/hash.h"
#include "coordinator/store/text.h"

namespace warpsmith::api {
namespace {

using google::protobuf::FieldDescriptor;

constexpr size_t kLongestDetail = 600;
constexpr size_t kLongestValue = 120;
constexpr int kDeepest = 2;

thread_local std::weak_ptr<Act> current_act;

std::string ValueText(const google::protobuf::Message& message, const FieldDescriptor* field) {
  const google::protobuf::Reflection* reflection = message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string scratch;
      const std::string& value = reflection->GetStringReference(message, field, &scratch);
      if (field->type() == FieldDescriptor::TYPE_BYTES || value.size() > kLongestValue ||
          field->name().find("source") != std::string::npos) {
        return fmt::format("{}... ({} bytes)", Sha256Hex(value).substr(0, 12), value.size());
      }
      return value;
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection->GetBool(message, field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(reflection->GetInt32(message, field));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(reflection->GetInt64(message, field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return std::to_string(reflection->GetUInt32(message, field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return std::to_string(reflection->GetUInt64(message, field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::format("{}", reflection->GetDouble(message, field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return fmt::format("{}", reflection->GetFloat(message, field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection->GetEnum(message, field)->name();
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "";
  }
  return "";
}

void AddDetail(const google::protobuf::Message& message, const std::string& prefix, int depth, std::string* detail) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (detail->size() > kLongestDetail) return;
    const std::string name = prefix + field->name();
    if (field->is_repeated()) {
      *detail += fmt::format(" {}={} items", name, message.GetReflection()->FieldSize(message, field));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (depth < kDeepest)
        AddDetail(message.GetReflection()->GetMessage(message, field), name + ".", depth + 1, detail);
    } else {
      *detail += fmt::format(" {}={}", name, ValueText(message, field));
    }
  }
}

}  // namespace

std::shared_ptr<Act> CurrentAct() { return current_act.lock(); }
void SetCurrentAct(const std::shared_ptr<Act>& act) { current_act = act; }

void NoteSearch(const std::string& search_id) {
  if (const std::shared_ptr<Act> act = CurrentAct()) act->search_id = search_id;
}

void NoteSubject(const std::string& subject) {
  if (const std::shared_ptr<Act> act = CurrentAct()) act->subject = subject;
}

std::string ActionOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t dot = path.rfind('.', slash);
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

void SetSubmitter(const std::string& name, google::protobuf::Message* request) {
  const FieldDescriptor* field = request->GetDescriptor()->FindFieldByName("submitted_by");
  if (field == nullptr || field->is_repeated() || field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) return;
  request->GetReflection()->SetString(request, field, name);
}

std::string DetailOf(const google::protobuf::Message& request) {
  std::string detail;
  AddDetail(request, "", 1, &detail);
  return store::CleanLine(detail.empty() ? detail : detail.substr(1), kLongestDetail);
}

}  // namespace warpsmith::api
