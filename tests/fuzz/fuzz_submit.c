/* Submit files: any text is read to its jobs or refused with one line, in bounded time and memory.
 *
 * LINK: submit
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/submit_file.h"
#include "submit/submit_job.h"

#define JOBS_MAX       50
#define STATEMENTS_MAX 20

static int read_file(void *arg, const char *path, char **text, struct err *err)
{
    (void)path;
    (void)err;
    *text = mem_strdup(arg);
    return 0;
}

static int match(void *arg, const char *pattern, bool files, bool dirs, void *names_vec,
                 struct err *err)
{
    (void)arg;
    (void)err;
    if (files || dirs) {
        vec_push(names_vec, mem_strdup(pattern));
    }
    return 0;
}

static int one_job(struct submit_file *file, int64_t proc, struct ad **first,
                   struct submit_common *common, struct err *err)
{
    static const struct submit_place PLACE = {.cwd = "/home",
                                              .file = "f",
                                              .arch = "X86_64",
                                              .opsys = "LINUX"};
    struct ad *ad = NULL, *whole = NULL;
    int rc = submit_job_make(file, "f", &PLACE, proc, *first, NULL, &whole, err);
    if (rc == 0) {
        submit_file_select(file, proc, proc); /* what a job may cost is counted anew */
        rc = submit_job_make(file, "f", &PLACE, proc, *first, common, &ad, err);
        CHECK(rc == 0 && ad_same(ad, whole));
    }
    ad_destroy(whole);
    CHECK((rc == 0) == (ad != NULL));
    CHECK(rc != 0 || ad_int_or(ad, "ProcId", -1) == proc);
    if (rc == 0 && *first == NULL) {
        CHECK(ad_has(ad, "Cmd") && ad_has(ad, "Requirements") && ad_has(ad, "RequestMemory"));
        *first = ad;
    } else {
        ad_destroy(ad);
    }
    return rc;
}

/* What is made of a digest is what was made of the file: the same number of jobs. */
static void check_digest(const struct submit_file *file)
{
    static const struct submit_world NOTHING = {0};
    struct strbuf text;
    struct err err;
    strbuf_init(&text, 0);
    submit_file_digest(file, &text);
    if (!text.failed && text.length < SUBMIT_FILE_MAX) {
        const struct submit_source source = {.name = "digest", .text = strbuf_text(&text)};
        struct submit_file *again = submit_file_open(&source, &NOTHING);
        CHECK(submit_file_read(again, &err) == 1);
        CHECK(submit_file_jobs(again) == submit_file_jobs(file));
        submit_file_close(again);
    }
    strbuf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_strndup((const char *)data, size);
    const struct submit_world world = {.read = read_file, .match = match, .arg = text};
    const struct submit_source source = {.name = "f", .text = text};
    struct submit_file *file = submit_file_open(&source, &world);
    struct err err = {{0}};
    struct ad *first = NULL;
    struct submit_common common = {0};
    int rc = 1;
    for (int statements = 0; rc == 1 && statements < STATEMENTS_MAX; statements++) {
        rc = submit_file_read(file, &err);
        for (int64_t i = 0; rc == 1 && i < submit_file_jobs(file) && i < JOBS_MAX; i++) {
            submit_file_select(file, i, i);
            int made = one_job(file, i, &first, &common, &err);
            rc = made != 0 ? made : rc;
        }
        if (rc == 1) {
            check_digest(file);
        }
    }
    CHECK(rc >= 0 || err.text[0] != '\0');
    ad_destroy(first);
    submit_file_close(file);
    mem_free(text);
    return 0;
}
