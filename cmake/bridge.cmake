# fairlead-slurm, where this machine has libslurm. For another Slurm release: tools/build_bridge.
if(TARGET fairlead_bridge)
  add_executable(fairlead-slurm ${CMAKE_SOURCE_DIR}/src/bridge/fairlead_slurm_main.cc)
  target_link_libraries(fairlead-slurm PRIVATE fairlead_bridge)
  set_target_properties(fairlead-slurm PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()
