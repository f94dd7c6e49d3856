/* base/cpu_list.h - a list of CPUs as text, in both directions: "0,2,4-7".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CPU_LIST_H
#define BASE_CPU_LIST_H

#include <stdint.h>

#include "base/os/os_cage.h"

struct err;
struct strbuf;

/* Reads numbers and ranges, separated by commas, into the bits of ret.  Returns 0; or -EINVAL, with
 * ret unchanged: the text is not a list, is empty, or has a number of OS_CAGE_CPUS_MAX or
 * greater. */
int cpu_list_parse(const char *list, uint64_t ret[OS_CAGE_CPUS_MAX / 64], struct err *err);
/* Appends the numbers of the CPUs whose bits are set as text, "0,2,4", for a cpuset. */
void cpu_list_print(const uint64_t cpus[OS_CAGE_CPUS_MAX / 64], struct strbuf *ret);

#endif
