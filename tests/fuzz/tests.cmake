# A libFuzzer program for each parser of foreign text: tests/fuzz/<name>_fuzz.cc, built by the fuzz
# preset and run by hand:  build/fuzz/exposition_fuzz -max_total_time=60
function(fairlead_fuzzer name)
  if(NOT FAIRLEAD_FUZZ)
    return()
  endif()
  foreach(library IN LISTS ARGN)
    if(NOT TARGET ${library})
      return()
    endif()
  endforeach()
  add_executable(${name}_fuzz ${CMAKE_SOURCE_DIR}/tests/fuzz/${name}_fuzz.cc)
  target_compile_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name}_fuzz PRIVATE ${ARGN})
endfunction()

fairlead_fuzzer(exposition fairlead_evidence)
fairlead_fuzzer(query_answer fairlead_adapters_prometheus)
