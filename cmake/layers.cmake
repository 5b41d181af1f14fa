# octavo_layer(NAME USES lower... LIBS ... EXTRA ...): one folder of src/ as one static library whose
# include path holds only itself and the layers it may use. The link test of decision 60 joins the
# library with those layers into a shared object without undefined symbols.
add_custom_target(layers COMMENT "Every layer links against lower ones only")

function(octavo_layer NAME)
  cmake_parse_arguments(L "" "" "USES;LIBS;EXTRA" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${NAME}/*.c)
  if(NOT sources)
    file(WRITE ${CMAKE_BINARY_DIR}/empty_${NAME}.c "typedef int octavo_empty_layer;\n")
    set(sources ${CMAKE_BINARY_DIR}/empty_${NAME}.c)
  endif()
  add_library(${NAME} STATIC ${sources})

  set(view ${CMAKE_BINARY_DIR}/layers/${NAME})
  file(MAKE_DIRECTORY ${view})
  foreach(folder ${L_USES} ${NAME} ${L_EXTRA})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${folder} ${view}/${folder} SYMBOLIC)
  endforeach()
  target_include_directories(${NAME} PRIVATE ${view})
  target_link_libraries(${NAME} PUBLIC ${L_USES} ${L_LIBS} Threads::Threads)

  if(OCTAVO_TESTS AND NOT OCTAVO_FUZZ)
    add_library(${NAME}_alone SHARED EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/empty.c)
    set(lower)
    foreach(folder ${L_USES})
      list(APPEND lower $<TARGET_FILE:${folder}>)
    endforeach()
    target_link_libraries(${NAME}_alone PRIVATE
      -Wl,--whole-archive $<TARGET_FILE:${NAME}> -Wl,--no-whole-archive
      -Wl,--start-group ${lower} -Wl,--end-group ${L_LIBS} Threads::Threads -Wl,-z,defs)
    foreach(folder ${L_USES})
      get_property(libs GLOBAL PROPERTY LAYER_LIBS_${folder})
      target_link_libraries(${NAME}_alone PRIVATE ${libs})
    endforeach()
    add_dependencies(${NAME}_alone ${NAME} ${L_USES})
    add_dependencies(layers ${NAME}_alone)
  endif()
  set_property(GLOBAL PROPERTY LAYER_LIBS_${NAME} ${L_LIBS})
endfunction()

# octavo_embed(TARGET folder...): the files of the folders as bytes in the program, found by name
# through base/asset.h.
function(octavo_embed NAME)
  set(files)
  foreach(folder ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
         ${CMAKE_SOURCE_DIR}/${folder}/*)
    list(APPEND files ${found})
  endforeach()
  list(SORT files)
  set(asm ".section .rodata\n")
  set(table "#include \"base/asset.h\"\n")
  set(rows "")
  set(i 0)
  foreach(file ${files})
    string(APPEND asm ".global asset_${i}\n.balign 16\nasset_${i}:\n.incbin \"${CMAKE_SOURCE_DIR}/${file}\"\n.global asset_${i}_end\nasset_${i}_end:\n.byte 0\n")
    string(APPEND table "extern const char asset_${i}[], asset_${i}_end[];\n")
    string(APPEND rows "    {\"${file}\", asset_${i}, asset_${i}_end},\n")
    math(EXPR i "${i} + 1")
  endforeach()
  string(APPEND asm ".section .note.GNU-stack,\"\",@progbits\n")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${NAME}.S CONTENT "${asm}" @ONLY)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${NAME}.c
       CONTENT "${table}const Asset assets_all[] = {\n${rows}    {0},\n};\n" @ONLY)
  add_library(${NAME} OBJECT ${CMAKE_BINARY_DIR}/${NAME}.S ${CMAKE_BINARY_DIR}/${NAME}.c)
  target_include_directories(${NAME} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  foreach(file ${files})
    set_property(SOURCE ${CMAKE_BINARY_DIR}/${NAME}.S APPEND PROPERTY OBJECT_DEPENDS
                 ${CMAKE_SOURCE_DIR}/${file})
  endforeach()
endfunction()
