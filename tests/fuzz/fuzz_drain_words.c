/* The words of `roost drain`, and times as people write them: any are refused with a reason, or
 * mean what the startd takes.
 *
 * The first byte: d words, one a line (the command's name is ours); s --since of a report; u until
 * when.
 *
 * LINK: cli drain classad base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/drain_words_plan.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/keep_plan.h"
#include "cli/power_report_plan.h"
#include "cli/until_plan.h"

#define INPUT_MAX ((size_t)1 << 11)
#define WORDS_MAX 64
#define NOW_S     INT64_C(1790000000)

static const struct ad_context NOW = {.now_s = NOW_S};

static void check(const struct drain_words *words)
{
    const struct drain_request *request = &words->request;
    CHECK(request->slot_count <= DRAIN_SLOTS_MAX && words->nodes.count <= HOSTLIST_COUNT_MAX);
    CHECK(words->verb == DRAIN_VERB_STATUS || words->nodes.count > 0 || words->ids.count > 0);
    CHECK(words->verb == DRAIN_VERB_CANCEL || words->ids.count == 0);
    CHECK(request->deadline_s == 0 || request->deadline_s >= NOW_S);
    for (size_t i = 0; i < request->slot_count; i++) {
        CHECK(request->slots[i][0] != '\0' && strlen(request->slots[i]) < DRAIN_NAME_MAX);
    }
    for (size_t i = 0; i < words->nodes.count; i++) {
        const char *name = words->nodes.items[i];
        CHECK(name[0] != '\0' && strlen(name) <= HOSTLIST_NAME_MAX);
    }
    for (size_t i = 0; i < words->ids.count; i++) {
        CHECK(strlen(words->ids.items[i]) < DRAIN_ID_MAX);
    }
}

static void drain(char *text)
{
    char *argv[WORDS_MAX + 2] = {(char[]){"drain"}};
    int argc = 1;
    struct drain_words words;
    struct err err = {""};
    for (char *at = text; at != NULL && argc <= WORDS_MAX;) {
        char *end = strchr(at, '\n');
        argv[argc++] = at;
        if (end != NULL) {
            *end++ = '\0';
        }
        at = end;
    }
    int rc = drain_words_read(argc, argv, &NOW, NULL, &words, &err);
    CHECK(rc == 0 || (rc == -ENOENT && words.unknown != NULL) || err.text[0] != '\0');
    if (rc == 0) {
        check(&words);
    }
    drain_words_fini(&words);
}

static void since(const char *text)
{
    int64_t is = -7;
    char again[TEXT_UTC_MAX];
    if (power_report_since(text, NOW_S, &is) != 0) {
        CHECK(is == -7);
        return;
    }
    CHECK(is >= 0 && is <= NOW_S && is % 86400 == 0);
    text_utc_s(is, again);
    CHECK(strncmp(again, text, strlen("2026-11-01")) == 0);
}

static void until(const char *text)
{
    int64_t is = -7, kept = -7;
    struct err err = {""};
    if (until_plan_read(text, &NOW, &is, &err) == 0) {
        CHECK(is >= NOW_S);
        CHECK(keep_plan_until(text, NOW_S, &NOW, &kept, NULL) == 0 && kept == is);
    } else {
        CHECK(is == -7 && err.text[0] != '\0');
        CHECK(keep_plan_until(text, NOW_S, &NOW, &kept, NULL) != 0 || kept == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > INPUT_MAX) {
        return 0;
    }
    char *text = mem_strndup((const char *)data + 1, size - 1);
    if (data[0] == 'd') {
        drain(text);
    } else if (data[0] == 's') {
        since(text);
    } else if (data[0] == 'u') {
        until(text);
    }
    mem_free(text);
    return 0;
}
