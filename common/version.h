// Versions that results carry. Threading: constants.
#ifndef WARPSMITH_COMMON_VERSION_H_
#define WARPSMITH_COMMON_VERSION_H_

namespace warpsmith {

inline constexpr char kVersion[] = "0.1.0";
inline constexpr char kHarnessRevision[] = "h2";  // how times are taken; a change makes old times incomparable
inline constexpr char kJudgeRevision[] = "j2";    // how outputs are judged

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_VERSION_H_
