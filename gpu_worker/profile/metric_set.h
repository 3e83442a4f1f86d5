// Which hardware metrics a profile collects: by their names at CUPTI, chosen from what the chip has.
// Threading: pure. Units: as the names say; ".sum" of bytes is bytes, of time nanoseconds, ".pct…" per cent.
// Source of the names: CUPTI's own enumeration of base metrics.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_METRIC_SET_H_
#define WARPSMITH_GPU_WORKER_PROFILE_METRIC_SET_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::profile {

using Metrics = google::protobuf::Map<std::string, double>;

namespace metric {
inline constexpr std::string_view kTime = "gpu__time_duration.sum";
inline constexpr std::string_view kDramShare = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view kDramRead = "dram__bytes_read.sum";
inline constexpr std::string_view kDramWrite = "dram__bytes_write.sum";
inline constexpr std::string_view kDramRate = "dram__bytes.sum.per_second";
inline constexpr std::string_view kDramPeak = "dram__bytes.sum.peak_sustained_elapsed.per_second";
inline constexpr std::string_view kL2Share = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view kL2Rate = "lts__t_bytes.sum.per_second";
inline constexpr std::string_view kL2Hits = "lts__t_sector_hit_rate.pct";
inline constexpr std::string_view kL1Share = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view kL1Hits = "l1tex__t_sector_hit_rate.pct";
inline constexpr std::string_view kSmShare = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view kSmActive = "sm__cycles_active.avg";
inline constexpr std::string_view kSmClock = "sm__cycles_elapsed.avg.per_second";
inline constexpr std::string_view kActiveWarps = "sm__warps_active.avg.pct_of_peak_sustained_active";
inline constexpr std::string_view kIssueActive = "smsp__issue_active.avg.pct_of_peak_sustained_active";
inline constexpr std::string_view kFmaInstructions = "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view kFmaPipe = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view kTensorInstructions = "sm__inst_executed_pipe_tensor.sum";
inline constexpr std::string_view kTensorPipe = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
// With the warpgroup instructions, which the name above leaves out on some chips.
inline constexpr std::string_view kTensorPipeAll =
    "sm__pipe_tensor_type_hmma_hgmma_qgmma_imma_igmma_bmma_bgmma_cycles_active.avg.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view kSharedShare =
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view kSharedWavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
inline constexpr std::string_view kLoadConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
inline constexpr std::string_view kStoreConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum";
inline constexpr std::string_view kLoadSectors = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
inline constexpr std::string_view kStoreSectors =
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio";
inline constexpr std::string_view kLocalLoads = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum";
inline constexpr std::string_view kLocalStores = "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum";
// Operations that threads execute: add, multiply, and fused multiply-add, which counts as two.
inline constexpr std::string_view kThreadOperations = "smsp__sass_thread_inst_executed_op_";
inline constexpr std::string_view kFp32Peak =
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained_elapsed.per_second";
// Operations on tensor cores, by their operands.
inline constexpr std::string_view kTensorOperations = "sm__ops_path_tensor_src_";
inline constexpr std::string_view kStalled = "smsp__average_warps_issue_stalled_";
}  // namespace metric

// Everything wanted of any chip, what matters most first.
const std::vector<std::string>& WantedMetrics();

// Those wanted whose base metric ("dram__bytes_read") is among the chip's.
std::vector<std::string> ChooseMetrics(const std::set<std::string>& base_metrics);

// 0 where there is none.
double Value(const Metrics& metrics, std::string_view name);
bool Has(const Metrics& metrics, std::string_view name);

// "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio" -> "long_scoreboard"; empty: not a stall.
std::string StallReason(std::string_view metric_name);
// What warps wait for, in a few words: "data from global or local memory".
std::string StallMeaning(std::string_view reason);

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_METRIC_SET_H_
