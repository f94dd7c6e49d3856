/* virt/line_plan.h - parses the orders that roost-libvirt reads, one per line.
 *
 *   ID wake LIMIT DOMAIN
 *   ID sleep HOW PATIENCE LIMIT DOMAIN
 *   ID status LIMIT DOMAIN
 *   ID cancel DOMAIN
 *   ID watch DOMAIN
 *   ID unwatch DOMAIN
 *
 * ID: a number; cancel and unwatch have the ID of the order or watch that they end.  LIMIT: seconds
 * after which the order is given up.  HOW: shutdown acpi agent save suspend disk destroy.
 * PATIENCE: seconds that a guest has to shut down before it is destroyed.  DOMAIN: the rest of the
 * line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VIRT_LINE_PLAN_H
#define VIRT_LINE_PLAN_H

#include <stdint.h>

struct err;

#define VIRT_DOMAIN_MAX 256 /* most bytes of a domain's name, with the terminating zero */
#define VIRT_LINE_MAX   512
#define VIRT_TIME_MAX_S 86400

enum virt_verb { VIRT_WAKE, VIRT_SLEEP, VIRT_STATUS, VIRT_CANCEL, VIRT_WATCH, VIRT_UNWATCH };

/* How a guest (virtual machine) is taken down. */
enum virt_how {
    VIRT_SHUTDOWN, /* shut down in the way that the hypervisor prefers: by guest agent or ACPI */
    VIRT_ACPI,
    VIRT_AGENT,
    /* managed save: the hypervisor writes the guest's memory to disk and stops the guest */
    VIRT_SAVE,
    VIRT_SUSPEND, /* the guest suspends itself to memory */
    VIRT_DISK,    /* the guest suspends itself to disk */
    VIRT_DESTROY,
};

/* A parsed order. */
struct virt_line {
    uint64_t id;
    enum virt_verb verb;
    enum virt_how how;
    uint32_t patience_s, limit_s;
    char domain[VIRT_DOMAIN_MAX];
};

/* Parses a line, given without its line end.  Returns 0, or -EINVAL with the reason in err. */
int virt_line_parse(const char *text, struct virt_line *ret, struct err *err);

#endif
