# Writes an SBOM of a program, CycloneDX 1.6, from what it links and was compiled with: Debian packages of its shared
# libraries, of those that it loads when an image needs them, of its header-only libraries, and of a static libstdc++;
# and CUDA's runtime.
#
#   include(sbom.cmake) and imgpipe_sbom(PROGRAM NAME VERSION OUTPUT)
#
# Uses CPACK_IMGPIPE_MULTIARCH (x86_64-linux-gnu), _LATE_FILES (sonames), _HEADERS and _STATIC_RUNTIME (paths) and _CUDA
# (its version).
# Without dpkg-query it writes nothing.
function(imgpipe_sbom program name version output)
  find_program(DPKG_QUERY dpkg-query)
  if(NOT DPKG_QUERY)
    message(STATUS "no SBOM: dpkg-query was not found")
    return()
  endif()
  execute_process(COMMAND readelf -d ${program} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[][]" "/" dynamic "${dynamic}")  # brackets would join elements of a list
  string(REGEX MATCHALL "NEEDED[^\n]*/[^/\n]+/" needed "${dynamic}")
  list(TRANSFORM needed REPLACE "^.*/([^/]+)/$" "*/${CPACK_IMGPIPE_MULTIARCH}/\\1")
  set(files ${needed} ${CPACK_IMGPIPE_HEADERS})
  if(NOT needed MATCHES "/libstdc\\+\\+")
    list(APPEND files ${CPACK_IMGPIPE_STATIC_RUNTIME})
  endif()
  foreach(file IN LISTS CPACK_IMGPIPE_LATE_FILES)
    list(APPEND files "*/${CPACK_IMGPIPE_MULTIARCH}/${file}")
  endforeach()
  execute_process(COMMAND ${DPKG_QUERY} -S ${files} OUTPUT_VARIABLE owners ERROR_VARIABLE problem
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "SBOM: ${problem}")
  endif()
  string(REGEX MATCHALL "[^\n]+" packages "${owners}")
  list(TRANSFORM packages REPLACE "[:,].*" "")
  list(REMOVE_DUPLICATES packages)
  list(SORT packages)

  file(STRINGS /etc/os-release release REGEX "^(ID|VERSION_ID)=")
  list(TRANSFORM release REPLACE "^[A-Z_]+=\"?([^\"]*)\"?$" "\\1")
  list(GET release 1 id)
  list(GET release 0 release_version)
  if(id MATCHES "^[0-9.]+$")  # in the other order
    list(GET release 0 id)
    list(GET release 1 release_version)
  endif()
  set(components "")
  foreach(package IN LISTS packages)
    execute_process(COMMAND ${DPKG_QUERY} -W -f "\${Version}\t\${Architecture}\t\${Homepage}\n" ${package}
                    OUTPUT_VARIABLE facts COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCH "^([^\t]*)\t([^\t]*)\t([^\n]*)" facts "${facts}")
    set(homepage ${CMAKE_MATCH_3})
    set(package_version ${CMAKE_MATCH_1})
    set(architecture ${CMAKE_MATCH_2})
    string(REPLACE "+" "%2B" purl "pkg:deb/${id}/${package}@${package_version}")
    string(REPLACE "~" "%7E" purl "${purl}")
    string(REGEX REPLACE "@([0-9]+):" "@\\1%3A" purl "${purl}")
    string(APPEND purl "?arch=${architecture}&distro=${id}-${release_version}")
    set(reference "")
    if(homepage)
      set(reference ",\n   \"externalReferences\": [{\"type\": \"website\", \"url\": \"${homepage}\"}]")
    endif()
    list(APPEND components "  {\"type\": \"library\", \"bom-ref\": \"${purl}\", \"name\": \"${package}\", \
\"version\": \"${package_version}\",\n   \"purl\": \"${purl}\"${reference}}")
    list(APPEND refs "\"${purl}\"")
  endforeach()
  if(CPACK_IMGPIPE_CUDA)
    set(purl "pkg:generic/cuda-cudart@${CPACK_IMGPIPE_CUDA}")
    list(APPEND components "  {\"type\": \"library\", \"bom-ref\": \"${purl}\", \"name\": \"cuda-cudart\", \
\"version\": \"${CPACK_IMGPIPE_CUDA}\",\n   \"purl\": \"${purl}\"}")
    list(APPEND refs "\"${purl}\"")
  endif()
  list(JOIN components ",\n" components)
  list(JOIN refs ",\n   " refs)
  set(product "pkg:generic/${name}@${version}")
  string(REPLACE "+" "%2B" product "${product}")
  string(UUID serial NAMESPACE 6ba7b811-9dad-11d1-80b4-00c04fd430c8 NAME "${product}${components}" TYPE SHA1)
  file(WRITE ${output} "{\"$schema\": \"http://cyclonedx.org/schema/bom-1.6.schema.json\",
 \"bomFormat\": \"CycloneDX\", \"specVersion\": \"1.6\", \"version\": 1,
 \"serialNumber\": \"urn:uuid:${serial}\",
 \"metadata\": {\"component\": {\"type\": \"application\", \"bom-ref\": \"${product}\", \"name\": \"${name}\",
  \"version\": \"${version}\", \"purl\": \"${product}\", \"licenses\": [{\"license\": {\"id\": \"MIT\"}}]}},
 \"components\": [
${components}],
 \"dependencies\": [{\"ref\": \"${product}\", \"dependsOn\": [
   ${refs}]}]}
")
endfunction()
