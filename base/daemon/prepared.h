/* base/daemon/prepared.h - programs that are started as copies of a process that has prepared
 * itself.
 *
 * Problem: to start a program costs dynamic linking and the set-up of its libraries, each time, in
 * CPU and in memory that processes do not share: 1.2 MB of private memory for a starter, nearly all
 * of it OpenSSL's tables and addresses that the linker filled in.
 *
 * Solution: one process of the program does all that once, before it knows anything about any run,
 * and forks for each start (os_prepare(), and os_spawn() with .prepared).  Memory that nobody
 * writes to is then shared by all copies.
 *
 * A copy is an ordinary process: not a child of the prepared one, in a session of its own, with the
 * arguments and the environment that were asked for, which /proc shows too (ps, os_marked_kill()).
 * The prepared process holds no secret, has no descriptor open but its socket, takes orders only
 * from the process that started it, and ends with that process.  When it is dead or does not
 * answer, programs are started in the normal way.
 *
 * Copies share the addresses of their memory and the canary of their stacks: an attacker who can
 * read one starter's memory knows the addresses and the canary of all starters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DAEMON_PREPARED_H
#define BASE_DAEMON_PREPARED_H

#include <stdint.h>

/* The argument by which os_prepare() tells the program to prepare itself. */
#define PREPARED_ARGUMENT "-prepared"
/* Environment variable that only reserves memory, into which a copy writes its own environment. */
#define PREPARED_ROOM "ROOST_PREPARED_ROOM"
/* bytes reserved for a copy's arguments, in one long argument of the prepared process */
#define PREPARED_ARG_BYTES 8192
/* bytes reserved for the environment variables that an order adds (env_add of struct os_spawn) */
#define PREPARED_ENV_BYTES   8192
#define PREPARED_ORDER_BYTES 16384 /* largest order to start a copy, bytes */

/* An order to start a copy: this struct, then zero-terminated strings: directory, arguments,
 * variables. */
struct prepared_order {
    uint32_t argument_count, variable_count;
};

/* Answer of the prepared process.  The first answer has pid 0 and means that the process
 * is ready.  Then comes one answer for each order. */
struct prepared_answer {
    int32_t error; /* 0: the copy runs as pid; else a positive errno */
    int32_t pid;
};

/* Must be called first in main().  In a process that os_prepare() did not start, returns NULL at
 * once.  In a process that os_prepare() started, calls warm(), then serves orders, and returns
 * only in the copies: with their arguments (the caller frees *argv, not the strings) and with
 * what warm() returned.  The prepared process itself exits with status 0 when no more orders can
 * come. */
void *prepared_main(int *argc, char ***argv, void *(*warm)(void));

#endif
