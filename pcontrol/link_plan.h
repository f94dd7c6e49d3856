/* pcontrol/link_plan.h - takes apart what a pclient sends after "follow".
 *
 * Format: docs/protocol/pclient.md.  Pure: the caller brings the bytes as they come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_LINK_PLAN_H
#define PCONTROL_LINK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define LINK_LINE_MAX  ((size_t)64 << 10) /* most bytes of a line of a pclient */
#define LINK_NOISE_MAX ((size_t)1 << 20)  /* most bytes of a login shell's greeting */
#define LINK_NONCE_MAX 40
#define LINK_TOKEN_MAX 40
#define LINK_WORD_MAX  20

enum link_kind {
    LINK_FOLLOWS, /* pclient is there: namespaces, lease_s, token */
    LINK_STARTED, /* pid */
    LINK_REFUSED, /* text */
    LINK_OK,
    LINK_PONG,   /* token */
    LINK_OUTPUT, /* stream, data */
    LINK_DONE,
    LINK_ENDED, /* end */
};

struct link_end {            /* how a job has ended */
    bool crashed;            /* true: CRASH, false: EXIT */
    int code;                /* number of the signal, or exit status */
    char why[LINK_WORD_MAX]; /* "timeout", "killed"; "": the job's own doing */
    double user_cpu_s, system_cpu_s;
    int64_t max_rss_kib;
};

struct link_message {
    enum link_kind kind;
    bool namespaces; /* of LINK_FOLLOWS: true: the jobs are in a PID namespace */
    int64_t lease_s;
    char token[LINK_TOKEN_MAX];
    int64_t pid;
    int stream;       /* 1: standard output, 2: standard error */
    const char *data; /* output, or the reason of LINK_REFUSED; within the input */
    size_t length;
    struct link_end end;
};

struct link_reader {
    char nonce[LINK_NONCE_MAX];
    bool follows;       /* the answer to "follow" has come */
    size_t noise_bytes; /* dropped before it */
    int stream;         /* of the output whose bytes are being read */
    size_t left;        /* how many of them are still to come */
};

enum link_read {
    LINK_MESSAGE, /* *ret is the next message */
    LINK_MORE,    /* the input holds no further message */
    LINK_BAD,     /* not what a pclient sends; err says what */
};

void link_reader_init(struct link_reader *reader, const char *nonce);
/* Reads the next message from data[0..length), and sets *used to the bytes that the caller is to
 * drop before the next call, also for LINK_MORE.  What ret points to lies within data. */
enum link_read link_plan_read(struct link_reader *reader, const char *data, size_t length,
                              size_t *used, struct link_message *ret, struct err *err);

#endif
