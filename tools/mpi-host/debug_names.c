/* SPDX-License-Identifier: Apache-2.0 */
/* For the loader (LD_AUDIT, rtld-audit(7)) under a debugger: gives each copy of a program its name before the debugger
   reads it. The path that a copy is loaded from, /proc/PID/fd/.//./N, has the address of the name as binary digits
   (src/machine/copied_image.cpp), and is at least as long as the name. It uses no library: it would be loaded again. */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>

unsigned la_version(unsigned version) { return version; }

static const char* behind(const char* text, const char* begin) {
  while (*begin != 0 && *text == *begin) ++text, ++begin;
  return *begin == 0 ? text : 0;
}

static void rename_copy(struct link_map* map) {
  const char* at = behind(map->l_name, "/proc/");
  while (at != 0 && *at >= '0' && *at <= '9') ++at;
  if (at != 0) at = behind(at, "/fd/");
  if (at == 0) return;
  uintptr_t name = 0;
  for (unsigned digit = 0; digit < 8 * sizeof name; ++digit) {
    if (*at == '.') name |= (uintptr_t)1 << digit, ++at;
    if (*at != '/') break;
    ++at;
  }
  if (name <= 1 << 16) return; /* no address: somebody else's path */
  const char* from = (const char*)name;
  volatile char* to = map->l_name; /* no call of strcpy */
  while ((*to++ = *from++) != 0) continue;
}

static struct link_map* first; /* under the loader's lock */

/* Before the debugger is told: by older loaders. */
unsigned la_objopen(struct link_map* map, Lmid_t space, uintptr_t* cookie) {
  (void)cookie;
  if (space == LM_ID_BASE && first == 0) first = map;
  rename_copy(map);
  return 0;
}

/* The same, by glibc 2.35 and newer: the list has the copy already. */
void la_activity(uintptr_t* cookie, unsigned what) {
  (void)cookie;
  if (what != LA_ACT_ADD) return;
  for (struct link_map* map = first; map != 0; map = map->l_next) rename_copy(map);
}
