/* sim/os_power_sim.c - base/os/os_power.h for a simulated process: its machine reports no sleep
 * states; its power method decides how it is powered down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_power.h"

void os_sleep_words(struct os *os, const char *root, struct os_sleep_words *ret)
{
    (void)os;
    (void)root;
    *ret = (struct os_sleep_words){.has_systemd = false};
}

size_t os_sessions(struct os *os, const char *root, char *who, size_t size)
{
    (void)os;
    (void)root;
    (void)size;
    who[0] = '\0';
    return 0;
}

void os_graphical_sessions(struct os *os, const char *root, os_session_f each, void *arg)
{
    (void)os;
    (void)root;
    (void)each;
    (void)arg;
}

void os_inhibitors(struct os *os, const char *root, os_inhibitor_f each, void *arg)
{
    (void)os;
    (void)root;
    (void)each;
    (void)arg;
}

uint64_t os_suspended_ms(struct os *os)
{
    (void)os;
    return 0;
}
