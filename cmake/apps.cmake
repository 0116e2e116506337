# The program `fairlead`, and the console's files inside it.
if(NOT FAIRLEAD_PURE_ONLY)
  if(EXISTS ${CMAKE_SOURCE_DIR}/cmake/assets.cmake)
    include(cmake/assets.cmake)
  endif()
  add_executable(fairlead src/apps/fairlead_main.cc)
  target_link_libraries(fairlead PRIVATE fairlead_apps)
  fairlead_pch_of_program(fairlead apps)
  set_target_properties(fairlead PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  # The manual's pages come from the program itself: cmake --build … --target man.
  add_custom_target(man COMMAND ${CMAKE_SOURCE_DIR}/tools/man_pages $<TARGET_FILE:fairlead> ${CMAKE_BINARY_DIR}/man
    DEPENDS fairlead COMMENT "writing the manual's pages" VERBATIM)
  include(GNUInstallDirs)
  install(TARGETS fairlead RUNTIME)
  install(CODE "execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/man_pages $<TARGET_FILE:fairlead>
    \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1 COMMAND_ERROR_IS_FATAL ANY)")
endif()
if(TARGET fairlead)
  set_source_files_properties(src/apps/fairlead_main.cc PROPERTIES COMPILE_DEFINITIONS FAIRLEAD_VERSION="${PROJECT_VERSION}")
endif()
