# Compiler switches for our own code: warnings always; sanitizers, coverage and hardening by option.
set(DOHMUX_SANITIZE "" CACHE STRING "Comma list for -fsanitize=")
option(DOHMUX_HARDEN "Hardening flags of docs/security.md" OFF)
option(DOHMUX_COVERAGE "gcov instrumentation" OFF)
option(DOHMUX_WERROR "Warnings are errors" OFF)
option(DOHMUX_FUZZ "libFuzzer targets (clang)" OFF)

add_library(dohmux_options INTERFACE)
target_compile_options(dohmux_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                       -Wconversion -Wsign-conversion -Woverloaded-virtual -Wimplicit-fallthrough -Wno-missing-field-initializers)
if(DOHMUX_WERROR)
  target_compile_options(dohmux_options INTERFACE -Werror)
endif()
if(DOHMUX_SANITIZE)
  add_compile_options(-fsanitize=${DOHMUX_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${DOHMUX_SANITIZE})
endif()
if(DOHMUX_COVERAGE)
  add_compile_options(--coverage -O0)
  add_link_options(--coverage)
endif()
if(DOHMUX_HARDEN)
  add_compile_options(-fPIE -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -U_FORTIFY_SOURCE
                      -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -ftrivial-auto-var-init=zero -Werror=format-security -Wformat
                      "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
  add_link_options(-pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code)
endif()
