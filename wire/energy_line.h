/* wire/energy_line.h - one energy counter as a line of text: "SINCE JOULES CORE_SECONDS NAME".
 *
 * In machine ads, EnergyOfUsers is a list of such strings.  They are lines and not nested ads
 * because a rooster parses the lines of every machine at every change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_ENERGY_LINE_H
#define WIRE_ENERGY_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* most bytes of the name of a machine or user, without the terminating zero; energy used under a
 * longer name is not counted */
#define ENERGY_NAME_MAX 900

struct ad;
struct vec;

/* A counter of the energy that one machine or user has used. */
struct energy_line {
    int64_t since_s;       /* time at which the counter was 0, seconds since 1970 */
    double joules, core_s; /* >= 0 */
    const char *name;      /* name of the machine or user; borrowed from the text */
};

/* Formats line and appends the text to lines, which then owns it. */
void energy_line_add(struct vec *lines, const struct energy_line *line);
/* Parses text.  Returns false, with *ret unchanged, when text is not an energy line. */
bool energy_line_read(const char *text, struct energy_line *ret);
/* Calls `each` for every valid line in the list that is the value of `attribute`.  Does nothing
 * when the ad has no such list. */
void energy_line_each(const struct ad *ad, const char *attribute,
                      void (*each)(void *arg, const struct energy_line *line), void *arg);

#endif
