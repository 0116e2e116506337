# Embeds the console (web/dist) into the binary: each file as it is and as gzip, by .incbin.
# src/api/assets.h declares the table. Where there is no web/dist the table stays empty.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(fairlead_embed_assets target dir)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${dir}/*)
  set(gen ${CMAKE_CURRENT_BINARY_DIR}/${target})
  set(script ${CMAKE_SOURCE_DIR}/cmake/embed_assets.py)
  add_custom_command(OUTPUT ${gen}/assets.S ${gen}/assets.cc
    COMMAND Python3::Interpreter ${script} ${dir} ${gen}
    DEPENDS ${script} ${files}
    COMMENT "embedding ${dir}" VERBATIM)
  set_source_files_properties(${gen}/assets.S PROPERTIES OBJECT_DEPENDS "${files}")
  add_library(${target} STATIC ${gen}/assets.S ${gen}/assets.cc)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE fairlead_flags)
endfunction()

if(TARGET pkg_assets)
  if(EXISTS ${CMAKE_SOURCE_DIR}/web/dist/index.html)
    fairlead_embed_assets(fairlead_assets ${CMAKE_SOURCE_DIR}/web/dist)
    target_link_libraries(pkg_assets INTERFACE fairlead_assets)
    # The empty table of a build without a console would come first in the link.
    set_source_files_properties(${CMAKE_SOURCE_DIR}/src/api/assets_none.cc PROPERTIES HEADER_FILE_ONLY ON)
  else()
    message(STATUS "the console is left out: there is no web/dist (npm ci && npm run build in web/)")
  endif()
endif()
