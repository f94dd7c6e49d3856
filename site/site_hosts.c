/* site/site_hosts.c - see site_hosts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_hosts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "site/site_common.h"
#include "site/site_rounds.h"

#define MS_PER_S 1000
#define ENV      "/usr/bin/env" /* finds the transport in PATH, and sets variables before it */
#define SHELL    "sh"
#define HOST     "%h" /* in the words of the transport: the name of the host */
#define SSH                                                                      \
    "ssh -T -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o " \
    "ControlMaster=no"
#define LOCAL_NAME     "local"
#define LOCAL_PER_HOST 100   /* glideins on this machine */
#define PER_HOST_MAX   1000  /* ... and on any */
#define CONNECTS       32    /* hosts that are spoken with at the same time */
#define HOST_TIMEOUT_S 20    /* for a host to answer what takes no time */
#define LEASE_EXTRA_S  300   /* of a glidein, which ends by itself before */
#define LEASE_MAX_S    86400 /* of a detached job (docs/protocol/pclient.md) */
#define LEASE_MIN_S    2     /* of a pclient */
#define LOG_BYTES      ((size_t)64 << 10)
#define FOLLOW         "roost-site"
#define FOLLOWS        "FOLLOW " FOLLOW " "
#define NO_LOG_STATUS  3 /* site_script_log() */

/* ---- the hosts ------------------------------------------------------------------------------- */

static void host_free(void *item)
{
    struct site_host *host = item;
    vec_fini(&host->argv, mem_free);
    vec_fini(&host->names, mem_free);
    strbuf_fini(&host->script);
    strbuf_fini(&host->jobs);
    mem_free(host->name);
    mem_free(host);
}

static struct site_host *host_add(struct site_hosts *hosts, const char *name)
{
    struct site_host *host = mem_zalloc(sizeof(*host));
    host->name = mem_strdup(name);
    strbuf_init(&host->script, 0);
    strbuf_init(&host->jobs, 0);
    vec_push(&hosts->all, host);
    return host;
}

static enum site_result begin_common(struct site *site, int64_t per_host, struct err *err)
{
    struct site_hosts *hosts = site->own = mem_zalloc(sizeof(*hosts));
    char folder[4096];
    struct strbuf path;
    hosts->connects = CONNECTS;
    hosts->timeout_s = HOST_TIMEOUT_S;
    hosts->directory = site_option(site, "directory", NULL);
    hosts->pilot = site_option(site, "pilot", NULL);
    if (hosts->directory != NULL && hosts->directory[0] != '/') {
        (void)err_set(err, -EINVAL, "directory = '%s': the path must begin with '/'",
                      hosts->directory);
        return SITE_WRONG;
    }
    os_program_dir(site->os, folder, sizeof(folder));
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/pclient", folder);
    hosts->pclient = strbuf_take(&path);
    return site_option_number(site, "per_host", 1, PER_HOST_MAX, per_host, &hosts->per_host, err) ==
                   0
               ? SITE_DONE
               : SITE_WRONG;
}

static void set_pclient(struct site *site, const char *fallback)
{
    struct site_hosts *hosts = site->own;
    const char *path = site_option(site, "pclient", fallback);
    if (path != NULL) {
        mem_free(hosts->pclient);
        hosts->pclient = mem_strdup(path);
    }
}

enum site_result site_hosts_begin_local(struct site *site, json_t *answer, struct err *err)
{
    enum site_result result = begin_common(site, LOCAL_PER_HOST, err);
    (void)answer;
    set_pclient(site, NULL);
    struct site_host *host = host_add(site->own, LOCAL_NAME);
    vec_push(&host->argv, mem_strdup("/bin/" SHELL));
    vec_push(&host->argv, NULL);
    return result;
}

static void set_command(struct site_host *host, const struct vec *words)
{
    bool named = false;
    vec_push(&host->argv, mem_strdup(ENV));
    for (size_t i = 0; i < words->count; i++) {
        vec_push(&host->argv, text_insert(words->items[i], HOST, host->name, &named));
    }
    if (!named) {
        vec_push(&host->argv, mem_strdup(host->name));
    }
    vec_push(&host->argv, mem_strdup(SHELL));
    vec_push(&host->argv, NULL);
}

static int add_hosts(struct site *site, struct err *err)
{
    const char *list = site_option(site, "hosts", NULL);
    const char *ssh = site_option(site, "ssh", SSH);
    struct vec names = {0}, words = {0};
    if (list == NULL) {
        return err_set(err, -EINVAL, "the option 'hosts' is missing: a list such as 'lab[01-16]'");
    }
    int rc = hostlist_expand(list, NULL, &names, err);
    rc = rc != 0 ? err_prefix(err, rc, "hosts") : rc;
    if (rc == 0 && names.count == 0) {
        rc = err_set(err, -EINVAL, "hosts = '%s': no host", list);
    }
    if (rc == 0) {
        rc = shell_words_parse(ssh, strlen(ssh), &words, err);
        rc = rc != 0 ? err_prefix(err, rc, "ssh") : rc;
    }
    if (rc == 0 && words.count == 0) {
        rc = err_set(err, -EINVAL, "ssh = '': no command");
    }
    for (size_t i = 0; rc == 0 && i < names.count; i++) {
        const char *name = names.items[i];
        if (name[0] == '-' || name[0] == '.' || strchr(name, '/') != NULL) {
            rc = err_set(err, -EINVAL, "hosts: '%s' is not the name of a host", name);
        } else {
            set_command(host_add(site->own, name), &words);
        }
    }
    vec_fini(&names, mem_free);
    vec_fini(&words, mem_free);
    return rc;
}

enum site_result site_hosts_begin_remote(struct site *site, json_t *answer, struct err *err)
{
    (void)answer;
    if (begin_common(site, 1, err) != SITE_DONE) {
        return SITE_WRONG;
    }
    struct site_hosts *hosts = site->own;
    int rc = site_option_bool(site, "copy", false, &hosts->copy, err);
    rc = rc == 0 ? site_option_number(site, "connects", 1, 10000, CONNECTS, &hosts->connects, err)
                 : rc;
    rc = rc == 0 ? site_option_number(site, "host_timeout", 1, 3600, HOST_TIMEOUT_S,
                                      &hosts->timeout_s, err)
                 : rc;
    if (rc == 0 && hosts->copy && hosts->pilot != NULL) {
        rc = err_set(err, -EINVAL,
                     "'pilot' names a file that is on the hosts, and 'copy' brings "
                     "another one there; give only one of the two");
    }
    set_pclient(site, hosts->copy ? NULL : "pclient");
    rc = rc == 0 ? add_hosts(site, err) : rc;
    return rc == 0 ? SITE_DONE : SITE_WRONG;
}

void site_hosts_end(struct site *site)
{
    struct site_hosts *hosts = site->own;
    if (hosts != NULL) {
        vec_fini(&hosts->all, host_free);
        mem_free(hosts->pclient);
        mem_free(hosts);
        site->own = NULL;
    }
}

/* ---- submit ---------------------------------------------------------------------------------- */

struct started {
    size_t taken, unknown;
    char why[SITE_COMPLAINT_MAX + 400]; /* one of those that are not taken */
};

/* Gives each glidein of the batch that no host knows to a host with room, the emptiest first.
 * Returns how many are known. */
static size_t share_out(const struct site_hosts *hosts, const struct site_request *request,
                        struct strmap *seen, size_t *given)
{
    size_t known = 0;
    *given = 0;
    for (int64_t number = 1; number <= request->count; number++) {
        char name[SITE_NAME_MAX + 16];
        struct site_host *best = NULL;
        (void)snprintf(name, sizeof(name), "%s.%lld", request->batch, (long long)number);
        if (strmap_get(seen, name) != NULL) {
            known++;
            continue;
        }
        for (size_t i = 0; i < hosts->all.count; i++) {
            struct site_host *host = hosts->all.items[i];
            size_t used = host->running + host->names.count;
            if (host->answered && used < (size_t)hosts->per_host &&
                (best == NULL || used < best->running + best->names.count)) {
                best = host;
            }
        }
        if (best != NULL) {
            vec_push(&best->names, mem_strdup(name));
            ++*given;
        }
    }
    return known;
}

/* Reads the answers to the jobs of a host. */
static void count_started(struct site_host *host, struct site_program *program, struct started *ret)
{
    const char *out = strbuf_text(&program->out), *at = strstr(out, FOLLOWS);
    size_t answers = 0;
    at = at != NULL ? strchr(at, '\n') : NULL;
    for (; at != NULL && at[1] != '\0' && answers < host->names.count; answers++) {
        const char *line = at + 1;
        at = strchr(line, '\n');
        if (at == NULL) {
            break; /* it may go on */
        }
        bool refused = strncmp(line, "-1 ", 3) == 0;
        if (refused && strstr(line, "a detached job has the mark") == NULL) {
            (void)snprintf(ret->why, sizeof(ret->why), "host %s: %.*s", host->name,
                           (int)(at - line - 3 < 300 ? at - line - 3 : 300), line + 3);
        } else {
            ret->taken++;
        }
    }
    size_t rest = host->names.count - answers;
    bool asked = program->step > 1 && (program->step > 2 || program->written > 0);
    if (rest > 0) {
        char why[SITE_COMPLAINT_MAX + 64];
        site_program_why(program, why, sizeof(why));
        (void)snprintf(ret->why, sizeof(ret->why), "host %s: %s", host->name, why);
        ret->unknown += asked ? rest : 0;
    }
}

static void start_glideins(const struct site *site, const struct site_request *request,
                           const struct site_script *paths, struct started *ret)
{
    const struct site_hosts *hosts = site->own;
    uint64_t now_ms = loop_now_ms(site->loop);
    /* Half of the time for the way there, and as much for the lease of the pclient. */
    uint64_t half_ms = site->end_ms > now_ms ? (site->end_ms - now_ms) / 2 : 0;
    int64_t lease_s = (int64_t)(half_ms / MS_PER_S);
    if (lease_s < LEASE_MIN_S) {
        (void)snprintf(ret->why, sizeof(ret->why), "the deadline is too near");
        return;
    }
    for (size_t i = 0; i < hosts->all.count; i++) {
        struct site_host *host = hosts->all.items[i];
        const char *const *names = (const char *const *)host->names.items;
        struct site_script script = *paths;
        script.host = host->name;
        host->asked = host->asked && host->answered && host->names.count > 0;
        strbuf_clear(&host->script);
        if (host->asked) {
            site_script_start(&script, names, host->names.count, request, lease_s, &host->script);
            site_script_jobs(&script, names, host->names.count, request,
                             request->lifetime_s + LEASE_EXTRA_S, &host->jobs);
        }
    }
    struct site_round round = site_round_make(hosts);
    for (size_t i = 0; i < round.count; i++) {
        struct site_program *program = &round.programs[i];
        program->steps[1] = (struct site_step){.await = SITE_SCRIPT_READY,
                                               .text = "follow " FOLLOW "\n",
                                               .length = strlen("follow " FOLLOW "\n")};
        program->steps[2] = (struct site_step){.await = FOLLOWS,
                                               .text = strbuf_text(&round.hosts[i]->jobs),
                                               .length = round.hosts[i]->jobs.length};
        program->step_count = 3;
        program->limit_ms = 0;
        program->steps_end_ms = now_ms + half_ms;
    }
    site_programs_run(site->loop, site->os, round.programs, round.count, (size_t)hosts->connects,
                      site->end_ms);
    for (size_t i = 0; i < round.count; i++) {
        count_started(round.hosts[i], &round.programs[i], ret);
        if (!site_program_succeeded(&round.programs[i])) {
            site_host_failed(site, round.hosts[i], &round.programs[i]);
        }
    }
    site_round_free(&round);
}

static enum site_result check_submit(const struct site_hosts *hosts,
                                     const struct site_request *request, struct err *err)
{
    char last[SITE_NAME_MAX + 16];
    const char *pilot = hosts->pilot != NULL ? hosts->pilot : request->pilot;
    (void)snprintf(last, sizeof(last), "%s.%lld", request->batch, (long long)request->count);
    if (strlen(last) > SITE_SCRIPT_NAME_MAX) {
        (void)err_set(err, -ENAMETOOLONG,
                      "'%s': a glidein's name has at most %d bytes at this site", last,
                      SITE_SCRIPT_NAME_MAX);
        return SITE_WRONG;
    }
    if (request->lifetime_s > LEASE_MAX_S - LEASE_EXTRA_S) {
        (void)err_set(err, -ERANGE, "lifetime %lld: at most %d s at this site",
                      (long long)request->lifetime_s, LEASE_MAX_S - LEASE_EXTRA_S);
        return SITE_WRONG;
    }
    if (pilot[0] != '/') {
        (void)err_set(err, -EINVAL, "pilot '%s': the path must begin with '/'", pilot);
        return SITE_WRONG;
    }
    return SITE_DONE;
}

/* All that is known of what was asked: how it ended, and its answer. */
static enum site_result submit_result(const struct site_hosts *hosts, const struct started *started,
                                      size_t known, size_t given, json_t *answer, struct err *err)
{
    size_t taken = known + started->taken;
    if (started->unknown > 0 || (given > 0 && taken == 0)) {
        (void)err_set(err, -EIO, "%s", started->why);
        return SITE_FAILS;
    }
    if (taken == 0) {
        (void)err_set(err, -EBUSY, "no room: each host that answers runs %lld glideins (per_host)",
                      (long long)hosts->per_host);
        return SITE_REFUSES;
    }
    CHECK(json_object_set_new(answer, "taken", json_integer((json_int_t)taken)) == 0);
    return SITE_DONE;
}

static enum site_result submit_to(const struct site *site, const struct site_request *request,
                                  struct site_brought *pclient, struct site_brought *pilot,
                                  json_t *answer, struct err *err)
{
    const struct site_hosts *hosts = site->own;
    struct strmap *seen = strmap_create(STRMAP_CASE_SENSITIVE);
    uint64_t now_ms = loop_now_ms(site->loop);
    uint64_t third_ms = site->end_ms > now_ms ? (site->end_ms - now_ms) / 3 : 0;
    const char *own = hosts->pilot != NULL ? hosts->pilot : request->pilot;
    struct started started = {.taken = 0};
    size_t given = 0;
    size_t missing = site_round_list(site, true, hosts->copy ? pclient->there : NULL,
                                     hosts->copy ? pilot->there : NULL, now_ms + third_ms, seen);
    size_t known = share_out(hosts, request, seen, &given);
    strmap_destroy(seen, mem_free);
    if (missing == hosts->all.count) {
        return site_round_silence(hosts, err);
    }
    for (size_t i = 0; i < hosts->all.count; i++) {
        struct site_host *host = hosts->all.items[i];
        host->asked = host->names.count > 0;
    }
    if (hosts->copy && given > 0) {
        site_brought_send(site, pclient, false);
        site_brought_send(site, pilot, true);
    }
    if (given > 0) {
        struct site_script paths = {.prefix = site->prefix,
                                    .directory = hosts->directory,
                                    .pclient = hosts->copy ? pclient->there : hosts->pclient,
                                    .pilot = hosts->copy ? pilot->there : own};
        start_glideins(site, request, &paths, &started);
    }
    return submit_result(hosts, &started, known, given, answer, err);
}

enum site_result site_hosts_submit(struct site *site, const struct site_request *request,
                                   json_t *answer, struct err *err)
{
    struct site_hosts *hosts = site->own;
    struct site_brought pclient = {.data = NULL}, pilot = {.data = NULL};
    enum site_result result = check_submit(hosts, request, err);
    if (result == SITE_DONE && hosts->copy &&
        (site_brought_read(site, hosts->pclient, "pclient", &pclient, err) != 0 ||
         site_brought_read(site, request->pilot, "roost-pilot", &pilot, err) != 0)) {
        result = SITE_WRONG;
    }
    if (result == SITE_DONE) {
        result = submit_to(site, request, &pclient, &pilot, answer, err);
    }
    mem_free(pclient.data);
    mem_free(pilot.data);
    return result;
}

/* ---- look, remove, log ----------------------------------------------------------------------- */

static void add_seen(json_t *list, const char *name, const struct site_seen *seen)
{
    char id[HOSTLIST_NAME_MAX + 40], reason[80];
    int64_t status = 0;
    if (seen->runs) {
        (void)snprintf(id, sizeof(id), "%s:%s", seen->host->name, seen->told);
        site_add_glidein(list, name, "running", id, NULL);
        return;
    }
    if (text_parse_int64(seen->told, &status, NULL) != 0) {
        (void)snprintf(reason, sizeof(reason), "killed, or its host was restarted");
    } else if (status > 128) {
        (void)snprintf(reason, sizeof(reason), "signal %lld", (long long)status - 128);
    } else {
        (void)snprintf(reason, sizeof(reason), "exit status %lld", (long long)status);
    }
    site_add_glidein(list, name, "ended", seen->host->name, reason);
}

/* Where pclient is on the hosts, if it is copied: needs its sum. */
static int pclient_there(const struct site *site, struct site_brought *ret, struct err *err)
{
    const struct site_hosts *hosts = site->own;
    return hosts->copy ? site_brought_read(site, hosts->pclient, "pclient", ret, err) : 0;
}

enum site_result site_hosts_look(struct site *site, json_t *answer, struct err *err)
{
    const struct site_hosts *hosts = site->own;
    struct site_brought pclient = {.data = NULL};
    if (pclient_there(site, &pclient, err) != 0) {
        return SITE_WRONG;
    }
    struct strmap *seen = strmap_create(STRMAP_CASE_SENSITIVE);
    json_t *list = json_array();
    size_t missing =
        site_round_list(site, false, hosts->copy ? pclient.there : NULL, NULL, site->end_ms, seen);
    const char *name;
    void *value;
    for (size_t at = 0; strmap_next(seen, &at, &name, &value);) {
        add_seen(list, name, value);
    }
    CHECK(json_object_set_new(answer, "glideins", list) == 0);
    CHECK(json_object_set_new(answer, "complete", json_boolean(missing == 0)) == 0);
    strmap_destroy(seen, mem_free);
    mem_free(pclient.data);
    return missing == hosts->all.count ? site_round_silence(hosts, err) : SITE_DONE;
}

/* Asks all hosts to remove all of the names.  Adds to gone and stays what they say.  Returns how
 * many did not answer. */
static size_t remove_all(const struct site *site, const struct site_request *request,
                         const char *pclient, struct strmap *gone, struct strmap *stays)
{
    const struct site_hosts *hosts = site->own;
    size_t missing = 0;
    for (size_t i = 0; i < hosts->all.count; i++) {
        struct site_host *host = hosts->all.items[i];
        struct site_script script = site_host_script(site, host);
        script.pclient = pclient != NULL ? pclient : script.pclient;
        site_host_reset(host);
        host->asked = true;
        site_script_remove(&script, request->names, request->name_count, &host->script);
    }
    struct site_round round = site_round_make(hosts);
    site_round_run(site, &round, site->end_ms);
    for (size_t i = 0; i < round.count; i++) {
        char words[3][SITE_NAME_MAX + 1];
        const char *at = round.hosts[i]->answered ? strbuf_text(&round.programs[i].out) : "";
        missing += !round.hosts[i]->answered;
        while (site_round_words(&at, words)) {
            if (strcmp(words[0], "G") == 0) {
                (void)strmap_set(gone, words[1], round.hosts[i]);
            } else if (strcmp(words[0], "S") == 0) {
                (void)strmap_set(stays, words[1], round.hosts[i]);
            }
        }
    }
    site_round_free(&round);
    return missing;
}

enum site_result site_hosts_remove(struct site *site, const struct site_request *request,
                                   json_t *answer, struct err *err)
{
    const struct site_hosts *hosts = site->own;
    struct site_brought pclient = {.data = NULL};
    if (pclient_there(site, &pclient, err) != 0) {
        return SITE_WRONG;
    }
    struct strmap *gone = strmap_create(STRMAP_CASE_SENSITIVE);
    struct strmap *stays = strmap_create(STRMAP_CASE_SENSITIVE);
    json_t *removed = json_array();
    size_t missing = remove_all(site, request, hosts->copy ? pclient.there : NULL, gone, stays);
    for (size_t i = 0; i < request->name_count; i++) {
        const char *name = request->names[i];
        if (strmap_get(stays, name) == NULL && (missing == 0 || strmap_get(gone, name) != NULL)) {
            CHECK(json_array_append_new(removed, json_string(name)) == 0);
        }
    }
    CHECK(json_object_set_new(answer, "removed", removed) == 0);
    strmap_destroy(gone, NULL);
    strmap_destroy(stays, NULL);
    mem_free(pclient.data);
    return missing == hosts->all.count ? site_round_silence(hosts, err) : SITE_DONE;
}

enum site_result site_hosts_log(struct site *site, const char *name, char **text, struct err *err)
{
    const struct site_hosts *hosts = site->own;
    size_t missing = 0;
    for (size_t i = 0; i < hosts->all.count; i++) {
        struct site_host *host = hosts->all.items[i];
        struct site_script script = site_host_script(site, host);
        site_host_reset(host);
        host->asked = true;
        site_script_log(&script, name, LOG_BYTES, &host->script);
    }
    struct site_round round = site_round_make(hosts);
    site_programs_run(site->loop, site->os, round.programs, round.count, (size_t)hosts->connects,
                      site->end_ms);
    for (size_t i = 0; i < round.count; i++) {
        struct site_program *program = &round.programs[i];
        const char *found = site_program_succeeded(program) ? site_round_rest(program) : NULL;
        bool none = program->end == SITE_ENDED && program->how.status == NO_LOG_STATUS;
        if (found != NULL && *text == NULL) {
            *text = mem_strdup(found);
        }
        missing += found == NULL && !none;
    }
    site_round_free(&round);
    if (*text != NULL) {
        return SITE_DONE;
    }
    (void)err_set(err, -ENOENT, "no output of %s is known%s", name,
                  missing > 0 ? "; not all hosts answer" : " here");
    return missing > 0 ? SITE_FAILS : SITE_REFUSES;
}
