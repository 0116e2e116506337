# The program `fairlead`, and the console's files inside it.
if(NOT FAIRLEAD_PURE_ONLY)
  if(EXISTS ${CMAKE_SOURCE_DIR}/cmake/assets.cmake)
    include(cmake/assets.cmake)
  endif()
  add_executable(fairlead src/apps/fairlead_main.cc)
  target_link_libraries(fairlead PRIVATE fairlead_apps)
  set_target_properties(fairlead PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()
