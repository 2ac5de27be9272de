# SPDX-License-Identifier: Apache-2.0
# The snippets of the guides, compiled.
set(snippets ${CMAKE_CURRENT_BINARY_DIR}/docs/docs_snippets.inc)
set(guides
    guide.md
    tasks.md
    migration.md
    locks.md
    containers.md
    files.md
    checkpoints.md
    memory.md
    collectives.md
    sort.md
)
list(TRANSFORM guides PREPEND ${PROJECT_SOURCE_DIR}/docs/)
add_custom_command(
  OUTPUT ${snippets}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/docs
  COMMAND awk -f ${CMAKE_CURRENT_LIST_DIR}/docs.awk ${guides} > ${snippets}
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/docs.awk ${guides}
  VERBATIM)
set(sources ${snippets})
set(includes ${CMAKE_CURRENT_BINARY_DIR}/docs)
