# Builds the Python package in BUILD/python if Python's headers and nanobind are available. A sanitized module would
# need a sanitized interpreter.
set(IMGPIPE_PYTHON AUTO CACHE STRING "Build the Python package: AUTO (with tests, where nanobind is found), ON, OFF")
set_property(CACHE IMGPIPE_PYTHON PROPERTY STRINGS AUTO ON OFF)
set(imgpipe_has_python OFF)
if(IMGPIPE_PYTHON STREQUAL "ON")
  set(imgpipe_python_need REQUIRED)
elseif(IMGPIPE_PYTHON STREQUAL "AUTO" AND IMGPIPE_TESTS AND NOT IMGPIPE_SANITIZE)
  set(imgpipe_python_need QUIET)
  # `./run test` makes this environment, with the system's packages and nanobind.
  if(NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/build/venv/bin/python3)
    set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/build/venv/bin/python3)
  endif()
else()
  return()
endif()
find_package(Python 3.10 ${imgpipe_python_need} COMPONENTS Interpreter Development.Module
             OPTIONAL_COMPONENTS Development.SABIModule)
if(Python_FOUND AND NOT nanobind_DIR)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE imgpipe_nanobind
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(imgpipe_nanobind)
    set(nanobind_DIR ${imgpipe_nanobind})
  endif()
endif()
if(Python_FOUND)
  find_package(nanobind 3.0 CONFIG ${imgpipe_python_need})
endif()
if(NOT nanobind_FOUND)
  return()
endif()
set(imgpipe_has_python ON)

set(imgpipe_python_directory ${PROJECT_BINARY_DIR}/python/imgpipe)
imgpipe_sources(imgpipe_python_core app/python/core/*.cpp)
nanobind_add_module(imgpipe_python NB_STATIC STABLE_ABI FREE_THREADED NOMINSIZE ${imgpipe_python_core})
set_target_properties(imgpipe_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${imgpipe_python_directory})
target_link_libraries(imgpipe_python PRIVATE imgpipe_jobs imgpipe_build_id)
# Hides all other symbols from other modules: those of static libraries and of the standard library's templates.
target_link_options(imgpipe_python PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/app/python/core.map)
set_property(TARGET imgpipe_python APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/app/python/core.map)
nanobind_add_stub(imgpipe_python_stub MODULE _core OUTPUT ${imgpipe_python_directory}/_core.pyi
                  PYTHON_PATH ${imgpipe_python_directory} DEPENDS imgpipe_python)
# imgpipe.ops is made from the table of stages.
set(imgpipe_write_ops ${PROJECT_SOURCE_DIR}/app/python/write_ops.py)
set_property(TARGET imgpipe_python APPEND PROPERTY LINK_DEPENDS ${imgpipe_write_ops})
add_custom_command(TARGET imgpipe_python POST_BUILD
  COMMAND ${Python_EXECUTABLE} ${imgpipe_write_ops} ${imgpipe_python_directory} VERBATIM)
imgpipe_sources(imgpipe_python_sources app/python/imgpipe/*.py app/python/imgpipe/py.typed)
foreach(file IN LISTS imgpipe_python_sources)
  cmake_path(GET file FILENAME name)
  configure_file(${file} ${imgpipe_python_directory}/${name} COPYONLY)
  install(FILES ${file} DESTINATION imgpipe COMPONENT python EXCLUDE_FROM_ALL)
endforeach()
install(TARGETS imgpipe_python LIBRARY DESTINATION imgpipe COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${imgpipe_python_directory}/_core.pyi ${imgpipe_python_directory}/ops.py DESTINATION imgpipe
        COMPONENT python EXCLUDE_FROM_ALL)
