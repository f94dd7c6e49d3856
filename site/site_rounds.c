/* site/site_rounds.c - see site_rounds.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_rounds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strmap.h"
#include "site/site_common.h"

#define MS_PER_S  1000
#define SILENT_MS 60000               /* so long a host that did not answer gets no new glideins */
#define FILE_MAX  ((size_t)512 << 20) /* bytes of a pilot */
#define SHA_SHOWN 16                  /* digits of a SHA-256 in the name of a file */

void site_host_reset(struct site_host *host)
{
    host->asked = host->answered = false;
    host->lacks_pclient = host->lacks_pilot = false;
    host->running = 0;
    vec_fini(&host->names, mem_free);
    strbuf_clear(&host->script);
    strbuf_clear(&host->jobs);
}

/* ---- a round: the hosts that are asked ------------------------------------------------------- */

struct site_script site_host_script(const struct site *site, const struct site_host *host)
{
    const struct site_hosts *hosts = site->own;
    return (struct site_script){.prefix = site->prefix,
                                .directory = hosts->directory,
                                .host = host->name,
                                .pclient = hosts->pclient};
}

struct site_round site_round_make(const struct site_hosts *hosts)
{
    struct site_round round = {.hosts =
                                   mem_zalloc((hosts->all.count + 1) * sizeof(struct site_host *))};
    for (size_t i = 0; i < hosts->all.count; i++) {
        struct site_host *host = hosts->all.items[i];
        if (host->asked) {
            round.hosts[round.count++] = host;
        }
    }
    round.programs = mem_zalloc((round.count + 1) * sizeof(*round.programs));
    for (size_t i = 0; i < round.count; i++) {
        struct site_host *host = round.hosts[i];
        round.programs[i].argv = (const char *const *)host->argv.items;
        round.programs[i].steps[0] =
            (struct site_step){.text = strbuf_text(&host->script), .length = host->script.length};
        round.programs[i].step_count = 1;
        round.programs[i].limit_ms = (uint64_t)hosts->timeout_s * MS_PER_S;
    }
    return round;
}

void site_round_free(struct site_round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        site_program_fini(&round->programs[i]);
    }
    mem_free(round->programs);
    mem_free(round->hosts);
}

void site_host_failed(const struct site *site, struct site_host *host,
                      const struct site_program *program)
{
    bool new = host->failed_ms == 0;
    host->failed_ms = loop_now_ms(site->loop);
    host->answered = false;
    site_program_why(program, host->why, sizeof(host->why));
    if (new) {
        (void)fprintf(stderr, "host %s: %s\n", host->name, host->why);
    }
}

const char *site_round_rest(struct site_program *program)
{
    static const char DONE[] = SITE_SCRIPT_DONE "\n";
    const char *out = strbuf_text(&program->out), *at = strstr(out, DONE);
    return at != NULL && (at == out || at[-1] == '\n') ? at + strlen(DONE) : NULL;
}

void site_round_run(const struct site *site, struct site_round *round, uint64_t end_ms)
{
    const struct site_hosts *hosts = site->own;
    site_programs_run(site->loop, site->os, round->programs, round->count, (size_t)hosts->connects,
                      end_ms);
    for (size_t i = 0; i < round->count; i++) {
        struct site_host *host = round->hosts[i];
        host->answered = site_program_succeeded(&round->programs[i]) &&
                         site_round_rest(&round->programs[i]) != NULL;
        if (!host->answered) {
            site_host_failed(site, host, &round->programs[i]);
        } else if (host->failed_ms != 0) {
            host->failed_ms = 0;
            (void)fprintf(stderr, "host %s: answers again\n", host->name);
        }
    }
}

bool site_round_words(const char **at, char words[3][SITE_NAME_MAX + 1])
{
    size_t count = 0, length = 0;
    words[0][0] = words[1][0] = words[2][0] = '\0';
    if (**at == '\0') {
        return false;
    }
    for (; **at != '\0' && **at != '\n'; ++*at) {
        if (**at == ' ' && count < 2) {
            count++;
            length = 0;
        } else if (length < SITE_NAME_MAX) {
            words[count][length++] = **at;
            words[count][length] = '\0';
        }
    }
    *at += **at == '\n';
    return true;
}

static void note_seen(const struct site *site, struct site_host *host, const char *name, bool runs,
                      const char *told, struct strmap *seen)
{
    if (!site_is_ours(site, name)) {
        return;
    }
    struct site_seen *known = strmap_get(seen, name);
    if (known != NULL && known->runs) {
        return;
    }
    if (known == NULL) {
        known = mem_zalloc(sizeof(*known));
        (void)strmap_set(seen, name, known);
    }
    host->running += runs;
    known->host = host;
    known->runs = runs;
    (void)snprintf(known->told, sizeof(known->told), "%.*s", (int)sizeof(known->told) - 1, told);
}

static void read_listing(const struct site *site, struct site_host *host,
                         struct site_program *program, struct strmap *seen)
{
    char words[3][SITE_NAME_MAX + 1];
    const char *at = strbuf_text(&program->out);
    while (site_round_words(&at, words)) {
        if (strcmp(words[0], "R") == 0 || strcmp(words[0], "E") == 0) {
            note_seen(site, host, words[1], words[0][0] == 'R', words[2], seen);
        } else if (strcmp(words[0], "M") == 0) {
            host->lacks_pclient = host->lacks_pclient || strcmp(words[1], "pclient") == 0;
            host->lacks_pilot = host->lacks_pilot || strcmp(words[1], "pilot") == 0;
        }
    }
}

size_t site_round_list(const struct site *site, bool leave_silent, const char *pclient,
                       const char *pilot, uint64_t end_ms, struct strmap *seen)
{
    const struct site_hosts *hosts = site->own;
    uint64_t now_ms = loop_now_ms(site->loop);
    size_t missing = 0;
    for (size_t i = 0; i < hosts->all.count; i++) {
        struct site_host *host = hosts->all.items[i];
        site_host_reset(host);
        host->asked =
            !leave_silent || host->failed_ms == 0 || now_ms - host->failed_ms >= SILENT_MS;
        struct site_script script = site_host_script(site, host);
        script.pclient = pclient != NULL ? pclient : script.pclient;
        script.pilot = pilot;
        site_script_look(&script, &host->script);
    }
    struct site_round round = site_round_make(hosts);
    site_round_run(site, &round, end_ms);
    for (size_t i = 0; i < round.count; i++) {
        if (round.hosts[i]->answered) {
            read_listing(site, round.hosts[i], &round.programs[i], seen);
        }
    }
    site_round_free(&round);
    for (size_t i = 0; i < hosts->all.count; i++) {
        missing += !((struct site_host *)hosts->all.items[i])->answered;
    }
    return missing;
}

enum site_result site_round_silence(const struct site_hosts *hosts, struct err *err)
{
    const struct site_host *host = hosts->all.items[0];
    if (hosts->all.count == 1) {
        (void)err_set(err, -EHOSTDOWN, "host %s: %s", host->name, host->why);
    } else {
        (void)err_set(err, -EHOSTDOWN, "none of %zu hosts answers; %s: %s", hosts->all.count,
                      host->name, host->why);
    }
    return SITE_FAILS;
}

/* ---- files that are copied ------------------------------------------------------------------- */

int site_brought_read(const struct site *site, const char *path, const char *name,
                      struct site_brought *ret, struct err *err)
{
    int rc = os_read_file(site->os, path, FILE_MAX, &ret->data, &ret->length, err);
    if (rc == 0) {
        struct digest *digest = digest_create();
        digest_update(digest, ret->data, ret->length);
        digest_hex(digest, ret->sha256);
        digest_destroy(digest);
        (void)snprintf(ret->there, sizeof(ret->there), "../bin/%s-%.*s", name, SHA_SHOWN,
                       ret->sha256);
    }
    return rc;
}

void site_brought_send(const struct site *site, const struct site_brought *file, bool is_pilot)
{
    const struct site_hosts *hosts = site->own;
    bool *were = mem_zalloc((hosts->all.count + 1) * sizeof(*were));
    for (size_t i = 0; i < hosts->all.count; i++) {
        struct site_host *host = hosts->all.items[i];
        struct site_script script = site_host_script(site, host);
        were[i] = host->asked;
        host->asked = host->asked && (is_pilot ? host->lacks_pilot : host->lacks_pclient);
        strbuf_clear(&host->script);
        site_script_copy(&script, file->there, file->sha256, &host->script);
    }
    struct site_round round = site_round_make(hosts);
    for (size_t i = 0; i < round.count; i++) {
        round.programs[i].steps[1] = (struct site_step){.await = SITE_SCRIPT_READY,
                                                        .text = file->data,
                                                        .length = file->length};
        round.programs[i].step_count = 2;
        round.programs[i].limit_ms = 0;
    }
    site_programs_run(site->loop, site->os, round.programs, round.count, (size_t)hosts->connects,
                      site->end_ms);
    for (size_t i = 0; i < hosts->all.count; i++) {
        ((struct site_host *)hosts->all.items[i])->asked = were[i];
    }
    for (size_t i = 0; i < round.count; i++) {
        if (!site_program_succeeded(&round.programs[i])) {
            site_host_failed(site, round.hosts[i], &round.programs[i]);
            round.hosts[i]->asked = false;
        }
    }
    site_round_free(&round);
    mem_free(were);
}
