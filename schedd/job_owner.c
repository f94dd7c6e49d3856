/* schedd/job_owner.c - see job_owner.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_owner.h"

#include <errno.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/os/os.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/claim/job_claims.h"
#include "schedd/submission/job_factory.h"
#include "schedd/job_moves.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "wire/root_jobs.h"
#include "wire/wire.h"

#define ROOT    "root"
#define HELD_AS "jobs never run as root: remove this job and submit it from an ordinary account"

int owner_check_root_as(const char *account, struct err *err)
{
    if (account[0] == '\0') {
        return 0;
    }
    if (strcmp(account, ROOT) == 0) {
        return err_set(err, -EINVAL,
                       "SUBMIT_ROOT_AS is root: jobs never run as root; name an ordinary account");
    }
    return owner_name_is_valid(account)
               ? 0
               : err_set(err, -EINVAL, "SUBMIT_ROOT_AS '%.100s' is not a valid account name",
                         account);
}

/* Returns whether the identity has the domain of this schedd: "alice@elsewhere" is not our
 * alice. */
static bool is_our_domain(const struct schedd *schedd, const char *identity)
{
    const char *at = strchr(identity, '@');
    const char *pool = config_string(schedd->config, "POOL_NAME");
    return at != NULL && (text_equal_nocase(at + 1, schedd->self.uid_domain) ||
                          (pool != NULL && pool[0] != '\0' && text_equal_nocase(at + 1, pool)));
}

/* Finds the account name that the caller has proved.  Returns 0, or -EPERM with err. */
static int name_of_caller(struct schedd *schedd, const struct wire_peer *peer, char *ret,
                          size_t size, struct err *err)
{
    if (peer->has_uid) {
        return os_user_name(schedd->os, peer->uid, ret, size, err) != 0 ? -EPERM : 0;
    }
    size_t length = strcspn(peer->identity, "@");
    if (length >= size) {
        return err_set(err, -EPERM, "identity '%.100s...' is too long", peer->identity);
    }
    memcpy(ret, peer->identity, length);
    ret[length] = '\0';
    return 0;
}

/* The caller is root: gets the account in whose name it may submit in *ret.  Returns 0, or -EPERM
 * with err. */
static int stand_in_for_root(const struct schedd *schedd, const struct wire_peer *peer,
                             const char **ret, struct err *err)
{
    const char *account = schedd->settings.submit_root_as;
    if (!peer->has_uid) {
        return err_set(err, -EPERM,
                       "'%s' cannot own jobs: jobs never run as root; use a token of an ordinary "
                       "account",
                       peer->identity);
    }
    if (account == NULL || account[0] == '\0') {
        return err_set(err, -EPERM,
                       "jobs never run as root: submit from an ordinary account (su - ACCOUNT), or "
                       "set SUBMIT_ROOT_AS in the schedd's configuration to the account as which "
                       "root's jobs are submitted");
    }
    if (root_jobs_name(schedd->os, account)) {
        return err_set(err, -EPERM,
                       "SUBMIT_ROOT_AS is '%s', whose uid is 0: jobs never run as root; name an "
                       "ordinary account",
                       account);
    }
    *ret = account;
    return 0;
}

int owner_of_caller(struct schedd *schedd, const struct wire_peer *peer, char *ret, size_t size,
                    struct err *err)
{
    char own[OWNER_NAME_MAX + 2];
    const char *name = own;
    int result = name_of_caller(schedd, peer, own, sizeof(own), err);
    if (result == 0 && !owner_name_is_valid(own)) {
        result = err_set(err, -EPERM, "'%s' cannot own jobs: not a valid account name", own);
    }
    if (result == 0 && root_jobs_name(schedd->os, own)) {
        result = stand_in_for_root(schedd, peer, &name, err);
    } else if (result == 0 && !peer->has_uid && !is_our_domain(schedd, peer->identity)) {
        result = err_set(err, -EPERM,
                         "'%.100s' has no jobs here: an owner's identity is NAME@%s (UID_DOMAIN)",
                         peer->identity, schedd->self.uid_domain);
    }
    if (result != 0) {
        return result;
    }
    uid_t uid = 0;
    gid_t gid = 0;
    if (!owner_name_is_valid(name) || strlen(name) >= size) {
        return err_set(err, -EPERM, "'%s' cannot own jobs: not a valid account name", name);
    }
    if (os_user_find(schedd->os, name, &uid, &gid, NULL) != 0) {
        return err_set(err, -EPERM, "'%s'%s has no account on the schedd's host", name,
                       name == own ? "" : " (SUBMIT_ROOT_AS)");
    }
    if (!schedd->self.is_root && strcmp(name, schedd->self.account) != 0) {
        return err_set(
            err, -EPERM,
            "this schedd runs as '%s', not as root, and can run only jobs of '%s', not of '%s'",
            schedd->self.account, schedd->self.account, name);
    }
    memcpy(ret, name, strlen(name) + 1);
    return 0;
}

/* ---- jobs of root that an older schedd has taken -----------------------------------------------
 */

static bool add_job_of_root(void *arg, struct job *job)
{
    bool may_run = job->phase != JOB_HELD && job->phase != JOB_COMPLETED;
    if (may_run && job->cluster->owner->is_root) {
        vec_push(arg, job);
    }
    return true;
}

void owner_hold_jobs_of_root(struct schedd *schedd)
{
    struct vec jobs = {0};
    struct change *change = change_begin(schedd);
    queue_walk(schedd, add_job_of_root, &jobs);
    for (size_t i = 0; i < jobs.count; i++) {
        struct job *job = jobs.items[i];
        char id[JOB_ID_SIZE];
        job_id(job, id);
        log_warn(schedd->log, "job.of_root", HELD_AS, LOG_TEXT("job", id),
                 LOG_TEXT("owner", job->cluster->owner->name));
        moves_hold(change, job, HELD_AS, HOLD_NO_ACCOUNT, 0, true);
    }
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.clusters, &at, NULL, &value)) {
        struct cluster *cluster = value;
        if (cluster->owner->is_root && cluster->factory != NULL && !factory_is_paused(cluster)) {
            factory_pause(change, cluster, HELD_AS);
        }
    }
    change_commit(change, NULL, NULL, NULL);
    claims_flush(schedd);
    vec_fini(&jobs, NULL);
}
