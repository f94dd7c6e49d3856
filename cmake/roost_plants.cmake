# Simulators with a bug planted on purpose (base/plant.h), to show that the suite of seeds finds it.
#
# SPDX-License-Identifier: Apache-2.0

# roost_plants(PROGRAM FOLDERS...): for each name of base/plant.h the executable PROGRAM-NAME.  Only the files that say
# PLANTED(NAME) are compiled again; their objects stand before the archives, which then do not give theirs.
function(roost_plants PROGRAM)
    file(STRINGS "${CMAKE_SOURCE_DIR}/base/plant.h" lines REGEX "PLANT_KNOWN_[a-z_]+ = 1")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^.*PLANT_KNOWN_([a-z_]+) = 1.*$" "\\1" plant "${line}")
        set(planted "")
        foreach(folder IN LISTS ARGN)
            roost_sources(sources ${folder})
            foreach(source IN LISTS sources)
                file(STRINGS "${source}" found REGEX "PLANTED\\(${plant}\\)")
                if(found)
                    list(APPEND planted "${source}")
                endif()
            endforeach()
        endforeach()
        if(NOT planted)
            continue()
        endif()
        add_executable(${PROGRAM}-${plant} "${CMAKE_SOURCE_DIR}/sim/main.c" ${planted})
        target_compile_definitions(${PROGRAM}-${plant} PRIVATE ROOST_PLANT_${plant}=1)
        target_link_libraries(${PROGRAM}-${plant} PRIVATE sim)
        set_target_properties(${PROGRAM}-${plant} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/bin")
    endforeach()
endfunction()
