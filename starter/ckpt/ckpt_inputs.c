/* starter/ckpt/ckpt_inputs.c - remembers, inside a checkpoint, which of the job's files were its
 * inputs.
 *
 * At the end of a job its new and changed files go back (collect.c).  A run that begins from a
 * checkpoint receives no inputs and would take all files for the job's work.  So the list of
 * inputs, as they were when the job began, is a file in the archive.
 *
 * The job could change that file.  If it does, it only changes which of its own files come back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/ckpt/ckpt_inputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_eval.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "transfer/transfer_names.h"

#define BYTES_MAX ((size_t)64 << 20)
#define NAME      STARTER_CKPT_DIRECTORY "/" STARTER_CKPT_INPUTS

static bool is_listed(const struct starter_input *input)
{
    return input->type == TRANSFER_FILE && !input->is_spooled;
}

/* Writes the list into ad: names, and for each name "SIZE MTIME CHECKSUM". */
static void put_list(const struct starter *starter, struct ad *ad)
{
    struct vec names = {0}, figures = {0};
    for (size_t i = 0; i < starter->run.input.list.count; i++) {
        const struct starter_input *input = starter->run.input.list.items[i];
        if (is_listed(input)) {
            struct strbuf text;
            strbuf_init(&text, 0);
            strbuf_printf(&text, "%lld %lld %s", (long long)input->size_bytes,
                          (long long)input->mtime_s, input->checksum);
            vec_push(&names, input->name);
            vec_push(&figures, strbuf_take(&text));
            strbuf_fini(&text);
        }
    }
    ad_set_strings(ad, "Names", (const char *const *)names.items, names.count);
    ad_set_strings(ad, "Figures", (const char *const *)figures.items, figures.count);
    vec_fini(&names, NULL);
    vec_fini(&figures, mem_free);
}

int ckpt_inputs_save(struct starter *starter, struct err *err)
{
    struct ad *ad = ad_create();
    struct strbuf bytes;
    struct os_file *file = NULL;
    put_list(starter, ad);
    strbuf_init(&bytes, BYTES_MAX);
    ad_encode(ad, false, &bytes);
    int rc = bytes.failed ? err_set(err, -E2BIG, "the list of the job's inputs is too long") : 0;
    rc = rc != 0 ? rc : job_run_image_directory(starter, err);
    rc = rc != 0 ? rc
                 : os_below_open(starter->env.os, starter->run.directory, NAME, OS_WRITE_TRUNCATE,
                                 0644, &file, err);
    if (rc == 0) {
        rc = os_file_write(file, 0, bytes.data, bytes.length);
        rc = rc != 0 ? rc : os_file_chmod(file, 0644); /* whatever our umask is */
        rc = rc != 0 ? err_set(err, rc, "%s: %s", NAME, err_code_text(rc)) : 0;
        os_file_close(file);
    }
    strbuf_fini(&bytes);
    ad_destroy(ad);
    return rc;
}

static void add_input(struct starter *starter, const char *name, const char *figures)
{
    long long size = 0, mtime = 0;
    char checksum[DIGEST_HEX_SIZE] = "";
    if (!transfer_path_is_safe(name) ||
        sscanf(figures, "%lld %lld %64s", &size, &mtime, checksum) < 2) {
        return; /* it counts as the job's own */
    }
    struct starter_input *input = mem_zalloc(sizeof *input);
    input->name = mem_strdup(name);
    input->type = TRANSFER_FILE;
    input->size_bytes = size;
    input->mtime_s = mtime;
    memcpy(input->checksum, checksum, sizeof checksum);
    vec_push(&starter->run.input.list, input);
}

void ckpt_inputs_load(struct starter *starter)
{
    struct os_file *file = NULL;
    struct ad *ad = NULL;
    struct err err;
    char *bytes = NULL;
    job_run_forget_inputs(starter); /* the shadow's list: those that were not fetched */
    int rc = os_below_open(starter->env.os, starter->run.directory, NAME, OS_READ, 0, &file, &err);
    int64_t size = rc == 0 ? os_file_size(file) : 0;
    if (rc == 0 && size >= 0 && (uint64_t)size <= BYTES_MAX) {
        bytes = mem_alloc((size_t)size + 1);
        ssize_t got = os_file_read(file, 0, bytes, (size_t)size);
        rc = got != size ? err_set(&err, -EIO, "cannot read %s", NAME)
                         : ad_decode(bytes, (size_t)size, NULL, &ad, &err);
    }
    if (rc != 0) {
        log_warn(starter->env.log, "resume.inputs", err.text, LOG_TEXT("job", starter->run.job_id));
    }
    if (ad != NULL) {
        struct ad_value names, figures, name, figure;
        (void)ad_eval_attr(ad, NULL, "Names", NULL, &names);     /* absent: no elements */
        (void)ad_eval_attr(ad, NULL, "Figures", NULL, &figures); /* the same */
        size_t count = ad_value_count(&names);
        count = count == ad_value_count(&figures) && count <= TRANSFER_FILES_MAX ? count : 0;
        for (size_t i = 0; i < count; i++) {
            ad_value_item(&names, i, &name);
            ad_value_item(&figures, i, &figure);
            if (name.type == AD_TYPE_STRING && figure.type == AD_TYPE_STRING) {
                add_input(starter, name.string.text, figure.string.text);
            }
            ad_value_fini(&name);
            ad_value_fini(&figure);
        }
        ad_value_fini(&names);
        ad_value_fini(&figures);
    }
    ad_destroy(ad);
    mem_free(bytes);
    os_file_close(file);
}
