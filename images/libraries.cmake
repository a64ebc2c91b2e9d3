# Finds libraries that have no CMake package, or not everywhere (Debian 12 has no WebPConfig.cmake). Used by the build,
# and installed, because users of a static library link them too. IMGPIPE_CODECS: see CMakeLists.txt. Sets
# imgpipe_missing_libraries, and imgpipe_codecs: the optional libraries that were found.
set(imgpipe_missing_libraries)
set(imgpipe_codecs)
foreach(imgpipe_library isal:isa-l.h deflate:libdeflate.h webp:webp/decode.h zstd:zstd.h md:sha2.h
                        avif:avif/avif.h heif:libheif/heif.h jxl:jxl/decode.h lcms2:lcms2.h)
  string(REGEX MATCH "^(.*):(.*)$" imgpipe_library ${imgpipe_library})
  set(imgpipe_library ${CMAKE_MATCH_1})
  set(imgpipe_header ${CMAKE_MATCH_2})
  set(imgpipe_is_codec FALSE)
  if(imgpipe_library MATCHES "^(avif|heif|jxl|lcms2)$")
    set(imgpipe_is_codec TRUE)
    if(NOT IMGPIPE_CODECS MATCHES "(^|;)(AUTO|${imgpipe_library})(;|$)")
      continue()
    endif()
  endif()
  string(TOUPPER ${imgpipe_library} imgpipe_variable)
  find_path(${imgpipe_variable}_INCLUDE_DIR ${imgpipe_header})
  find_library(${imgpipe_variable}_LIBRARY ${imgpipe_library})
  if(NOT ${imgpipe_variable}_INCLUDE_DIR OR NOT ${imgpipe_variable}_LIBRARY)
    if(NOT imgpipe_is_codec OR NOT IMGPIPE_CODECS STREQUAL "AUTO")
      list(APPEND imgpipe_missing_libraries lib${imgpipe_library})
    endif()
    continue()
  endif()
  if(imgpipe_is_codec)
    list(APPEND imgpipe_codecs ${imgpipe_library})
  endif()
  if(NOT TARGET imgpipe::${imgpipe_library})
    add_library(imgpipe::${imgpipe_library} UNKNOWN IMPORTED)
    set_target_properties(imgpipe::${imgpipe_library} PROPERTIES
      IMPORTED_LOCATION ${${imgpipe_variable}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${${imgpipe_variable}_INCLUDE_DIR})
  endif()
endforeach()

# A static libwebp 1.3 or later needs its other library.
if(TARGET imgpipe::webp AND WEBP_LIBRARY MATCHES "\\.a$")
  find_library(SHARPYUV_LIBRARY sharpyuv)
  if(SHARPYUV_LIBRARY)
    set_property(TARGET imgpipe::webp PROPERTY INTERFACE_LINK_LIBRARIES ${SHARPYUV_LIBRARY})
  endif()
endif()
