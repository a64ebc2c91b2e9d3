# The parts of app/ that find the inputs of a batch and plan its outputs, for the program and the Python package.
imgpipe_sources(jobs_sources app/files/*.cpp app/image/*.cpp app/jobs/*.cpp app/options/*.cpp
                app/process_options/*.cpp)
list(FILTER jobs_sources INCLUDE REGEX "/(directory_walk|existing_results|glob|glob_paths|image_settings|input_search|\
lost_outputs|name_list|name_ranges|name_template|options_digest|output_plan|page_outputs|replaceable|selection|\
tensor_options)\\.cpp$")
add_library(imgpipe_jobs STATIC ${jobs_sources})
target_link_libraries(imgpipe_jobs PUBLIC imgpipe_pipeline)
set_target_properties(imgpipe_jobs PROPERTIES IMGPIPE_ALIGNMENT_UNCHECKED ON)
