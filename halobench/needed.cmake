# SPDX-License-Identifier: BSD-3-Clause
# What a program is made of: the code of x.hpp is in the x.cpp beside it, so its includes say it.

set(device_room "^(device/.*|star_forest/device_space|.*/on_device)\\.cpp$")

# Own headers that a file includes; each file is read once.
function(included_by file out)
  get_property(known GLOBAL PROPERTY "included_by_${file}" SET)
  if(NOT known)
    file(STRINGS ${halobench_SOURCE_DIR}/${file} lines REGEX "^#include \"")
    list(TRANSFORM lines REPLACE "^#include \"([^\"]+)\".*" "\\1")
    set_property(GLOBAL PROPERTY "included_by_${file}" "${lines}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endif()
  get_property(found GLOBAL PROPERTY "included_by_${file}")
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# All sources that some need, themselves among them. devices: whether what works in a device's memory
# is among them, and the on_device.cpp of each folder.
function(needed_sources out devices)
  set(left ${ARGN})
  set(seen ${left})
  set(sources "")
  while(left)
    list(POP_FRONT left file)
    if(file MATCHES "\\.cpp$")
      list(APPEND sources ${file})
    endif()
    included_by(${file} found)
    foreach(header IN LISTS found)
      string(REGEX REPLACE "\\.hpp$" ".cpp" source ${header})
      get_filename_component(folder ${header} DIRECTORY)
      foreach(next IN ITEMS ${header} ${source} ${folder}/on_device.cpp)
        if(next IN_LIST seen OR NOT EXISTS ${halobench_SOURCE_DIR}/${next}
           OR (NOT devices AND next MATCHES "${device_room}"))
          continue()
        endif()
        list(APPEND seen ${next})
        list(APPEND left ${next})
      endforeach()
    endforeach()
  endwhile()
  list(SORT sources)
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()
