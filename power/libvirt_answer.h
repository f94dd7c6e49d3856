/* power/libvirt_answer.h - parses a line that roost-libvirt answers.
 *
 *   ID ok TEXT
 *   ID error ERRNO TEXT
 *   ID on|off|unknown TEXT     for a status or a watch
 *   ID silent TEXT             for a watch: its libvirtd does not answer
 *
 * Pure: no I/O.  Only the caller knows which request a line answers (method_libvirt.c).
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
    int status; /* result of an order: 0 or a negative errno; -EIO: the line does not say */
    enum power_state state; /* state for a status or a watch; POWER_UNKNOWN if neither on nor off */
    bool is_silent;
    const char *text; /* borrowed from the line; "": none */
};

/* Parses a line, given without its line end.  False, with *ret unchanged: it does not begin with an
 * id and a blank. */
bool libvirt_answer_read(const char *line, struct libvirt_answer *ret);

#endif
