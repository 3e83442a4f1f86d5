# One interface target carries language level, warnings and sanitizers; every target of ours links it.
add_library(warpsmith_build_flags INTERFACE)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
target_include_directories(warpsmith_build_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(warpsmith_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough -Werror)

option(WARPSMITH_ASAN "address and undefined-behaviour sanitizers" OFF)
option(WARPSMITH_TSAN "thread sanitizer" OFF)
if(WARPSMITH_ASAN)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(WARPSMITH_TSAN)
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# Programs look for shared libraries in ../lib beside their own folder first, so that a bundle which carries them runs
# wherever it lies. The old kind of tag, since the new one does not reach the libraries' own needs.
function(warpsmith_relocatable target)
  set_target_properties(${target} PROPERTIES BUILD_RPATH "$ORIGIN/../lib")
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
endfunction()

# warpsmith_library(NAME target SOURCES a.cc ... HEADERS a.h ... LINK libs ... [ALONE])
# ALONE: its files are never compiled as one, since some programs that link it want only a few of them.
# Third-party code stays out of -Werror's reach by being included as system headers.
function(warpsmith_library)
  cmake_parse_arguments(ARG "ALONE" "NAME" "SOURCES;HEADERS;LINK" ${ARGN})
  add_library(${ARG_NAME} STATIC ${ARG_SOURCES})
  if(ARG_ALONE)
    set_target_properties(${ARG_NAME} PROPERTIES UNITY_BUILD OFF)
  endif()
  target_link_libraries(${ARG_NAME} PUBLIC warpsmith_build_flags ${ARG_LINK})
  warpsmith_test_headers(${ARG_NAME} ${ARG_HEADERS})
endfunction()

function(warpsmith_program)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;LINK" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_link_libraries(${ARG_NAME} PRIVATE warpsmith_build_flags ${ARG_LINK})
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  warpsmith_relocatable(${ARG_NAME})
endfunction()

# warpsmith_test(NAME target SOURCES ... LINK ... [TIMEOUT s] [SLOW]): a Catch2 program registered with CTest.
# SLOW: it has cases tagged [.slow], which CTest runs as NAME_slow in configuration "slow" only.
function(warpsmith_test)
  cmake_parse_arguments(ARG "SLOW" "NAME;TIMEOUT" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_link_libraries(${ARG_NAME} PRIVATE warpsmith_build_flags warpsmith_catch_main ${ARG_LINK})
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  warpsmith_relocatable(${ARG_NAME})
  target_compile_definitions(${ARG_NAME} PRIVATE WARPSMITH_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    WARPSMITH_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} --durations yes)
  set_tests_properties(${ARG_NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  if(ARG_SLOW)
    add_test(NAME ${ARG_NAME}_slow CONFIGURATIONS slow COMMAND ${ARG_NAME} --durations yes [.slow])
    set_tests_properties(${ARG_NAME}_slow PROPERTIES TIMEOUT 3600)
  endif()
endfunction()

add_custom_target(gpu_tests)

# warpsmith_gpu_test(target): a program that needs a GPU, in the build folder's gpu_tests/: built by the target gpu_tests,
# run by tests/gpu/run.sh, none of CTest's.
function(warpsmith_gpu_test target)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/gpu_tests)
  warpsmith_relocatable(${target})
  add_dependencies(gpu_tests ${target})
endfunction()
