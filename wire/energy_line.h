/* wire/energy_line.h - a line of an ad's list of counters of energy: "SINCE JOULES CORE_SECONDS
 * NAME".
 *
 * In machine ads EnergyOfUsers is a list of such strings.  Lines, not nested ads: a rooster reads
 * them of every machine at every change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_ENERGY_LINE_H
#define WIRE_ENERGY_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define ENERGY_NAME_MAX 900 /* bytes of a machine or user; a longer one is not counted */

struct ad;
struct vec;

struct energy_line {
    int64_t since_s;       /* when it began at 0, seconds since 1970 */
    double joules, core_s; /* >= 0 */
    const char *name;      /* borrowed from the text */
};

/* Adds such a line, owned by the vec, to lines. */
void energy_line_add(struct vec *lines, const struct energy_line *line);
/* False, and *ret unchanged: it is no such line. */
bool energy_line_read(const char *text, struct energy_line *ret);
/* Calls each for every good line of the ad's list; none when there is no such list. */
void energy_line_each(const struct ad *ad, const char *attribute,
                      void (*each)(void *arg, const struct energy_line *line), void *arg);

#endif
