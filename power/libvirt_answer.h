/* power/libvirt_answer.h - parses a line of output of the helper program roost-libvirt.
 *
 *   ID ok TEXT
 *   ID error ERRNO TEXT
 *   ID on|off|unknown TEXT     for a status or a watch
 *   ID silent TEXT             for a watch: its libvirtd does not answer
 *
 * Pure: no I/O.  The caller (method_libvirt.c) knows which request has this ID.
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
    int status; /* result of an order: 0 or a negative errno; -EIO: the line has no result */
    enum power_state state; /* the machine's state, if the request was a status or a watch */
    bool is_silent;
    const char *text; /* the TEXT, a part of the line that was parsed; "": none */
};

/* Parses a line without its line end into *ret and returns true.  False, with *ret unchanged: the
 * line does not begin with an id and a blank. */
bool libvirt_answer_read(const char *line, struct libvirt_answer *ret);

#endif
