# Builds the lab: imgpipe-bench, a separate program. Nothing else depends on it.
imgpipe_sources(lab_sources lab/kernels/*.cpp lab/pipeline/*.cpp)
imgpipe_sources(lab_cuda_sources lab/kernels/*.cu lab/pipeline/*.cu lab/pipeline/*_cuda.cpp)
list(FILTER lab_cuda_sources EXCLUDE REGEX "_no_cuda\\.cpp$")
list(REMOVE_ITEM lab_sources ${lab_cuda_sources})
imgpipe_sources(bench_sources lab/bench/*.cpp)
if(imgpipe_has_cuda)
  list(REMOVE_ITEM lab_sources lab/pipeline/lab_no_cuda.cpp)
endif()

add_library(imgpipe_lab STATIC ${lab_sources})
target_link_libraries(imgpipe_lab PUBLIC imgpipe_pipeline PRIVATE JPEG::JPEG Threads::Threads)
if(imgpipe_has_cuda)
  imgpipe_add_kernels(imgpipe_lab ${lab_cuda_sources})
  # ./run test compiles the product for two generations, but the lab only for the newer one.
  if(IMGPIPE_TESTS STREQUAL "release")
    list(GET CMAKE_CUDA_ARCHITECTURES -1 newest)
    set_target_properties(imgpipe_lab PROPERTIES CUDA_ARCHITECTURES ${newest})
  endif()
  # NPP and nvJPEG, the baselines, are loaded at run time. Only their headers are used here, and they may be missing.
  set_source_files_properties(lab/pipeline/toolkit_library.cu PROPERTIES
    COMPILE_DEFINITIONS "IMGPIPE_TOOLKIT_DIRECTORY=\"${CUDAToolkit_LIBRARY_DIR}\"")
endif()
target_link_libraries(imgpipe_lab PRIVATE ${CMAKE_DL_LIBS})

# Embeds the sources that `imgpipe bench --html` shows and --template writes.
imgpipe_sources(imgpipe_shown_sources kernels/*.cpp kernels/*.cu kernels/*.cuh kernels/*.h lab/kernels/*.cpp
                lab/kernels/*.cu lab/kernels/*.cuh lab/kernels/*.h lab/pipeline/*.cpp
                lab/pipeline/imgpipe_kernel.h lab/bench/templates/*.cu)
list(TRANSFORM imgpipe_shown_sources PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE imgpipe_shown_files)
string(REPLACE ";" "," imgpipe_shown_list "${imgpipe_shown_sources}")
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/generated/lab_sources.cpp
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${PROJECT_BINARY_DIR}/generated/lab_sources.cpp
          -DFILES=${imgpipe_shown_list} -P ${PROJECT_SOURCE_DIR}/lab/bench/embed_sources.cmake
  DEPENDS ${imgpipe_shown_files} lab/bench/embed_sources.cmake VERBATIM)

add_library(imgpipe_lab_bench STATIC ${bench_sources} ${PROJECT_BINARY_DIR}/generated/lab_sources.cpp)
target_link_libraries(imgpipe_lab_bench PUBLIC imgpipe_lab imgpipe_app
                      PRIVATE imgpipe_build_id nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
add_executable(imgpipe-bench lab/main.cpp)
target_link_libraries(imgpipe-bench PRIVATE imgpipe_lab_bench)
target_compile_options(imgpipe_lab_bench PRIVATE ${imgpipe_text_options})
set_target_properties(imgpipe_lab_bench PROPERTIES IMGPIPE_ALIGNMENT_UNCHECKED ON)
