/* virt/line_plan.h - the orders that roost-libvirt reads, one a line.
 *
 *   ID wake LIMIT DOMAIN
 *   ID sleep HOW PATIENCE LIMIT DOMAIN
 *   ID status LIMIT DOMAIN
 *   ID cancel DOMAIN
 *   ID watch DOMAIN
 *   ID unwatch DOMAIN
 *
 * ID: a number; cancel and unwatch have that of the order or watch which they end; LIMIT: seconds
 * after which the order is given up; HOW: shutdown acpi agent save suspend disk destroy; PATIENCE:
 * seconds that a guest has to end by itself before it is destroyed; DOMAIN: the rest of the line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VIRT_LINE_PLAN_H
#define VIRT_LINE_PLAN_H

#include <stdint.h>

struct err;

#define VIRT_DOMAIN_MAX 256
#define VIRT_LINE_MAX   512
#define VIRT_TIME_MAX_S 86400

enum virt_verb { VIRT_WAKE, VIRT_SLEEP, VIRT_STATUS, VIRT_CANCEL, VIRT_WATCH, VIRT_UNWATCH };

enum virt_how {
    VIRT_SHUTDOWN, /* what the hypervisor thinks best: agent or ACPI */
    VIRT_ACPI,
    VIRT_AGENT,
    VIRT_SAVE,    /* managed save */
    VIRT_SUSPEND, /* the guest's own suspend to memory */
    VIRT_DISK,    /* the guest's own suspend to disk */
    VIRT_DESTROY,
};

struct virt_line {
    uint64_t id;
    enum virt_verb verb;
    enum virt_how how;
    uint32_t patience_s, limit_s;
    char domain[VIRT_DOMAIN_MAX];
};

/* text: a line without its end.  -EINVAL says what is wrong with it. */
int virt_line_parse(const char *text, struct virt_line *ret, struct err *err);

#endif
