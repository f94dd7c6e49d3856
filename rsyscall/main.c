/* rsyscall/main.c - roost-rsys-serve: only the server of remote system calls, with the rights of
 * the user who starts it.  For tests and benchmarks; in a pool, the shadow contains the server.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/stream/stream.h"
#include "base/text.h"
#include "rsyscall/rsys.h"
#include "rsyscall/server.h"

static const char USAGE[] =
    "usage: roost-rsys-serve --listen ADDRESS --ticket-file FILE --root VIEW=DIRECTORY ...\n"
    "  --listen ADDRESS       tcp:127.0.0.1:0 (with TLS) or unix:/path\n"
    "  --ticket-file FILE     file whose first line a client must present; may be repeated: one\n"
    "                         independent job for each file\n"
    "  --root VIEW=DIRECTORY  the client sees DIRECTORY at the absolute path VIEW\n"
    "  --ro-root VIEW=DIRECTORY  the same, read-only\n"
    "  --readonly PATH, --hide PATH  make a part of the roots read-only, or hide it\n"
    "  --write DIRECTORY, --output PATH, --start DIRECTORY  only these may be changed\n"
    "  --home DIRECTORY       names in it that begin with a dot may not be changed\n"
    "  --began MILLISECONDS   programs older than this may not be changed; milliseconds since\n"
    "                         1970 (now)\n"
    "  --stay                 do not enter file systems that are mounted below a root\n"
    "  --lease DURATION       close the files of a client that is silent for this long\n"
    "  --max-bytes SIZE, --max-files N, --handles N, --lanes N  limits\n"
    "Prints 'listening ADDRESS' and 'pin SHA256', then serves until SIGTERM.\n";

#define JOBS_MAX 8

struct serve {
    struct loop *loop;
    struct os *os;
    struct log *log;
    struct tls_identity *identity;
    struct listener *listener;
    struct rsys_server *server;
    struct rsys_job *jobs[JOBS_MAX];
    const char *listen, *ticket_files[JOBS_MAX];
    size_t job_count;
    struct rsys_offer offer;
    struct rsys_offer_root roots[RSYS_ROOTS_MAX];
    struct rsys_offer_part parts[RSYS_PARTS_MAX];
    struct rsys_offer_grant grants[RSYS_GRANTS_MAX];
};

/* ---- options --------------------------------------------------------------------------------- */

static int add_root(struct serve *serve, char *value, bool readonly)
{
    char *equals = strchr(value, '=');
    if (equals == NULL || serve->offer.root_count == RSYS_ROOTS_MAX) {
        return -EINVAL;
    }
    *equals = '\0';
    serve->roots[serve->offer.root_count++] =
        (struct rsys_offer_root){.view = value, .directory = equals + 1, .readonly = readonly};
    return 0;
}

static int add_part(struct serve *serve, const char *value, bool hidden)
{
    if (serve->offer.part_count == RSYS_PARTS_MAX) {
        return -EINVAL;
    }
    serve->parts[serve->offer.part_count++] =
        (struct rsys_offer_part){.path = value, .hidden = hidden};
    return 0;
}

static int add_grant(struct serve *serve, const char *name, const char *value)
{
    if (serve->offer.grant_count == RSYS_GRANTS_MAX) {
        return -EINVAL;
    }
    struct rsys_offer_grant *grant = &serve->grants[serve->offer.grant_count++];
    grant->kind = strcmp(name, "--write") == 0   ? RSYS_GRANT_GIVEN
                  : strcmp(name, "--start") == 0 ? RSYS_GRANT_START
                                                 : RSYS_GRANT_OUTPUT;
    grant->path = value;
    serve->offer.guarded = true;
    return 0;
}

static int take_number(const char *value, int64_t max, int64_t *ret)
{
    int code = text_parse_size(value, ret, NULL);
    return code == 0 && (*ret < 1 || *ret > max) ? -EINVAL : code;
}

static int take_limit(struct rsys_limits *limits, const char *name, const char *value)
{
    int64_t number = 0;
    int code = -EINVAL;
    if (strcmp(name, "--lease") == 0) {
        code = text_parse_duration_ms(value, &number, NULL);
        code = code == 0 && (number < 1 || number > UINT32_MAX) ? -EINVAL : code;
        limits->lease_ms = (uint32_t)number;
    } else if (strcmp(name, "--max-bytes") == 0) {
        code = take_number(value, INT64_MAX, &number);
        limits->bytes_max = (uint64_t)number;
    } else if (strcmp(name, "--max-files") == 0) {
        code = take_number(value, INT64_MAX, &number);
        limits->files_max = (uint64_t)number;
    } else if (strcmp(name, "--handles") == 0) {
        code = take_number(value, 1000000, &number);
        limits->handles = (uint32_t)number;
    } else if (strcmp(name, "--lanes") == 0) {
        code = take_number(value, 32, &number);
        limits->lanes = (uint32_t)number;
    }
    return code;
}

static int take_option(struct serve *serve, const char *name, char *value)
{
    if (strcmp(name, "--listen") == 0) {
        serve->listen = value;
    } else if (strcmp(name, "--ticket-file") == 0) {
        if (serve->job_count == JOBS_MAX) {
            return -EINVAL;
        }
        serve->ticket_files[serve->job_count++] = value;
    } else if (strcmp(name, "--root") == 0 || strcmp(name, "--ro-root") == 0) {
        return add_root(serve, value, strcmp(name, "--ro-root") == 0);
    } else if (strcmp(name, "--readonly") == 0 || strcmp(name, "--hide") == 0) {
        return add_part(serve, value, strcmp(name, "--hide") == 0);
    } else if (strcmp(name, "--write") == 0 || strcmp(name, "--output") == 0 ||
               strcmp(name, "--start") == 0) {
        return add_grant(serve, name, value);
    } else if (strcmp(name, "--home") == 0) {
        serve->offer.home = value;
    } else if (strcmp(name, "--began") == 0) {
        return text_parse_int64(value, &serve->offer.began_ms, NULL);
    } else {
        return take_limit(&serve->offer.limits, name, value);
    }
    return 0;
}

static int take_options(struct serve *serve, int argc, char **argv)
{
    serve->offer.limits = RSYS_LIMITS_DEFAULT;
    serve->offer.roots = serve->roots;
    serve->offer.parts = serve->parts;
    serve->offer.grants = serve->grants;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--stay") == 0) {
            serve->offer.stay_on_device = true;
        } else if (i + 1 == argc || take_option(serve, argv[i], argv[i + 1]) != 0) {
            return -EINVAL;
        } else {
            i++;
        }
    }
    return serve->listen != NULL && serve->job_count > 0 && serve->offer.root_count > 0 ? 0
                                                                                        : -EINVAL;
}

/* ---- serving --------------------------------------------------------------------------------- */

static void on_incoming(void *arg, struct incoming *incoming)
{
    struct serve *serve = arg;
    rsys_server_take(serve->server, incoming, serve->identity);
}

static void on_end(void *arg)
{
    struct serve *serve = arg;
    loop_stop(serve->loop, 0);
}

static int64_t utc_ms(void *context)
{
    const struct serve *serve = context;
    return loop_wall_ms(serve->loop);
}

static int open_job(struct serve *serve, size_t number, struct err *err)
{
    char *ticket = NULL;
    size_t length = 0;
    int code = os_read_file(serve->os, serve->ticket_files[number], RSYS_TICKET_MAX + 1, &ticket,
                            &length, err);
    if (code != 0) {
        return code;
    }
    ticket[strcspn(ticket, "\n")] = '\0';
    code = rsys_job_open(serve->server, ticket, &serve->offer, &serve->jobs[number]);
    mem_free(ticket);
    if (code == -EEXIST) {
        return err_set(err, code, "%s: another file has the same ticket",
                       serve->ticket_files[number]);
    }
    return code == 0 ? 0
                     : err_set(err, code,
                               "%s: the ticket is empty or too long; or a path is not absolute, "
                               "there are too many paths, or a limit is 0 or too high",
                               serve->ticket_files[number]);
}

static int start_server(struct serve *serve, struct err *err)
{
    int code = loop_create(&serve->loop, err);
    if (code == 0) {
        code = os_create(serve->loop, &serve->os, err);
    }
    if (code == 0) {
        code = tls_identity_ephemeral(serve->loop, "roost-rsys-serve", &serve->identity, err);
    }
    if (code != 0) {
        return code;
    }
    serve->log = log_create("rsys-serve", LOG_LEVEL_INFO, log_sink_stderr(),
                            (struct log_clock){.utc_ms = utc_ms, .context = serve});
    if (serve->offer.began_ms == 0) {
        serve->offer.began_ms = loop_wall_ms(serve->loop);
    }
    serve->server =
        rsys_server_create(&(struct rsys_server_options){.loop = serve->loop, .log = serve->log});
    for (size_t i = 0; code == 0 && i < serve->job_count; i++) {
        code = open_job(serve, i, err);
    }
    if (code != 0) {
        return code;
    }
    code = listener_create(serve->loop, serve->listen, on_incoming, serve, &serve->listener, err);
    if (code == 0) {
        loop_on_signal(serve->loop, SIGTERM, on_end, serve);
        loop_on_signal(serve->loop, SIGINT, on_end, serve);
        (void)printf("listening %s\npin %s\n", listener_address(serve->listener),
                     tls_identity_pin(serve->identity));
        (void)fflush(stdout);
    }
    return code;
}

static void say_stats(const struct rsys_job *job)
{
    struct rsys_stats stats;
    rsys_job_get_stats(job, &stats);
    (void)printf("requests %" PRIu64 " at_once %" PRIu64 " malformed %" PRIu64 " repeated %" PRIu64
                 " read %" PRIu64 " written %" PRIu64 " queued_peak %" PRIu64 "\n",
                 stats.requests, stats.at_once, stats.malformed, stats.repeated, stats.bytes_read,
                 stats.bytes_written, stats.queued_peak);
}

static void finish_server(struct serve *serve)
{
    listener_destroy(serve->listener);
    rsys_server_destroy(serve->server);
    tls_identity_destroy(serve->identity);
    log_destroy(serve->log);
    os_destroy(serve->os);
    loop_destroy(serve->loop);
}

int main(int argc, char **argv)
{
    struct serve serve = {0};
    struct err err;
    if (take_options(&serve, argc, argv) != 0) {
        (void)fputs(USAGE, stderr);
        return 2;
    }
    int status = 1;
    if (start_server(&serve, &err) == 0) {
        status = loop_run(serve.loop);
        for (size_t i = 0; i < serve.job_count; i++) {
            say_stats(serve.jobs[i]);
        }
    } else {
        (void)fprintf(stderr, "roost-rsys-serve: %s\n", err.text);
    }
    finish_server(&serve);
    return status;
}
