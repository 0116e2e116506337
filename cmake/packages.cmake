# fairlead::pkg_<name> for each package that src/modules.txt may name in its third column.
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(GTest CONFIG REQUIRED)
find_package(rapidcheck CONFIG REQUIRED)
find_package(simdjson CONFIG REQUIRED)
target_link_libraries(fairlead_flags INTERFACE Boost::headers fmt::fmt Threads::Threads)

function(fairlead_package name)
  add_library(pkg_${name} INTERFACE)
  target_link_libraries(pkg_${name} INTERFACE ${ARGN})
endfunction()

fairlead_package(test GTest::gtest_main rapidcheck rapidcheck_gtest)
target_compile_options(pkg_test INTERFACE $<$<CONFIG:Debug>:-O0>)  # tests are compiled more often than run
fairlead_package(simdjson simdjson::simdjson)
if(NOT FAIRLEAD_PURE_ONLY)
  find_package(OpenSSL 3 REQUIRED)
  find_package(SQLite3 REQUIRED)
  find_package(yaml-cpp CONFIG REQUIRED)
  find_package(CLI11 CONFIG REQUIRED)
  find_package(ZLIB REQUIRED)
  fairlead_package(asio Threads::Threads)
  fairlead_package(openssl OpenSSL::SSL OpenSSL::Crypto)
  fairlead_package(sqlite SQLite::SQLite3)
  fairlead_package(yaml yaml-cpp)
  fairlead_package(cli11 CLI11::CLI11)
  target_compile_options(pkg_cli11 INTERFACE $<$<CONFIG:Debug>:-O0>)  # each file makes code of half of it
  fairlead_package(zlib ZLIB::ZLIB)
  find_library(SLURM_LIBRARY slurm)
  if(SLURM_LIBRARY)  # without it there is no bridge, and slurmrestd or the commands serve instead
    fairlead_package(slurm ${SLURM_LIBRARY})
  endif()
  add_library(pkg_assets INTERFACE)  # cmake/apps.cmake links the console's files into it
endif()
