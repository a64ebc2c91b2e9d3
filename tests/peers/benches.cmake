# Programs that measure. None is a test; but for batch_bench they are built by hand: see their sources.
add_executable(decode_speed EXCLUDE_FROM_ALL peers/decode_speed.cpp)
target_link_libraries(decode_speed PRIVATE imgpipe_images imgpipe_new_delete Threads::Threads)
# png_compare.py runs it.
add_executable(png_bench EXCLUDE_FROM_ALL peers/png_bench.cpp)
target_link_libraries(png_bench PRIVATE imgpipe_images imgpipe_new_delete)
add_executable(host16_bench EXCLUDE_FROM_ALL peers/host16_bench.cpp)
target_link_libraries(host16_bench PRIVATE imgpipe_pipeline imgpipe_new_delete)
if(imgpipe_has_cuda)
  add_executable(cuda_png_bench EXCLUDE_FROM_ALL peers/cuda_png_bench.cpp)
  target_link_libraries(cuda_png_bench PRIVATE imgpipe_pipeline imgpipe_new_delete)
  add_executable(stages16_bench EXCLUDE_FROM_ALL peers/stages16_bench.cpp)
  target_link_libraries(stages16_bench PRIVATE imgpipe_pipeline imgpipe_new_delete)
  # gpu.sh runs it.
  add_executable(batch_bench peers/batch_bench.cpp)
  target_link_libraries(batch_bench PRIVATE imgpipe_pipeline imgpipe_new_delete Threads::Threads)
  add_executable(reconstruction_bench EXCLUDE_FROM_ALL peers/reconstruction_bench.cpp
                 support/baseline_reference.cpp)
  target_link_libraries(reconstruction_bench PRIVATE imgpipe_pipeline imgpipe_new_delete)
  add_executable(device_entropy_bench EXCLUDE_FROM_ALL peers/device_entropy_bench.cpp)
  target_link_libraries(device_entropy_bench PRIVATE imgpipe_pipeline imgpipe_new_delete)
  add_executable(jpeg_encoding_bench EXCLUDE_FROM_ALL peers/jpeg_encoding_bench.cpp)
  target_link_libraries(jpeg_encoding_bench PRIVATE imgpipe_pipeline imgpipe_new_delete)
endif()
