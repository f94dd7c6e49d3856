/* base/daemon/prepared.h - programs that are started as copies of a process which has made itself
 * ready.
 *
 * Problem: to start a program costs its linking and what its libraries set up, each time, in CPU
 * and in memory that no two processes share: 1.2 MB of private memory for a starter, nearly all of
 * it OpenSSL's tables and addresses that the linker filled in.  Way: one process of the program
 * does all that once, before it knows anything of any run, and forks for each start (os_prepare(),
 * and os_spawn() with .prepared); what nobody writes to is then shared by all copies.
 *
 * A copy is a process as any other: not its parent's to reap, in a session of its own, with the
 * arguments and the environment that were asked for, also in /proc (ps, os_marked_kill()), so that
 * whoever kills it kills it alone.  The prepared process holds no secret, has nothing open but its
 * socket, takes orders from who started it only, and ends with that one.  When it is dead or does
 * not answer, programs are started as ever.
 *
 * What copies have in common is where things lie in memory, and the canary of their stacks: who can
 * read one starter's memory knows those of its siblings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DAEMON_PREPARED_H
#define BASE_DAEMON_PREPARED_H

#include <stdint.h>

#define PREPARED_ARGUMENT    "-prepared"
#define PREPARED_ROOM        "ROOST_PREPARED_ROOM" /* a variable that keeps room for others */
#define PREPARED_ARG_BYTES   8192                  /* room for arguments, in one argument */
#define PREPARED_ENV_BYTES   8192                  /* and for what env_add adds */
#define PREPARED_ORDER_BYTES 16384                 /* of an order */

/* An order is this, then so many zero-terminated strings: the directory, arguments, variables. */
struct prepared_order {
    uint32_t argument_count, variable_count;
};

/* To say that it is ready, with pid 0; then one for each order. */
struct prepared_answer {
    int32_t error; /* errno; 0: pid runs */
    int32_t pid;
};

/* To be called first in main().  A process that was not started by os_prepare() comes back at once,
 * with NULL.  One that was calls warm(), serves, and comes back only in the copies, with their
 * arguments (*argv, not what it points to, is the caller's to free) and what warm() returned; it
 * ends with status 0 when nobody can give it orders any more. */
void *prepared_main(int *argc, char ***argv, void *(*warm)(void));

#endif
