#include "coordinator/api/report_parts.h"

#include <utility>

namespace warpsmith::api {

void SendInParts(v1::SearchReport report, size_t part_bytes, const std::function<bool(const v1::SearchReport&)>& send) {
  google::protobuf::RepeatedPtrField<v1::IdeaNode> ideas;
  google::protobuf::RepeatedPtrField<v1::Candidate> kernels;
  ideas.Swap(report.mutable_ideas());
  kernels.Swap(report.mutable_kernels());
  v1::SearchReport part = std::move(report);
  size_t bytes = part.ByteSizeLong();
  bool going = true;
  const auto make_room = [&](size_t next) {
    if (bytes > 0 && bytes + next > part_bytes) {
      going = going && send(part);
      part.Clear();
      bytes = 0;
    }
    bytes += next;
  };
  for (v1::IdeaNode& idea : ideas) {
    make_room(idea.ByteSizeLong());
    *part.add_ideas() = std::move(idea);
  }
  for (v1::Candidate& kernel : kernels) {
    make_room(kernel.ByteSizeLong());
    *part.add_kernels() = std::move(kernel);
  }
  if (going) send(part);
}

}  // namespace warpsmith::api
