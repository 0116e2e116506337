# What stands under tests/: benchmarks here, each folder with a tests.cmake of its own for the rest.
if(FAIRLEAD_BENCH AND TARGET fairlead_sim)
  add_executable(replay_bench ${CMAKE_SOURCE_DIR}/tests/bench/replay_bench.cc)
  target_link_libraries(replay_bench PRIVATE fairlead_sim)
endif()
file(GLOB parts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/tests.cmake)
foreach(part IN LISTS parts)
  include(${part})
endforeach()
