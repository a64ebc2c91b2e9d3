# Builds imgpipe, the program, and the libraries that only it needs.
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_path(CXXOPTS_INCLUDE_DIR cxxopts.hpp REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)

add_library(imgpipe_new_delete STATIC images/memory/new_delete.cpp)
target_link_libraries(imgpipe_new_delete PUBLIC imgpipe_images)

imgpipe_sources(app_sources app/*.cpp)
list(REMOVE_ITEM app_sources app/main.cpp)
list(FILTER app_sources EXCLUDE REGEX "^app/python/")
list(REMOVE_ITEM app_sources ${jobs_sources})
add_library(imgpipe_app STATIC ${app_sources})
target_include_directories(imgpipe_app SYSTEM PRIVATE ${CXXOPTS_INCLUDE_DIR} ${TOMLPLUSPLUS_INCLUDE_DIR})
# cxxopts gets main names and values only, which need none of the regular expressions that it would compile at every
# start. Only app/log.cpp uses spdlog and fmt, whose shared libraries would add to the time of every start.
target_compile_definitions(imgpipe_app PRIVATE IMGPIPE_BUILD_TYPE="$<CONFIG>" CXXOPTS_NO_REGEX=true
                           FMT_HEADER_ONLY)
# The command line's code processes no pixels except for the reduced images of HTML reports; JSON and formatted text
# take most of the time to compile.
if(IMGPIPE_SANITIZE)
  set(imgpipe_text_options -O0)
else()
  set(imgpipe_text_options $<$<CONFIG:Release>:-O1>)
endif()
target_compile_options(imgpipe_app PRIVATE ${imgpipe_text_options})
set_target_properties(imgpipe_app PROPERTIES IMGPIPE_ALIGNMENT_UNCHECKED ON)
target_link_libraries(imgpipe_app PUBLIC imgpipe_jobs imgpipe_new_delete
                      PRIVATE imgpipe_build_id JPEG::JPEG spdlog::spdlog_header_only nlohmann_json::nlohmann_json
                              Threads::Threads)

add_executable(imgpipe app/main.cpp images/simd_detection.cpp)
target_link_libraries(imgpipe PRIVATE imgpipe_app hwy::hwy)
# Omits shared libraries of which the program needs nothing.
target_link_options(imgpipe PRIVATE -Wl,--as-needed)
# Resolving the symbols of a shared libstdc++ takes a quarter of a start's instructions. Libraries that are loaded late
# may load it: those in C++ have C interfaces, and their callbacks do not throw. Sanitizers need the shared library.
include(CheckLinkerFlag)
check_linker_flag(CXX "-static-libstdc++;-static-libgcc" imgpipe_static_runtime)
if(imgpipe_static_runtime AND NOT IMGPIPE_SANITIZE)
  target_link_options(imgpipe PRIVATE -static-libstdc++ -static-libgcc)
endif()
# The directory of imgpipe-bench for `imgpipe bench`, unless it is next to imgpipe.
set(imgpipe_libexec_directory ${CMAKE_INSTALL_LIBEXECDIR}/imgpipe)
file(RELATIVE_PATH imgpipe_libexec_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBEXECDIR}/imgpipe)
set_source_files_properties(app/bench/bench_call.cpp PROPERTIES
  COMPILE_DEFINITIONS "IMGPIPE_LIBEXEC_FROM_BIN=\"${imgpipe_libexec_from_bin}\"")
# The directory of contract-1.json for `imgpipe contract`.
file(RELATIVE_PATH imgpipe_data_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/imgpipe)
set_source_files_properties(app/contract/contract_command.cpp PROPERTIES
  COMPILE_DEFINITIONS "IMGPIPE_DATA_FROM_BIN=\"${imgpipe_data_from_bin}\"")
