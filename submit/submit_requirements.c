/* submit/submit_requirements.c - Requirements: the user's own expression, and what a job needs of
 * any machine unless the user's expression already mentions it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/submit_file.h"
#include "submit/submit_job.h"
#include "submit/submit_making.h"

/* Since this version of HTCondor a slot has room for any job that its disk was made for. */
#define DISK_VERSION "25.12.0"

struct demand {
    struct submit_making *making;
    struct strmap *names; /* names that the user's own expression reads from the machine */
    struct strbuf text;
};

static bool mentions_name(const struct demand *demand, const char *name)
{
    size_t at = 0;
    const char *key;
    while (strmap_next(demand->names, &at, &key, NULL)) {
        if (text_equal_nocase(key, name)) {
            return true;
        }
    }
    return false;
}

static void add_clause(struct demand *demand, const char *clause)
{
    strbuf_printf(&demand->text, "%s%s", demand->text.length > 0 ? " && " : "", clause);
}

/* Returns true when the job has the attribute and it is not a number of at most `least`. */
static bool asks_for(const struct demand *demand, const char *attribute, double least)
{
    struct ad_value value;
    double number = 0;
    if (!ad_has(demand->making->ad, attribute)) {
        return false;
    }
    return ad_get_literal(demand->making->ad, attribute, &value) != 0 ||
           ad_get_real(demand->making->ad, attribute, &number) != 0 || number > least;
}

static void add_platform(struct demand *demand)
{
    static const char *const OPSYS[] = {"OpSys",          "OpSysAndVer", "OpSysLongName",
                                        "OpSysShortName", "OpSysName",   "OpSysLegacy"};
    const struct submit_making *making = demand->making;
    bool in_image = making->is_docker || making->is_container;
    bool spoken = in_image;
    char clause[128];
    for (size_t i = 0; i < ARRAY_COUNT(OPSYS); i++) {
        spoken = spoken || mentions_name(demand, OPSYS[i]);
    }
    if (!mentions_name(demand, "Arch")) {
        (void)snprintf(clause, sizeof clause, "(TARGET.Arch == \"%.64s\")", making->place->arch);
        add_clause(demand, clause);
    }
    if (!spoken) {
        (void)snprintf(clause, sizeof clause, "(TARGET.OpSys == \"%.64s\")", making->place->opsys);
        add_clause(demand, clause);
    }
    if (making->is_docker) {
        const char *network = ad_string_or(making->ad, "DockerNetworkType", "none");
        add_clause(demand, "TARGET.HasDocker");
        if (strcmp(network, "host") != 0 && strcmp(network, "none") != 0 &&
            strcmp(network, "nat") != 0) {
            add_clause(demand, "StringListMember(My.DockerNetworkType, TARGET.DockerNetworks)");
        }
    } else if (making->is_container) {
        const char *need = universe_image_need(making->ad);
        add_clause(demand, "TARGET.HasContainer");
        if (need != NULL) {
            (void)snprintf(clause, sizeof clause, "TARGET.%s", need);
            add_clause(demand, clause);
        }
    }
}

static void warn_obsolete(const struct demand *demand, const char *name, const char *your,
                          const char *command)
{
    if (demand->making->is_first && mentions_name(demand, name)) {
        making_warn(demand->making,
                    "%s Requirements expression refers to TARGET.%s. This is obsolete. Set %s and "
                    "condor_submit will modify the Requirements expression as needed.",
                    your, name, command);
    }
}

static void add_resources(struct demand *demand)
{
    bool any_disk = !making_is_for_machines(demand->making) || mentions_name(demand, "Disk");
    warn_obsolete(demand, "Disk", "Your", "request_disk");
    if (!ad_has(demand->making->ad, "RequestDisk")) {
        /* nothing is asked for */
    } else if (mentions_name(demand, "Disk") || asks_for(demand, "RequestDisk", 0)) {
        add_clause(demand, any_disk ? "(TARGET.Disk >= RequestDisk)"
                                    : "(versionGE(split(TARGET.CondorVersion)[1], \"" DISK_VERSION
                                      "\") || (TARGET.Disk >= RequestDisk))");
    }
    if (asks_for(demand, "RequestMemory", 1)) {
        add_clause(demand, "(TARGET.Memory >= RequestMemory)");
    }
    warn_obsolete(demand, "Memory", "your", "request_memory");
    if (!mentions_name(demand, "Cpus") && asks_for(demand, "RequestCpus", 1)) {
        add_clause(demand, "(TARGET.Cpus >= RequestCpus)");
    }
}

static int by_name(const void *left, const void *right)
{
    return text_compare_nocase(*(const char *const *)left, *(const char *const *)right);
}

/* Collects the names X of attributes RequestX that have no clause of their own above. */
static void collect_custom(const struct ad *ad, struct vec *names)
{
    static const char *const OURS[] = {"RequestCpus", "RequestMemory", "RequestDisk"};
    size_t at = 0;
    const char *name;
    while (ad_next(ad, &at, &name, NULL)) {
        bool custom = text_glob("request??*", name, true) && name[strlen("request")] != '_';
        for (size_t i = 0; i < ARRAY_COUNT(OURS) && custom; i++) {
            custom = !text_equal_nocase(OURS[i], name);
        }
        for (size_t i = 0; i < names->count && custom; i++) {
            custom = !text_equal_nocase(names->items[i], name);
        }
        if (custom) {
            vec_push(names, (void *)(uintptr_t)name); /* borrowed, and not changed */
        }
    }
}

static void add_custom(struct demand *demand, const struct ad *first)
{
    const struct ad *job = demand->making->ad;
    struct vec names = {0};
    collect_custom(job, &names);
    if (first != NULL) {
        collect_custom(first, &names);
    }
    if (names.count > 1) {
        qsort(names.items, names.count, sizeof(char *), by_name);
    }
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i], *tag = name + strlen("request"), *text;
        struct strbuf clause, require;
        double number = 0;
        strbuf_init(&clause, 0);
        strbuf_init(&require, 0);
        strbuf_printf(&require, "Require%s", tag);
        int is_number = ad_get_real(job, name, &number); /* -ENOENT: undefined here */
        if (mentions_name(demand, tag)) {
            /* the user's own */
        } else if (ad_get_string(job, name, &text) == 0) {
            if (text[0] != '\0') {
                strbuf_printf(&clause, "regexp(%s, TARGET.%s)", name, tag);
            }
        } else if ((is_number == 0 && number > 0) || is_number == -ENOENT) {
            if (ad_has(job, strbuf_text(&require))) {
                strbuf_printf(&clause, "(countMatches(MY.%s,TARGET.Available%s) >= %s)",
                              strbuf_text(&require), tag, name);
            } else {
                strbuf_printf(&clause, "(TARGET.%s >= %s)", tag, name);
            }
        }
        if (clause.length > 0) {
            add_clause(demand, strbuf_text(&clause));
        }
        strbuf_fini(&require);
        strbuf_fini(&clause);
    }
    vec_fini(&names, NULL);
}

/* ---- file transfer ---------------------------------------------------------------------------
 */

static void add_method(struct vec *methods, const char *url)
{
    if (!making_is_url(url)) {
        return;
    }
    char *scheme = mem_strndup(url, strcspn(url, ":"));
    char *plus = strrchr(scheme, '+'); /* of "git+https" the plugin is that of https */
    if (plus != NULL) {
        memmove(scheme, plus + 1, strlen(plus));
    }
    for (size_t i = 0; i < methods->count; i++) {
        if (text_equal_nocase(methods->items[i], scheme)) {
            mem_free(scheme);
            return;
        }
    }
    vec_push(methods, scheme);
}

/* Collects the URL methods that the machine must support. */
static void collect_methods(const struct ad *job, struct vec *methods)
{
    struct vec items = {0};
    making_split(ad_string_or(job, "TransferInput", ""), ",", &items);
    for (size_t i = 0; i < items.count; i++) {
        add_method(methods, items.items[i]);
    }
    vec_clear(&items, mem_free);
    add_method(methods, ad_string_or(job, "OutputDestination", ""));
    making_split(ad_string_or(job, "TransferOutputRemaps", ""), ";", &items);
    for (size_t i = 0; i < items.count; i++) {
        const char *equals = strchr(items.items[i], '=');
        if (equals != NULL) {
            add_method(methods, equals + 1 + strspn(equals + 1, " \t"));
        }
    }
    vec_fini(&items, mem_free);
    if (methods->count > 1) {
        qsort(methods->items, methods->count, sizeof(char *), by_name);
    }
}

static void write_methods(struct demand *demand, struct strbuf *clause)
{
    struct vec methods = {0};
    struct strbuf wanted;
    strbuf_init(&wanted, 0);
    collect_methods(demand->making->ad, &methods);
    for (size_t i = 0; i < methods.count; i++) {
        if (!mentions_name(demand, "HasFileTransferPluginMethods")) {
            strbuf_printf(clause,
                          " && stringListIMember(\"%s\",TARGET.HasFileTransferPluginMethods)",
                          (const char *)methods.items[i]);
        }
    }
    making_join(&methods, &wanted);
    if (methods.count > 0) {
        ad_set_string(demand->making->ad, "WantTransferPluginMethods", strbuf_text(&wanted));
    }
    strbuf_fini(&wanted);
    vec_fini(&methods, mem_free);
}

static void add_transfer(struct demand *demand)
{
    static const char DOMAIN[] = "(TARGET.FileSystemDomain == MY.FileSystemDomain)";
    static const char *const ENCRYPTED[] = {"EncryptInputFiles", "EncryptOutputFiles",
                                            "DontEncryptInputFiles", "DontEncryptOutputFiles"};
    const struct ad *job = demand->making->ad;
    const char *should = ad_string_or(job, "ShouldTransferFiles", "IF_NEEDED");
    bool same_domain = mentions_name(demand, "FileSystemDomain");
    if (strcmp(should, "NO") == 0) {
        if (!same_domain) {
            add_clause(demand, DOMAIN);
        }
        return;
    }
    if (mentions_name(demand, "HasFileTransfer") ||
        mentions_name(demand, "HasJobTransferPlugins")) {
        return;
    }
    struct strbuf clause;
    bool either = strcmp(should, "IF_NEEDED") == 0 && !same_domain, encrypted = false;
    strbuf_init(&clause, 0);
    strbuf_puts(&clause, either ? "(" : "");
    strbuf_puts(&clause, either ? DOMAIN : "");
    strbuf_printf(&clause, "%s(TARGET.%s", either ? " || " : "",
                  ad_has(job, "TransferPlugins") ? "HasJobTransferPlugins" : "HasFileTransfer");
    for (size_t i = 0; i < ARRAY_COUNT(ENCRYPTED); i++) {
        encrypted = encrypted || ad_has(job, ENCRYPTED[i]);
    }
    if (encrypted && !mentions_name(demand, "HasPerFileEncryption")) {
        strbuf_puts(&clause, " && TARGET.HasPerFileEncryption");
    }
    if (ad_has(job, "TransferCheckpoint") || ad_bool_or(job, "PreserveRelativePaths", false) ||
        strcmp(ad_string_or(job, "WhenToTransferOutput", ""), "ON_SUCCESS") == 0) {
        strbuf_puts(&clause, " && versioncmp( split(TARGET.CondorVersion)[1], \"8.9.7\" ) >= 0");
    }
    write_methods(demand, &clause);
    strbuf_puts(&clause, either ? "))" : ")");
    add_clause(demand, strbuf_text(&clause));
    strbuf_fini(&clause);
}

static void add_abilities(struct demand *demand)
{
    struct submit_making *making = demand->making;
    if (ad_has(making->ad, "ToolDaemonCmd") && !mentions_name(demand, "HasTDP")) {
        add_clause(demand, "TARGET.HasTDP");
    }
    if (ad_bool_or(making->ad, "EncryptExecuteDirectory", false) &&
        !mentions_name(demand, "EncryptExecuteDirectory")) {
        add_clause(demand, "TARGET.HasEncryptExecuteDirectory");
    }
    if (making_is_for_machines(making) || making->universe == UNIVERSE_PARALLEL) {
        add_transfer(demand);
    }
    if (checkpoint_need(making->ad) != NULL && !mentions_name(demand, "HasCheckpointing")) {
        add_clause(demand, checkpoint_need(making->ad));
    }
    if (ad_bool_or(making->ad, "WantRemoteSyscalls", false) &&
        !mentions_name(demand, "HasRemoteSyscalls")) {
        /* An image is of a job that had a file system. */
        add_clause(demand, ad_bool_or(making->ad, "RemoteWrapped", false)
                               ? "(TARGET.HasRemoteSyscalls || (TARGET.HasRemoteWrappers && "
                                 "(CkptSequence ?: 0) == 0))"
                               : "TARGET.HasRemoteSyscalls");
    }
    if (policy_needs_deferral(making)) {
        if (making->universe != UNIVERSE_LOCAL) {
            add_clause(demand, "TARGET.HasJobDeferral");
        }
        add_clause(demand, "(((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime)) && "
                           "(time() < (DeferralTime + DeferralWindow)))");
    }
    if (ad_bool_or(making->ad, "WantFTOnCheckpoint", false) &&
        !mentions_name(demand, "HasSelfCheckpointTransfers")) {
        add_clause(demand, "TARGET.HasSelfCheckpointTransfers");
    }
}

/* Adds an expression of the user or of the site; "a) && (b" must not pass inside our
 * parentheses. */
static int add_own(struct demand *demand, const char *own, const char *what, struct err *err)
{
    struct ad_expr *alone;
    struct err why = {{0}};
    if (ad_expr_parse(own, strlen(own), AD_OLD, &alone, &why) != 0) {
        return making_refuse(demand->making, err, "Parse error in expression: %s = %.200s: %.200s",
                             what, own, why.text);
    }
    ad_refs(alone, NULL, demand->names, NULL);
    ad_expr_destroy(alone);
    strbuf_printf(&demand->text, "%s(%s)", demand->text.length > 0 ? " && " : "", own);
    return 0;
}

/* Adds a clause for the CUDA version as a number, as slots show it: 12.1 is 12010. */
static int add_cuda(struct demand *demand, struct err *err)
{
    const char *text = ad_string_or(demand->making->ad, "CUDAVersion", NULL);
    unsigned major = 0, minor = 0;
    int length = 0;
    if (text == NULL) {
        return 0;
    }
    int64_t number = 0;
    if (sscanf(text, "%6u.%6u%n", &major, &minor, &length) == 2 && text[length] == '\0') {
        number = (int64_t)major * 1000 + (int64_t)minor % 100;
    } else if (sscanf(text, "%6u%n", &major, &length) == 1 && text[length] == '\0') {
        number = major < 1000 ? (int64_t)major * 1000 : (int64_t)major;
    } else {
        return making_refuse(demand->making, err,
                             "cuda_version must be of the form 'x' or 'x.y', where x and y are "
                             "positive integers.");
    }
    ad_set_int(demand->making->ad, "CUDAVersion", number);
    add_clause(demand, "CUDAVersion <= TARGET.CUDAMaxSupportedVersion");
    return 0;
}

int requirements_set(struct submit_making *making, struct err *err)
{
    char *own = NULL;
    int rc = making_value(making, "requirements", NULL, &own, err);
    if (rc == 0 && submit_file_line(making->file, "MY.Requirements") != 0) {
        if (own != NULL && making->is_first) {
            making_warn(making,
                        "Use of MY.Requirements or +Requirements overrides requirements. You "
                        "should remove one of these statements from your submit file.");
        }
        mem_free(own);
        return 0;
    }
    struct demand demand = {.making = making, .names = strmap_create(STRMAP_CASE_IGNORED)};
    strbuf_init(&demand.text, 0);
    const char *site = making_site(making, "APPEND_REQUIREMENTS", NULL);
    if (rc == 0 && own != NULL) {
        rc = add_own(&demand, own, "Requirements", err);
    }
    if (rc == 0 && site != NULL) {
        rc = add_own(&demand, site, "APPEND_REQUIREMENTS", err);
    }
    if (rc == 0) {
        add_platform(&demand);
        add_resources(&demand);
        add_custom(&demand, making->first);
        add_abilities(&demand);
        rc = add_cuda(&demand, err);
    }
    rc = rc != 0 ? rc : making_expr(making, "Requirements", strbuf_text(&demand.text), err);
    strmap_destroy(demand.names, NULL);
    strbuf_fini(&demand.text);
    mem_free(own);
    return rc;
}
