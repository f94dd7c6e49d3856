/* base/cpu_list.c - see cpu_list.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/cpu_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"

/* Reads digits at *at.  False: there are none, or the number is too large. */
static bool read_cpu(const char **at, unsigned *ret)
{
    unsigned number = 0;
    const char *begin = *at;
    while (isdigit((unsigned char)**at) && number < OS_CAGE_CPUS_MAX) {
        number = number * 10 + (unsigned)(*(*at)++ - '0');
    }
    *ret = number;
    return *at > begin && number < OS_CAGE_CPUS_MAX;
}

static void skip_blanks(const char **at)
{
    while (**at == ' ' || **at == '\t') {
        (*at)++;
    }
}

static bool read_list(const char *list, uint64_t bits[OS_CAGE_CPUS_MAX / 64])
{
    const char *at = list;
    for (bool more = true; more;) {
        unsigned first, last;
        skip_blanks(&at);
        if (!read_cpu(&at, &first)) {
            return false;
        }
        last = first;
        if (*at == '-') {
            at++;
            if (!read_cpu(&at, &last) || last < first) {
                return false;
            }
        }
        for (unsigned cpu = first; cpu <= last; cpu++) {
            bits[cpu / 64] |= (uint64_t)1 << (cpu % 64);
        }
        skip_blanks(&at);
        more = *at == ',';
        at += more ? 1 : 0;
    }
    return *at == '\0';
}

int cpu_list_parse(const char *list, uint64_t ret[OS_CAGE_CPUS_MAX / 64], struct err *err)
{
    uint64_t bits[OS_CAGE_CPUS_MAX / 64] = {0};
    if (!read_list(list, bits)) {
        return err_set(err, -EINVAL,
                       "'%.80s' is not a list of CPUs; expected numbers below %d and ranges, such "
                       "as 0,2,4-7",
                       list, OS_CAGE_CPUS_MAX);
    }
    memcpy(ret, bits, sizeof bits);
    return 0;
}

void cpu_list_print(const uint64_t cpus[OS_CAGE_CPUS_MAX / 64], struct strbuf *ret)
{
    for (unsigned cpu = 0; cpu < OS_CAGE_CPUS_MAX; cpu++) {
        if ((cpus[cpu / 64] >> (cpu % 64) & 1) != 0) {
            strbuf_printf(ret, "%s%u", ret->length > 0 ? "," : "", cpu);
        }
    }
}
