/* base/os/os_power.h - what this machine says of going to sleep: how it can, and who holds it back.
 *
 * Facts only: the kernel's words below /sys/power, who is logged in, what logind's inhibitors say.
 * root is put before each path ("": this machine), so that tests and containers can say what is
 * there.  logind is asked through what it writes below /run/systemd: no bus, no call that could
 * wait.
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

struct os_sleep_words { /* as they stand in the files, without the newline; "": there is none */
    char state[OS_SLEEP_TEXT_MAX];     /* "freeze mem disk" */
    char mem_sleep[OS_SLEEP_TEXT_MAX]; /* "s2idle [deep]" */
    char disk[OS_SLEEP_TEXT_MAX];      /* "[platform] shutdown", "[disabled]" */
    char resume[OS_SLEEP_TEXT_MAX];    /* "8:2", "0:0": where the image would be looked for */
    bool has_systemd;                  /* it is the machine's init */
};
void os_sleep_words(struct os *os, const char *root, struct os_sleep_words *ret);

/* How many sessions of people there are (utmp and logind; one that both know is counted once where
 * it has a terminal); the name of one of them in who, "" if none. */
size_t os_sessions(struct os *os, const char *root, char *who, size_t size);

/* The sessions of people before a screen (X11, Wayland), that logind knows: their ids. */
typedef void (*os_session_f)(void *arg, const char *id);
void os_graphical_sessions(struct os *os, const char *root, os_session_f each, void *arg);

/* A lock of logind's that forbids: what is a list as "sleep:shutdown:idle". */
typedef void (*os_inhibitor_f)(void *arg, const char *what, const char *who, const char *why);
void os_inhibitors(struct os *os, const char *root, os_inhibitor_f each, void *arg);

/* For how long the machine has been suspended since it was booted. */
uint64_t os_suspended_ms(struct os *os);

#endif
