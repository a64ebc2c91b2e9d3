# The compute capabilities to compile for by default: every generation that the kernels run on (7.5 and later) and that
# this toolkit knows, and the last one's PTX for devices to come. CUDA 12's `all-major` begins at 5.0, where __dp4a and
# cvt.pack do not exist; 13's begins at 7.5.
function(imgpipe_cuda_architectures toolkit_version result)
  set(architectures 75-real 80-real 86-real 89-real)
  if(toolkit_version VERSION_GREATER_EQUAL 13.0)
    set(architectures all-major)
  elseif(toolkit_version VERSION_GREATER_EQUAL 12.8)
    list(APPEND architectures 90-real 100-real 120)
  else()
    list(APPEND architectures 90)
  endif()
  set(${result} ${architectures} PARENT_SCOPE)
endfunction()
