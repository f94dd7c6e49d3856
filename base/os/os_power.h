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

#define OS_SLEEP_TEXT_MAX 128

/* The contents of the kernel's files, without the newline; "": there is no such file. */
struct os_sleep_words {
    char state[OS_SLEEP_TEXT_MAX];     /* "freeze mem disk" */
    char mem_sleep[OS_SLEEP_TEXT_MAX]; /* "s2idle [deep]" */
    char disk[OS_SLEEP_TEXT_MAX];      /* "[platform] shutdown", "[disabled]" */
    char resume[OS_SLEEP_TEXT_MAX];    /* "8:2"; "0:0": no device to read the image from */
    bool has_systemd;                  /* systemd is the machine's init */
};
void os_sleep_words(struct os *os, const char *root, struct os_sleep_words *ret);

/* Returns how many sessions of people there are, by utmp and logind; a session that both know is
 * counted once if it has a terminal.  Writes the name of one user into who; "" if there is none. */
size_t os_sessions(struct os *os, const char *root, char *who, size_t size);

/* Called with the id that logind gave a session. */
typedef void (*os_session_f)(void *arg, const char *id);
/* Calls each() for every graphical session (X11, Wayland) that logind knows. */
void os_graphical_sessions(struct os *os, const char *root, os_session_f each, void *arg);

/* Called for a lock. what: a list such as "sleep:shutdown:idle"; who: the program; why: its
 * reason. */
typedef void (*os_inhibitor_f)(void *arg, const char *what, const char *who, const char *why);
/* Calls each() for every lock of logind that forbids something; locks that only delay it are left
 * out. */
void os_inhibitors(struct os *os, const char *root, os_inhibitor_f each, void *arg);

/* Returns how long the machine has been suspended in all since it booted. */
uint64_t os_suspended_ms(struct os *os);

#endif
