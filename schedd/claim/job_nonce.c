/* schedd/claim/job_nonce.c - see job_nonce.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/job_nonce.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "store/store.h"

#define TABLE "nonces"

const char *job_nonce(const struct job *job)
{
    return job->nonce != NULL ? job->nonce : "";
}

void nonce_make(struct change *change, struct job *job)
{
    unsigned char secret[(JOB_NONCE_SIZE - 1) / 2];
    char key[JOB_KEY_SIZE];
    if (job->nonce == NULL) {
        job->nonce = mem_zalloc(JOB_NONCE_SIZE);
    }
    loop_secret(change_schedd(change)->loop, secret, sizeof(secret));
    text_hex(secret, sizeof(secret), job->nonce);
    job_row_key(job, key);
    change_put_bytes(change, TABLE, key, job->nonce, strlen(job->nonce));
}

void nonce_drop(struct change *change, struct job *job)
{
    char key[JOB_KEY_SIZE];
    if (job->nonce == NULL) {
        return;
    }
    job_row_key(job, key);
    change_delete(change, TABLE, key);
    mem_free(job->nonce);
    job->nonce = NULL;
}

struct loading {
    struct schedd *schedd;
    size_t *bad;
};

static int load_nonce(void *arg, const char *key, const void *value, size_t length)
{
    const struct loading *loading = arg;
    long long cluster = 0, proc = 0;
    struct job *job = sscanf(key, "%lld.%lld", &cluster, &proc) == 2
                          ? queue_job(loading->schedd, cluster, proc)
                          : NULL;
    if (job == NULL || length != JOB_NONCE_SIZE - 1 || memchr(value, '\0', length) != NULL) {
        log_error(loading->schedd->log, "queue.row_damaged", "not a valid nonce of a job",
                  LOG_TEXT("table", TABLE), LOG_TEXT("key", key));
        (*loading->bad)++;
        return 0;
    }
    mem_free(job->nonce);
    job->nonce = mem_zalloc(JOB_NONCE_SIZE);
    memcpy(job->nonce, value, length);
    return 0;
}

int nonces_load(struct schedd *schedd, size_t *bad, struct err *err)
{
    struct loading loading = {schedd, bad};
    return store_load(schedd->store, TABLE, load_nonce, &loading, err);
}
