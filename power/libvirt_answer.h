/* power/libvirt_answer.h - a line that roost-libvirt answers.
 *
 *   ID ok TEXT
 *   ID error ERRNO TEXT
 *   ID on|off|unknown TEXT     of a status or a watch
 *   ID silent TEXT             of a watch: its libvirtd does not answer
 *
 * Pure: no I/O.  What the line is an answer to, only who asked knows (method_libvirt.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_LIBVIRT_ANSWER_H
#define POWER_LIBVIRT_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "power/power.h"

struct libvirt_answer {
    uint64_t id;
    int status;             /* of an order: 0, or negative errno; -EIO: the line does not say */
    enum power_state state; /* of a status or a watch; what is neither on nor off is unknown */
    bool is_silent;
    const char *text; /* borrowed from the line; "": none */
};

/* line: without its end.  False, and *ret unchanged: it does not begin with an id and a blank. */
bool libvirt_answer_read(const char *line, struct libvirt_answer *ret);

#endif
