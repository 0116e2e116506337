# One target carries the flags of every target of ours.
add_library(fairlead_flags INTERFACE)
target_compile_options(fairlead_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(fairlead_flags INTERFACE -Wno-missing-designated-field-initializers
    $<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>)
  target_link_options(fairlead_flags INTERFACE -fuse-ld=lld-19)
else()
  target_compile_options(fairlead_flags INTERFACE -Wno-missing-field-initializers)
endif()
# simdjson lays its values out by these, and would guess them from -O: all files must agree.
target_compile_definitions(fairlead_flags INTERFACE SIMDJSON_DEVELOPMENT_CHECKS=0 SIMDJSON_THREADS_ENABLED=1)
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")  # dev is built more often than it is waited for
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")  # CHECK stays on: no NDEBUG
if(FAIRLEAD_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # what is run rather than built
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
endif()
if(FAIRLEAD_SANITIZE)
  target_compile_options(fairlead_flags INTERFACE -fsanitize=${FAIRLEAD_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(fairlead_flags INTERFACE -fsanitize=${FAIRLEAD_SANITIZE})
endif()
if(FAIRLEAD_FUZZ)  # so that a fuzzer sees the branches of what it calls
  target_compile_options(fairlead_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
