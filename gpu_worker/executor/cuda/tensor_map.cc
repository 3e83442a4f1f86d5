#include "gpu_worker/executor/cuda/tensor_map.h"

#include <fmt/format.h>

#include <optional>

namespace warpsmith::executor {
namespace {

struct Element {
  CUtensorMapDataType type;
  int64_t bytes;
};

// Eight-bit types move as bytes.
std::optional<Element> ElementOf(const std::string& dtype) {
  if (dtype == "float32") return Element{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4};
  if (dtype == "float64") return Element{CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8};
  if (dtype == "float16") return Element{CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2};
  if (dtype == "bfloat16") return Element{CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2};
  if (dtype == "int64") return Element{CU_TENSOR_MAP_DATA_TYPE_INT64, 8};
  if (dtype == "uint64") return Element{CU_TENSOR_MAP_DATA_TYPE_UINT64, 8};
  if (dtype == "int32") return Element{CU_TENSOR_MAP_DATA_TYPE_INT32, 4};
  if (dtype == "uint32") return Element{CU_TENSOR_MAP_DATA_TYPE_UINT32, 4};
  if (dtype == "int16" || dtype == "uint16") return Element{CU_TENSOR_MAP_DATA_TYPE_UINT16, 2};
  if (dtype == "int8" || dtype == "uint8" || dtype == "bool" || dtype.starts_with("float8")) {
    return Element{CU_TENSOR_MAP_DATA_TYPE_UINT8, 1};
  }
  return std::nullopt;
}

struct Swizzle {
  CUtensorMapSwizzle mode;
  int64_t bytes;
};

std::optional<Swizzle> SwizzleOf(const std::string& name) {
  if (name.empty() || name == "none") return Swizzle{CU_TENSOR_MAP_SWIZZLE_NONE, 0};
  if (name == "32B") return Swizzle{CU_TENSOR_MAP_SWIZZLE_32B, 32};
  if (name == "64B") return Swizzle{CU_TENSOR_MAP_SWIZZLE_64B, 64};
  if (name == "128B") return Swizzle{CU_TENSOR_MAP_SWIZZLE_128B, 128};
  return std::nullopt;
}

absl::Status ReadDimension(const v1::TensorMap& map, int i, TensorMapFields& fields) {
  const auto at = static_cast<size_t>(i);
  const int64_t side = map.shape(i);
  if (side < 1 || side > int64_t{1} << 32) return InvalidArgument(fmt::format("dimension {} has {} elements", i, side));
  if (map.box(i) < 1 || map.box(i) > 256) return InvalidArgument(fmt::format("box side {} is {}", i, map.box(i)));
  fields.sides[at] = static_cast<cuuint64_t>(side);
  fields.box[at] = map.box(i);
  int64_t stride = fields.element_bytes;
  if (i > 0) {
    stride = map.stride_bytes(i - 1);
    if (stride < 0 || stride % 16 != 0 || stride >= int64_t{1} << 40) {
      return InvalidArgument(fmt::format("dimension {} has a stride of {} bytes", i, stride));
    }
    fields.stride_bytes[at - 1] = static_cast<cuuint64_t>(stride);
  }
  int64_t reach = 0;
  if (__builtin_mul_overflow(side - 1, stride, &reach) ||
      __builtin_add_overflow(fields.extent_bytes, reach, &fields.extent_bytes)) {
    return InvalidArgument("the tensor is too large");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TensorMapFields> ReadTensorMap(const v1::TensorMap& map) {
  const int rank = map.shape_size();
  if (rank < 1 || rank > static_cast<int>(kMaxTensorMapRank) || map.box_size() != rank ||
      map.stride_bytes_size() != rank - 1) {
    return InvalidArgument(
        fmt::format("{} dimensions with {} strides and {} box sides", rank, map.stride_bytes_size(), map.box_size()));
  }
  std::optional<Element> element = ElementOf(map.dtype());
  if (!element) return InvalidArgument(fmt::format("{} cannot be mapped", map.dtype()));
  std::optional<Swizzle> swizzle = SwizzleOf(map.swizzle());
  if (!swizzle) return InvalidArgument(fmt::format("there is no swizzle {}", map.swizzle()));
  TensorMapFields fields;
  fields.type = element->type;
  fields.element_bytes = element->bytes;
  fields.rank = static_cast<uint32_t>(rank);
  fields.swizzle = swizzle->mode;
  fields.extent_bytes = element->bytes;
  for (int i = 0; i < rank; ++i) WARPSMITH_RETURN_IF_ERROR(ReadDimension(map, i, fields));
  const int64_t inner = fields.element_bytes * fields.box[0];
  if (inner % 16 != 0 || (swizzle->bytes > 0 && inner > swizzle->bytes)) {
    return InvalidArgument(fmt::format("the box's innermost side of {} bytes with swizzle {}", inner, map.swizzle()));
  }
  return fields;
}

absl::Status EncodeTensorMap(const cuda::DriverApi& api, const TensorMapFields& fields, CUdeviceptr address,
                             void* descriptor) {
  const std::array<cuuint32_t, kMaxTensorMapRank> every_element = {1, 1, 1, 1, 1};
  CUresult result =
      api.cuTensorMapEncodeTiled(static_cast<CUtensorMap*>(descriptor), fields.type, fields.rank,
                                 reinterpret_cast<void*>(address), fields.sides.data(), fields.stride_bytes.data(),
                                 fields.box.data(), every_element.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, fields.swizzle,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_ERROR_NOT_SUPPORTED) return FailedPrecondition("this device has no TMA (sm_90 or later has)");
  return cuda::CudaStatus(api, result, "cuTensorMapEncodeTiled");
}

}  // namespace warpsmith::executor
