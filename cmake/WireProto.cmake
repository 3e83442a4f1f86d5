# warpsmith_wire_proto(NAME name [LINK libs ...]): the messages of NAME.proto in this folder, between a process and its
# children, as library warpsmith_NAME_wire. They may import warpsmith/v1 where LINK has warpsmith_proto.
function(warpsmith_wire_proto)
  cmake_parse_arguments(ARG "" "NAME" "LINK" ${ARGN})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(root ${PROJECT_BINARY_DIR}/proto)
  set(out ${root}/${folder}/${ARG_NAME}.pb)
  file(MAKE_DIRECTORY ${root}/${folder})
  add_custom_command(
    OUTPUT ${out}.cc ${out}.h
    COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --proto_path=${PROJECT_SOURCE_DIR}/proto
      --cpp_out=${root} ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_NAME}.proto
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_NAME}.proto VERBATIM)
  add_library(warpsmith_${ARG_NAME}_wire STATIC ${out}.cc)
  target_include_directories(warpsmith_${ARG_NAME}_wire SYSTEM PUBLIC ${root})
  target_link_libraries(warpsmith_${ARG_NAME}_wire PUBLIC protobuf::libprotobuf ${ARG_LINK})
endfunction()
