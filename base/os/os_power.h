/* base/os/os_power.h - what this machine says about going to sleep: how it can sleep, and who
 * prevents it.
 *
 * Facts only: the kernel's files below /sys/power, who is logged in, which inhibitors logind has.
 * root is put before each path ("": this machine), so that tests and containers can provide the
 * files. logind's state is read from its files below /run/systemd: no bus, no call that could wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_POWER_H
#define BASE_OS_OS_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct os;

#define OS_SLEEP_TEXT_MAX 128 /* most bytes of each text, with the terminating zero */

/* Each text is the first line of the kernel's file in /sys/power that has the name of the field;
 * "": there is no such file. */
struct os_sleep_words {
    char state[OS_SLEEP_TEXT_MAX];     /* possible states, such as "freeze mem disk" */
    char mem_sleep[OS_SLEEP_TEXT_MAX]; /* how state "mem" sleeps, such as "s2idle [deep]" */
    /* how state "disk" powers down, such as "[platform] shutdown", "[disabled]" */
    char disk[OS_SLEEP_TEXT_MAX];
    /* device for the image of state "disk", such as "8:2"; "0:0": none */
    char resume[OS_SLEEP_TEXT_MAX];
    bool has_systemd; /* true: systemd is the machine's init process */
};
void os_sleep_words(struct os *os, const char *root, struct os_sleep_words *ret);

/* Returns how many sessions of people there are (root: put before each path, "" on a real machine),
 * by utmp and logind; a session that both know is counted once if it has a terminal.  Writes the
 * name of one user into who; "" if there is none. */
size_t os_sessions(struct os *os, const char *root, char *who, size_t size);

/* Called for a session; id: the name that logind gave it. */
typedef void (*os_session_f)(void *arg, const char *id);
/* Calls each() for every graphical session (X11, Wayland) that logind knows. root: put before each
 * path, "" on a real machine. */
void os_graphical_sessions(struct os *os, const char *root, os_session_f each, void *arg);

/* Called for an inhibitor lock of logind. what: what the lock forbids, such as
 * "sleep:shutdown:idle"; who: the program that holds the lock; why: the program's reason. */
typedef void (*os_inhibitor_f)(void *arg, const char *what, const char *who, const char *why);
/* Calls each() for every inhibitor lock of logind that forbids something; locks that only delay are
 * left out. root: put before each path, "" on a real machine. */
void os_inhibitors(struct os *os, const char *root, os_inhibitor_f each, void *arg);

/* Returns how long the machine has been suspended in all since it booted. */
uint64_t os_suspended_ms(struct os *os);

#endif
