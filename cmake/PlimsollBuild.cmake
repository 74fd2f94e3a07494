# Compiler settings, and the functions by which layers, tests and programs are declared.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

set(PLIMSOLL_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them")
option(PLIMSOLL_WALKERS "Run validity walkers inside the memory layer (slow)" OFF)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths relative to the project, so that one clone finds what another has compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true
      ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                    -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-restrict)  # g++ 12 sees overlaps in std::string that are not there
endif()
if(PLIMSOLL_SANITIZE)
  add_compile_options(-fsanitize=${PLIMSOLL_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${PLIMSOLL_SANITIZE})
  if(PLIMSOLL_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
if(PLIMSOLL_WALKERS)
  add_compile_definitions(PLIMSOLL_WALKERS=1)
endif()

# plimsoll_layer(name PUBLIC deps...): all of src/<name>/*.cpp as library plimsoll_<name>.
function(plimsoll_layer name)
  cmake_parse_arguments(ARG "" "" "PUBLIC;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" target ${name})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp
       ${PROJECT_SOURCE_DIR}/src/${name}/*.h ${PROJECT_SOURCE_DIR}/src/${name}/passes/*.cpp)
  add_library(plimsoll_${target} STATIC ${sources})
  target_include_directories(plimsoll_${target} PUBLIC ${PROJECT_SOURCE_DIR}/include
                                                       ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(plimsoll_${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()

# libgomp is not instrumented: TSan does not see its barriers and takes every parallel loop for a race.
# With one thread kernels run in one piece, and the threads of the tests race over all the rest.
set(PLIMSOLL_TEST_ENVIRONMENT "")
if(PLIMSOLL_SANITIZE MATCHES "thread")
  set(PLIMSOLL_TEST_ENVIRONMENT OMP_NUM_THREADS=1)
elseif(PLIMSOLL_SANITIZE MATCHES "address")
  set(PLIMSOLL_TEST_ENVIRONMENT LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp:print_suppressions=0)
endif()

# plimsoll_test(layer LIBS libs...): every tests/<layer>/*_test.cpp in one program <layer>_tests,
# one ctest entry per test, or, with SHARDS n, n entries for all of them; labelled with the layer.
function(plimsoll_test layer)
  cmake_parse_arguments(ARG "" "TIMEOUT;SHARDS" "LIBS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
    if(PLIMSOLL_SANITIZE)  # which costs a factor of 3 to 10
      set(ARG_TIMEOUT 1500)
    endif()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${layer}/*.cpp
       ${CMAKE_CURRENT_SOURCE_DIR}/${layer}/*.h)
  add_executable(${layer}_tests ${sources})
  target_include_directories(${layer}_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${layer}_tests PRIVATE ${ARG_LIBS} GTest::gtest_main)
  target_compile_definitions(${layer}_tests
                             PRIVATE PLIMSOLL_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}/${layer}")
  if(NOT ARG_SHARDS)
    if(PLIMSOLL_TEST_ENVIRONMENT)
      set(environment ENVIRONMENT "${PLIMSOLL_TEST_ENVIRONMENT}")
    endif()
    gtest_discover_tests(${layer}_tests DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS ${layer} TIMEOUT ${ARG_TIMEOUT}
                                    ${environment})
    return()
  endif()
  math(EXPR last "${ARG_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(environment GTEST_TOTAL_SHARDS=${ARG_SHARDS} GTEST_SHARD_INDEX=${shard}
                    ${PLIMSOLL_TEST_ENVIRONMENT})
    add_test(NAME ${layer}.${shard} COMMAND ${layer}_tests --gtest_brief=1)
    set_tests_properties(${layer}.${shard} PROPERTIES LABELS ${layer} TIMEOUT ${ARG_TIMEOUT}
      ENVIRONMENT "${environment}"
      FAIL_REGULAR_EXPRESSION "SKIPPED")  # as GoogleTest does when a fixture cannot be set up
  endforeach()
endfunction()
