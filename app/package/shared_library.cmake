# The library as one shared object, from the objects of the static libraries. It exports what the installed headers
# declare, and nothing else: tests/checks/library.sh compares the two. Builds with tests have it too, not installed.
set(symbols)
foreach(header IN LISTS imgpipe_headers)
  file(STRINGS ${header} lines REGEX "^[^ /#].*[({]")
  foreach(line IN LISTS lines)
    if(line MATCHES "^(class|struct) ([A-Za-z0-9]+)[^;]*{")
      string(LENGTH ${CMAKE_MATCH_2} length)
      set(name 7imgpipe${length}${CMAKE_MATCH_2})
      string(APPEND symbols "_ZN${name}*; _ZNK${name}*; _ZT[ISV]N${name}E;\n")
    elseif(NOT line MATCHES "^(class|struct|enum|template|using)|(inline|constexpr) " AND
           line MATCHES "([a-z_0-9]+)\\(")
      string(LENGTH ${CMAKE_MATCH_1} length)
      string(APPEND symbols "_ZN7imgpipe${length}${CMAKE_MATCH_1}[BE]*;\n")
    endif()
  endforeach()
endforeach()
set(imgpipe_abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(imgpipe_symbols ${PROJECT_BINARY_DIR}/generated/imgpipe.map)
file(CONFIGURE OUTPUT ${imgpipe_symbols} CONTENT "IMGPIPE_${imgpipe_abi} { global:\n${symbols}local: *; };\n" @ONLY)

add_library(imgpipe_shared SHARED
  $<TARGET_OBJECTS:imgpipe_images> $<TARGET_OBJECTS:imgpipe_kernels> $<TARGET_OBJECTS:imgpipe_pipeline>)
set_target_properties(imgpipe_shared PROPERTIES OUTPUT_NAME imgpipe LINKER_LANGUAGE CXX LINK_DEPENDS ${imgpipe_symbols}
                      VERSION ${PROJECT_VERSION} SOVERSION ${imgpipe_abi} EXPORT_NAME imgpipe)
target_compile_features(imgpipe_shared INTERFACE cxx_std_20)
target_link_libraries(imgpipe_shared PRIVATE imgpipe_pipeline)
target_link_options(imgpipe_shared PRIVATE -Wl,--version-script=${imgpipe_symbols} -Wl,--no-undefined)
target_include_directories(imgpipe_shared INTERFACE
                           $<BUILD_INTERFACE:${imgpipe_build_include};${PROJECT_SOURCE_DIR}>)
