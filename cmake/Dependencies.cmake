# Everything comes from Debian 12's packages; CUDA's headers are optional.
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(absl REQUIRED)
find_package(gRPC REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Boost REQUIRED COMPONENTS context)
find_package(Catch2 2 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PQXX REQUIRED IMPORTED_TARGET libpqxx)
find_package(civetweb REQUIRED)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc)

# For services that allocate on many threads: glibc's allocator hands pages back to the kernel and faults them in again,
# which costs the coordinator a third of its time on a virtual machine. Sanitizers bring their own.
add_library(warpsmith_allocator INTERFACE)
if(NOT WARPSMITH_ASAN AND NOT WARPSMITH_TSAN)
  target_link_libraries(warpsmith_allocator INTERFACE PkgConfig::JEMALLOC)
endif()

# NVRTC's library is loaded at run time; only its header is needed to build, and ours does without where there is none.
find_path(WARPSMITH_CUDA_INCLUDE nvrtc.h PATHS /usr/local/cuda/include /opt/cuda/include NO_CACHE)
