/* base/daemon/daemon_run.h - the part of a daemon's life that is the same in a real process and in
 * the simulator.
 *
 * daemon_main() makes a real loop and a real os, calls daemon_run_start(), runs the loop, and calls
 * daemon_run_destroy(); the simulator does the same with its own loop and os.  So that both can use
 * it, each daemon's table is in its library, not in main.c, under the name of its folder:
 * collector/collector.h declares collector_daemon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DAEMON_DAEMON_RUN_H
#define BASE_DAEMON_DAEMON_RUN_H

#include <stdbool.h>

struct daemon;
struct daemon_run;
struct err;
struct log;
struct log_sink;
struct loop;
struct os;

/* Parses the arguments, loads the configuration, opens the log (sink NULL: the file that -log or
 * the configuration names), locks the daemon's lock file, registers signals and calls the daemon's
 * start().  Reads the machine only through loop and os.  Returns 0 and sets *ret; or the exit
 * status for the process, 1 (it could not start) or 3 (another instance holds the lock), with err
 * set and, if the log was open, logged. argv must outlive *ret. */
int daemon_run_start(const struct daemon *daemon, struct loop *loop, struct os *os,
                     const struct log_sink *sink, int argc, char *const *argv,
                     struct daemon_run **ret, struct err *err);
/* If the arguments ask for it (-check), loads the configuration and checks it as a reload does;
 * nothing else is done.  Each doubt (daemon_checking.h) is given to doubt(), whose arg means
 * nothing.  Returns 0, or -errno with err set. *asked: whether the arguments ask for it. */
int daemon_run_check(const struct daemon *daemon, struct loop *loop, struct os *os, int argc,
                     char *const *argv, void (*doubt)(void *arg, const char *text), bool *asked,
                     struct err *err);
/* Calls the daemon's destroy() and gives up the daemon's lock file.  To be called after the loop
 * has stopped.  NULL is allowed. */
void daemon_run_destroy(struct daemon_run *run);

/* Does what daemon_main() does, in a process that made an object (`begun`) before it had a loop,
 * such as the result of stream_run_warm().  Calls adopt(loop, begun), unless adopt is NULL, before
 * the start() of the daemon; adopt() must give the object to the loop. */
int daemon_main_begun(const struct daemon *daemon, int argc, char **argv,
                      void (*adopt)(struct loop *loop, void *begun), void *begun);

/* Returns the state that the daemon's start() made; NULL: start() has not returned 0 yet. */
void *daemon_run_state(const struct daemon_run *run);
struct log *daemon_run_log(const struct daemon_run *run);

#endif
