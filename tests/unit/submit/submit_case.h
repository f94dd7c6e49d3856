/* tests/unit/submit/submit_case.h - a submit file of a few lines, and the job that it makes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_SUBMIT_SUBMIT_CASE_H
#define TESTS_UNIT_SUBMIT_SUBMIT_CASE_H

#include "tests/support/unit.h"

#include <errno.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/submit_file.h"
#include "submit/submit_job.h"

static inline int look(void *arg, enum submit_look what, const char *path, int64_t *bytes,
                       struct err *err)
{
    (void)arg;
    if (what == SUBMIT_LOOK_WRAPPED) {
        *bytes = strstr(path, "relinked") != NULL;
        return 0;
    }
    if (what == SUBMIT_LOOK_SIZE) {
        *bytes = strstr(path, "big") != NULL ? 3000000 : strstr(path, "missing") != NULL ? 0 : 27;
        return 0;
    }
    return strstr(path, "missing") != NULL ? err_set(err, -ENOENT, "%s: not there", path) : 0;
}

static inline const char *site(void *arg, const char *knob)
{
    (void)arg;
    return strcmp(knob, "APPEND_RANK") == 0 ? "KFlops" : NULL;
}

static inline void warn(void *arg, const char *text)
{
    if (arg != NULL) {
        strbuf_printf(arg, "%s\n", text);
    }
}

static char *ENVIRONMENT[] = {(char *)"HOME=/home/ann", (char *)"QUOTE=it's two",
                              (char *)"HOST=a;b", NULL};

static const struct submit_place PLACE = {.cwd = "/home/ann",
                                          .file = "job.sub",
                                          .arch = "X86_64",
                                          .opsys = "LINUX",
                                          .user = "ann",
                                          .filesystem_domain = "fs",
                                          .env = ENVIRONMENT,
                                          .look = look,
                                          .warn = warn};

static inline void destroy_ad(void *ad)
{
    ad_destroy(ad);
}

static const struct submit_world WORLD = {0};

/* common: see submit_job_make() */
static inline int make_with(const struct submit_place *place, struct submit_common *common,
                            const char *text, struct vec *ads, struct err *err)
{
    const struct submit_source source = {.name = "job.sub", .text = text};
    struct submit_file *file = submit_file_open(&source, &WORLD);
    int rc;
    while ((rc = submit_file_read(file, err)) == 1) {
        for (int64_t i = 0; i < submit_file_jobs(file) && rc == 1; i++) {
            struct ad *ad = NULL;
            const struct ad *first = ads->count > 0 ? ads->items[0] : NULL;
            submit_file_select(file, i, (int64_t)ads->count);
            int made = submit_job_make(file, "job.sub", place, (int64_t)ads->count, first, common,
                                       &ad, err);
            if (made == 0) {
                vec_push(ads, ad);
            }
            rc = made != 0 ? made : rc;
        }
        if (rc != 1) {
            break;
        }
    }
    submit_file_close(file);
    return rc;
}

static inline int make_at(const struct submit_place *place, const char *text, struct vec *ads,
                          struct err *err)
{
    struct submit_common common = {0};
    return make_with(place, &common, text, ads, err);
}

static inline int make(const char *text, struct vec *ads, struct err *err)
{
    return make_at(&PLACE, text, ads, err);
}

/* Submits `executable = run.sh`, the lines and `queue`, and asserts that the attribute prints as
 * expected; "": it is absent. */
static inline void gives(const char *lines, const char *attribute, const char *expected)
{
    struct vec ads = {0};
    struct err err = {{0}};
    struct strbuf text, got;
    strbuf_init(&text, 0);
    strbuf_init(&got, 0);
    strbuf_printf(&text, "executable = run.sh\n%s\nqueue\n", lines);
    if (make(strbuf_text(&text), &ads, &err) != 0) {
        fail_msg("%s: %s", lines, err.text);
    }
    const struct ad_expr *expr = ad_lookup(ads.items[0], attribute);
    if (expr != NULL) {
        ad_expr_print(expr, AD_OLD, &got);
    }
    if (strcmp(strbuf_text(&got), expected) != 0) {
        fail_msg("%s\ngives %s = %s, expected %s", lines, attribute, strbuf_text(&got), expected);
    }
    strbuf_fini(&got);
    strbuf_fini(&text);
    vec_fini(&ads, destroy_ad);
}

static inline void refused(const char *text, const char *message)
{
    struct vec ads = {0};
    struct err err = {{0}};
    int rc = make(text, &ads, &err);
    if (rc >= 0 || strstr(err.text, message) == NULL) {
        fail_msg("%s\ngives %d (%s), expected (%s)", text, rc, err.text, message);
    }
    vec_fini(&ads, destroy_ad);
}

static inline void refused_for_real(const char *text, const char *message)
{
    struct submit_place place = PLACE;
    struct vec ads = {0};
    struct err err = {{0}};
    place.obeyed_only = true;
    int rc = make_at(&place, text, &ads, &err);
    if (rc >= 0 || strstr(err.text, message) == NULL) {
        fail_msg("%s\ngives %d (%s), expected (%s)", text, rc, err.text, message);
    }
    vec_fini(&ads, destroy_ad);
}

/* Asserts the warnings for these lines; "": no warning. */
static inline void warns(const char *lines, const char *expected)
{
    struct strbuf warnings, text;
    struct submit_place place = PLACE;
    struct vec ads = {0};
    strbuf_init(&warnings, 0);
    strbuf_init(&text, 0);
    strbuf_printf(&text, "executable = run.sh\n%s\nqueue\n", lines);
    place.arg = &warnings;
    assert_int_equal(make_at(&place, strbuf_text(&text), &ads, NULL), 0);
    if (strstr(strbuf_text(&warnings), expected) == NULL ||
        (expected[0] == '\0' && warnings.length > 0)) {
        fail_msg("%s\nwarns (%s), expected (%s)", lines, strbuf_text(&warnings), expected);
    }
    vec_fini(&ads, destroy_ad);
    strbuf_fini(&text);
    strbuf_fini(&warnings);
}

/* Clauses that submit adds to Requirements. */
#define ARCH  "(TARGET.Arch == \"X86_64\")"
#define OPSYS "(TARGET.OpSys == \"LINUX\")"
#define DISK                                                     \
    "(versionGE(split(TARGET.CondorVersion)[1],\"25.12.0\") || " \
    "(TARGET.Disk >= RequestDisk))"
#define PLAIN  "(TARGET.Disk >= RequestDisk)"
#define MEMORY "(TARGET.Memory >= RequestMemory)"
#define FILES  "((TARGET.FileSystemDomain == MY.FileSystemDomain) || (TARGET.HasFileTransfer))"
#define ALL    ARCH " && " OPSYS " && " DISK " && " MEMORY " && " FILES

#endif
