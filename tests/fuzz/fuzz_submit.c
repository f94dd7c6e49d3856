/* Submit files: any text is read to its jobs or refused with one line, in bounded time and memory.
 *
 * LINK: cli
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
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/submit_file.h"
#include "cli/submit_job.h"

#define JOBS_MAX 50

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

static int one_job(void *arg, struct submit_file *file, int64_t proc, struct err *err)
{
    static const struct submit_place PLACE = {.cwd = "/home",
                                              .file = "f",
                                              .arch = "X86_64",
                                              .opsys = "LINUX"};
    struct ad *ad = NULL;
    (void)arg;
    if (proc >= JOBS_MAX) {
        return -ECANCELED;
    }
    int rc = submit_job_make(file, "f", &PLACE, &ad, err);
    CHECK((rc == 0) == (ad != NULL));
    CHECK(rc != 0 || (ad_has(ad, "Cmd") && ad_has(ad, "Requirements")));
    ad_destroy(ad);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_strndup((const char *)data, size);
    const struct submit_world world = {.read = read_file, .match = match, .arg = text};
    struct err err = {{0}};
    int rc = submit_file_read("f", text, NULL, &world, one_job, NULL, &err);
    CHECK(rc <= 0 && (rc == 0 || rc == -ECANCELED || err.text[0] != '\0'));
    mem_free(text);
    return 0;
}
