/* cli/wait_log.c - `roost wait LOG`: waits for the end of the jobs in a job event log, like
 * condor_wait.
 *
 * The log is read as it grows.  No daemon is asked, so the command works wherever the log can be
 * read.  It looks five times a second, because a log on a file server does not signal its growth.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/wait_log.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/wait_log_plan.h"
#include "eventlog/event_reader.h"

#define LOOK_MS    200
#define READ_BYTES ((size_t)64 << 10)

struct following {
    struct cli *cli;
    struct wait_log *wait;
    struct event_reader *reader;
    struct os_file *file;
    char *buffer;
    uint64_t at;
};

/* Processes what has been appended to the log so far.  Returns 0 or -errno. */
static int read_on(struct following *following)
{
    struct event_entry event;
    struct strbuf out;
    ssize_t got = 0;
    strbuf_init(&out, 0);
    while (!wait_log_is_done(following->wait) || following->wait->number == 0) {
        got = os_file_read(following->file, following->at, following->buffer, READ_BYTES);
        if (got <= 0) {
            break;
        }
        following->at += (uint64_t)got;
        event_reader_feed(following->reader, following->buffer, (size_t)got);
        while (event_reader_next(following->reader, &event)) {
            wait_log_event(following->wait, &event, &out);
        }
        (void)fputs(strbuf_text(&out), stdout);
        strbuf_clear(&out);
    }
    (void)fflush(stdout); /* seen at the end, too */
    strbuf_fini(&out);
    return got < 0 ? (int)got : 0;
}

int wait_log_follow(struct cli *cli, const char *path, struct wait_log *wait, int64_t timeout_s)
{
    struct err err;
    struct following following = {.cli = cli, .wait = wait};
    int rc = os_file_open(cli->os, path, OS_READ, 0, &following.file, &err);
    if (rc != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    following.reader = event_reader_create();
    following.buffer = mem_alloc(READ_BYTES);
    uint64_t begin_ms = loop_now_ms(cli->loop);
    uint64_t most_ms = (uint64_t)timeout_s * 1000;
    bool expired = false;
    rc = read_on(&following);
    while (rc == 0 && !wait_log_is_done(wait) && !expired) {
        uint64_t spent_ms = loop_now_ms(cli->loop) - begin_ms;
        expired = timeout_s > 0 && spent_ms >= most_ms;
        if (!expired) {
            uint64_t left_ms = timeout_s > 0 ? most_ms - spent_ms : LOOK_MS;
            cli_pause(cli, left_ms < LOOK_MS ? left_ms : LOOK_MS);
            rc = read_on(&following);
        }
    }
    bool done = wait_log_is_done(wait);
    event_reader_destroy(following.reader);
    mem_free(following.buffer);
    os_file_close(following.file);
    if (rc != 0) {
        return cli_fail(cli, "%s: %s", path, err_code_text(rc));
    }
    if (!done) {
        (void)printf("Time expired.\n");
        return CLI_FAILED;
    }
    (void)printf(wait->number > 0 ? "%lld jobs done.\n" : "All jobs done.\n",
                 (long long)wait->number);
    return CLI_OK;
}
