/* pilot/no_power.c - another implementation of power/power.h: a glidein never switches its host
 * off.
 *
 * The real one would link the libraries of all methods into the static file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/power.h"

#include <errno.h>
#include <stddef.h>

#include "base/err.h"

struct power *power_create(struct loop *loop, struct os *os, struct log *log)
{
    (void)loop;
    (void)os;
    (void)log;
    return NULL;
}

void power_destroy(struct power *power)
{
    (void)power;
}

int power_sleep(struct power *power, const struct power_node *node, const char *level,
                power_done_f done, void *arg, struct err *err)
{
    (void)power;
    (void)level;
    (void)done;
    (void)arg;
    return err_set(err, -ENOTSUP, "%s: a pilot cannot switch its host off", node->name);
}

int power_wake(struct power *power, const struct power_node *node, power_done_f done, void *arg,
               struct err *err)
{
    (void)power;
    (void)done;
    (void)arg;
    return err_set(err, -ENOTSUP, "%s: a pilot cannot wake machines", node->name);
}
