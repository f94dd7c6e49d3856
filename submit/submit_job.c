/* submit/submit_job.c - from the commands of a submit file to the ad of a job: see submit_job.h.
 *
 * One table says what each command becomes.  A name that is in no table is a macro, as in HTCondor;
 * commands of HTCondor's that are not obeyed yet are refused rather than ignored: a job that was to
 * be retried or removed by its policy must not run without it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/submit_file.h"
#include "submit/submit_macro.h"

struct making {
    struct submit_file *file;
    const char *file_name;
    const struct submit_place *place;
    struct ad *ad;
    unsigned line; /* of the command at hand */
};

struct command {
    const char *name, *alias;
    const char *attribute;
    int (*set)(struct making *making, const struct command *command, const char *value,
               struct err *err);
};

static int refuse(const struct making *making, const struct command *command, const char *value,
                  struct err *err, const char *why)
{
    return err_set(err, -EINVAL, "%s:%u: %s = %.100s: %s", making->file_name, making->line,
                   command->name, value, why);
}

/* ---- kinds of values */

static int set_text(struct making *making, const struct command *command, const char *value,
                    struct err *err)
{
    (void)err;
    ad_set_string(making->ad, command->attribute, value);
    return 0;
}

static int set_expr(struct making *making, const struct command *command, const char *value,
                    struct err *err)
{
    if (value[0] == '\0') {
        return 0;
    }
    int rc = ad_set_expr_old(making->ad, command->attribute, value, err);
    return rc != 0
               ? err_prefix(err, rc, "%s:%u: %s", making->file_name, making->line, command->name)
               : 0;
}

static int set_int(struct making *making, const struct command *command, const char *value,
                   struct err *err)
{
    int64_t number;
    if (text_parse_int64(value, &number, NULL) != 0) {
        return refuse(making, command, value, err, "not a whole number");
    }
    ad_set_int(making->ad, command->attribute, number);
    return 0;
}

static int set_bool(struct making *making, const struct command *command, const char *value,
                    struct err *err)
{
    bool truth;
    if (text_parse_bool(value, &truth, NULL) != 0) {
        return refuse(making, command, value, err, "neither true nor false");
    }
    ad_set_bool(making->ad, command->attribute, truth);
    return 0;
}

/* A number with a unit, or an expression.  The attribute counts in `unit` bytes; a number without
 * unit counts in that. */
static int set_amount(struct making *making, const struct command *command, const char *value,
                      int64_t unit, struct err *err)
{
    int64_t number, bytes;
    if (text_parse_int64(value, &number, NULL) == 0) {
        if (number < 0) {
            return refuse(making, command, value, err, "cannot be negative");
        }
        ad_set_int(making->ad, command->attribute, number);
        return 0;
    }
    if (text_parse_size(value, &bytes, NULL) == 0) {
        ad_set_int(making->ad, command->attribute, (bytes + unit - 1) / unit);
        return 0;
    }
    return set_expr(making, command, value, err);
}

static int set_memory(struct making *making, const struct command *command, const char *value,
                      struct err *err)
{
    return set_amount(making, command, value, (int64_t)1 << 20, err);
}

static int set_disk(struct making *making, const struct command *command, const char *value,
                    struct err *err)
{
    return set_amount(making, command, value, 1024, err);
}

/* ---- single commands */

/* A value in double quotes is the new syntax: "" in it is one quote.  NULL: it is not in quotes, or
 * there is one quote alone. */
static char *unquote_v2(const char *value)
{
    size_t length = strlen(value);
    if (length < 2 || value[0] != '"' || value[length - 1] != '"') {
        return NULL;
    }
    bool alone = false;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "");
    for (size_t i = 1; i + 1 < length; i++) {
        if (value[i] == '"') {
            i++;
            alone = alone || value[i] != '"' || i + 1 == length;
        }
        strbuf_putc(&text, value[i]);
    }
    char *ret = alone ? NULL : mem_strdup(strbuf_text(&text));
    strbuf_fini(&text);
    return ret;
}

/* In the old syntax a double quote must be written \": one that is not would reach the program as
 * it stands, which nobody means. */
static bool has_bare_quote(const char *value)
{
    for (const char *at = value; *at != '\0'; at++) {
        if (*at == '"' && (at == value || at[-1] != '\\')) {
            return true;
        }
    }
    return false;
}

static int set_both_syntaxes(struct making *making, const struct command *command,
                             const char *value, const char *v2_name, const char *v1_name,
                             int (*parse_v2)(const char *, struct vec *, struct err *),
                             int (*parse_v1)(const char *, struct vec *, struct err *),
                             struct err *err)
{
    char *v2 = unquote_v2(value);
    struct vec words = {0};
    int rc = 0;
    if (v2 == NULL && value[0] == '"') {
        rc = refuse(
            making, command, value, err,
            "a double quote at the beginning needs one at the end, and \"\" for each between");
    } else if (v2 == NULL && has_bare_quote(value)) {
        rc = refuse(making, command, value, err,
                    "a double quote inside: put all of it in double quotes and use '...' within");
    } else {
        rc = v2 != NULL ? parse_v2(v2, &words, err) : parse_v1(value, &words, err);
        rc = rc != 0
                 ? err_prefix(err, rc, "%s:%u: %s", making->file_name, making->line, command->name)
                 : 0;
        ad_set_string(making->ad, v2 != NULL ? v2_name : v1_name, v2 != NULL ? v2 : value);
    }
    vec_fini(&words, mem_free);
    mem_free(v2);
    return rc;
}

static int set_arguments(struct making *making, const struct command *command, const char *value,
                         struct err *err)
{
    return set_both_syntaxes(making, command, value, "Arguments", "Args", args_parse_v2,
                             args_parse_v1, err);
}

static int set_environment(struct making *making, const struct command *command, const char *value,
                           struct err *err)
{
    return set_both_syntaxes(making, command, value, "Environment", "Env", env_parse_v2,
                             env_parse_v1, err);
}

static int set_universe(struct making *making, const struct command *command, const char *value,
                        struct err *err)
{
    if (!text_equal_nocase(value, "vanilla") && strcmp(value, "5") != 0) {
        return refuse(making, command, value, err, "only the vanilla universe is there");
    }
    ad_set_int(making->ad, "JobUniverse", 5);
    return 0;
}

static int set_hold(struct making *making, const struct command *command, const char *value,
                    struct err *err)
{
    bool hold;
    if (text_parse_bool(value, &hold, NULL) != 0) {
        return refuse(making, command, value, err, "neither true nor false");
    }
    if (hold) {
        ad_set_int(making->ad, "JobStatus", 5);
    }
    return 0;
}

static int set_choice(struct making *making, const struct command *command, const char *value,
                      const char *const *choices, struct err *err)
{
    for (size_t i = 0; choices[i] != NULL; i++) {
        if (text_equal_nocase(value, choices[i])) {
            ad_set_string(making->ad, command->attribute, choices[i]);
            return 0;
        }
    }
    return refuse(making, command, value, err, "not one of the values that this command knows");
}

static int set_should_transfer(struct making *making, const struct command *command,
                               const char *value, struct err *err)
{
    static const char *const CHOICES[] = {"YES", "NO", "IF_NEEDED", NULL};
    return set_choice(making, command, value, CHOICES, err);
}

static int set_when_transfer(struct making *making, const struct command *command,
                             const char *value, struct err *err)
{
    static const char *const CHOICES[] = {"ON_EXIT", NULL};
    return set_choice(making, command, value, CHOICES, err);
}

static int set_remaps(struct making *making, const struct command *command, const char *value,
                      struct err *err)
{
    size_t length = strlen(value);
    (void)err;
    if (length >= 2 && value[0] == '"' && value[length - 1] == '"') {
        char *inner = mem_strndup(value + 1, length - 2);
        ad_set_string(making->ad, command->attribute, inner);
        mem_free(inner);
    } else {
        ad_set_string(making->ad, command->attribute, value);
    }
    return 0;
}

static int set_notification(struct making *making, const struct command *command, const char *value,
                            struct err *err)
{
    if (!text_equal_nocase(value, "never")) {
        return refuse(making, command, value, err,
                      "mail is not sent yet; only `never` is understood");
    }
    ad_set_int(making->ad, "JobNotification", 0);
    return 0;
}

static int set_getenv(struct making *making, const struct command *command, const char *value,
                      struct err *err)
{
    bool all;
    if (text_parse_bool(value, &all, NULL) != 0) {
        return refuse(making, command, value, err, "neither true nor false");
    }
    if (!all || making->place->env == NULL || ad_has(making->ad, "Env") ||
        ad_has(making->ad, "Environment")) {
        return 0;
    }
    struct strbuf text;
    strbuf_init(&text, SUBMIT_VALUE_MAX);
    for (size_t i = 0; making->place->env[i] != NULL; i++) {
        args_append_v2(&text, making->place->env[i]);
    }
    ad_set_string(making->ad, "Environment", strbuf_text(&text));
    strbuf_fini(&text);
    return 0;
}

static int not_yet(struct making *making, const struct command *command, const char *value,
                   struct err *err)
{
    return refuse(making, command, value, err,
                  "this command is not obeyed yet; take it out to submit the job");
}

static int ignore(struct making *making, const struct command *command, const char *value,
                  struct err *err)
{
    (void)making;
    (void)command;
    (void)value;
    (void)err;
    return 0;
}

/* A part of a submitter's name. */
static int set_account(struct making *making, const struct command *command, const char *value,
                       struct err *err)
{
    for (const char *at = value; *at != '\0'; at++) {
        bool word = (text_lower(*at) >= 'a' && text_lower(*at) <= 'z') ||
                    (*at >= '0' && *at <= '9') || strchr("._-", *at) != NULL;
        if (!word || (*at == '.' && (at == value || at[1] == '.' || at[1] == '\0'))) {
            return refuse(making, command, value, err,
                          "letters, digits, '_', '-' and single dots between them");
        }
    }
    if (value[0] != '\0') {
        ad_set_string(making->ad, command->attribute, value);
    }
    return 0;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* "SW.b:2, a" becomes "a,sw.b:2": one list, however it was written. */
static int set_limits(struct making *making, const struct command *command, const char *value,
                      struct err *err)
{
    char *lower = mem_strdup(value);
    struct vec names = {0};
    struct strbuf text;
    int rc = 0;
    for (char *at = lower; *at != '\0'; at++) {
        *at = text_lower(*at);
    }
    for (char *at = lower; *at != '\0' && rc == 0;) {
        size_t length = strcspn(at, ", \t"), more = strspn(at + length, ", \t");
        char *next = at + length + more;
        at[length] = '\0';
        size_t name = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_.");
        double count = 1;
        if (length > 0 &&
            (name == 0 || (at[name] != '\0' && at[name] != ':') ||
             (at[name] == ':' && (text_parse_double(at + name + 1, &count, NULL) || count < 0)))) {
            rc = refuse(making, command, value, err, "a list of NAME or NAME:COUNT is expected");
        } else if (length > 0) {
            vec_push(&names, at);
        }
        at = next;
    }
    strbuf_init(&text, SUBMIT_VALUE_MAX);
    if (names.count > 1) {
        qsort(names.items, names.count, sizeof(char *), by_text);
    }
    for (size_t i = 0; i < names.count; i++) {
        strbuf_printf(&text, "%s%s", i > 0 ? "," : "", (const char *)names.items[i]);
    }
    if (rc == 0 && names.count > 0) {
        ad_set_string(making->ad, "ConcurrencyLimits", strbuf_text(&text));
    }
    strbuf_fini(&text);
    vec_fini(&names, NULL);
    mem_free(lower);
    return rc;
}

/* In this order: initialdir before the paths, environment before getenv. */
static const struct command COMMANDS[] = {
    {"universe", NULL, NULL, set_universe},
    {"initialdir", "initial_dir", NULL, ignore}, /* read first, by make_iwd() */
    {"executable", NULL, NULL, ignore},          /* by make_cmd() */
    {"arguments", "args", NULL, set_arguments},
    {"environment", "env", NULL, set_environment},
    {"getenv", "get_env", NULL, set_getenv},
    {"input", "stdin", "In", set_text},
    {"output", "stdout", "Out", set_text},
    {"error", "stderr", "Err", set_text},
    {"log", NULL, "UserLog", set_text},
    {"priority", "prio", "JobPrio", set_int},
    {"rank", "preferences", "Rank", set_expr},
    {"requirements", NULL, NULL, ignore}, /* by make_requirements() */
    {"request_cpus", NULL, "RequestCpus", set_expr},
    {"request_memory", NULL, "RequestMemory", set_memory},
    {"request_disk", NULL, "RequestDisk", set_disk},
    {"transfer_executable", NULL, "TransferExecutable", set_bool},
    {"transfer_input_files", "transferinputfiles", "TransferInput", set_text},
    {"transfer_output_files", "transferoutputfiles", "TransferOutput", set_text},
    {"transfer_output_remaps", NULL, "TransferOutputRemaps", set_remaps},
    {"should_transfer_files", NULL, "ShouldTransferFiles", set_should_transfer},
    {"when_to_transfer_output", NULL, "WhenToTransferOutput", set_when_transfer},
    {"hold", NULL, NULL, set_hold},
    {"batch_name", NULL, "JobBatchName", set_text},
    {"job_lease_duration", NULL, "JobLeaseDuration", set_int},
    {"kill_sig", NULL, "KillSig", set_int},
    {"description", NULL, "JobDescription", set_text},
    {"notification", NULL, NULL, set_notification},
    {"concurrency_limits", NULL, NULL, set_limits},
    {"concurrency_limits_expr", NULL, "ConcurrencyLimits", set_expr},
    {"accounting_group", NULL, "AcctGroup", set_account},
    {"accounting_group_user", NULL, "AcctGroupUser", set_account},
    {"nice_user", NULL, "NiceUser", set_bool},
    {"max_retries", NULL, NULL, not_yet},
    {"retry_until", NULL, NULL, not_yet},
    {"success_exit_code", NULL, NULL, not_yet},
    {"periodic_hold", NULL, NULL, not_yet},
    {"periodic_release", NULL, NULL, not_yet},
    {"periodic_remove", NULL, NULL, not_yet},
    {"on_exit_hold", NULL, NULL, not_yet},
    {"on_exit_remove", NULL, NULL, not_yet},
    {"leave_in_queue", NULL, NULL, not_yet},
    {"deferral_time", NULL, NULL, not_yet},
    {"max_materialize", NULL, "JobMaterializeLimit", set_int},
    {"max_idle", "materialize_max_idle", "JobMaterializeMaxIdle", set_int},
};

/* ---- what needs more than its own value */

static char *join(const char *directory, const char *path)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    if (path[0] == '/') {
        strbuf_puts(&text, path);
    } else {
        strbuf_printf(&text, "%s/%s", directory, path);
    }
    char *ret = mem_strdup(strbuf_text(&text));
    strbuf_fini(&text);
    return ret;
}

static int value_of(struct making *making, const char *name, const char *alias, char **ret,
                    struct err *err)
{
    int rc = submit_file_value(making->file, name, ret, err);
    making->line = submit_file_line(making->file, name);
    if (rc == 0 && *ret == NULL && alias != NULL) {
        rc = submit_file_value(making->file, alias, ret, err);
        making->line = submit_file_line(making->file, alias);
    }
    return rc;
}

static int make_iwd(struct making *making, struct err *err)
{
    char *value;
    int rc = value_of(making, "initialdir", "initial_dir", &value, err);
    if (rc == 0) {
        char *iwd = join(making->place->cwd, value != NULL ? value : making->place->cwd);
        ad_set_string(making->ad, "Iwd", iwd);
        mem_free(iwd);
    }
    mem_free(value);
    return rc;
}

static int make_cmd(struct making *making, struct err *err)
{
    char *value;
    int rc = value_of(making, "executable", NULL, &value, err);
    if (rc != 0) {
        return rc;
    }
    unsigned line = making->line;
    if (value == NULL || value[0] == '\0') {
        mem_free(value);
        return err_set(err, -EINVAL, "%s: no executable: which program is to run?",
                       making->file_name);
    }
    char *transfer = NULL;
    rc = value_of(making, "transfer_executable", NULL, &transfer, err);
    bool sent = true;
    if (rc == 0 && transfer != NULL) {
        (void)text_parse_bool(transfer, &sent, NULL); /* refused later where it is neither */
    }
    char *cmd = sent || value[0] == '/' ? join(making->place->cwd, value) : mem_strdup(value);
    ad_set_string(making->ad, "Cmd", cmd);
    if (rc == 0 && sent && making->place->look != NULL) {
        rc = making->place->look(making->place->look_arg, cmd, true, err);
        rc = rc != 0 ? err_prefix(err, rc, "%s:%u: executable", making->file_name, line) : 0;
    }
    mem_free(cmd);
    mem_free(transfer);
    mem_free(value);
    return rc;
}

/* Does the user's own speak of that attribute of the machine?  Of OpSys by its relatives, too. */
static bool mentions(const struct strmap *names, const char *name)
{
    size_t at = 0;
    const char *key;
    while (strmap_next(names, &at, &key, NULL)) {
        if (text_equal_nocase(key, name) ||
            (strcmp(name, "OpSys") == 0 && text_glob("OpSys*", key, true))) {
            return true;
        }
    }
    return false;
}

/* The user's own, and what a job needs of any machine unless the user spoke of it. */
static int make_requirements(struct making *making, struct err *err)
{
    char *own;
    int rc = value_of(making, "requirements", NULL, &own, err);
    if (rc != 0) {
        return rc;
    }
    const char *user = own != NULL ? own : "";
    struct strmap *names = strmap_create(STRMAP_CASE_IGNORED);
    struct strbuf text;
    strbuf_init(&text, SUBMIT_VALUE_MAX);
    if (user[0] != '\0') {
        struct ad_expr *alone; /* "a) && (b" must not pass inside our parentheses */
        rc = ad_expr_parse(user, strlen(user), AD_OLD, &alone, err);
        if (rc != 0) {
            rc = err_prefix(err, rc, "%s:%u: requirements", making->file_name, making->line);
            goto out;
        }
        ad_refs(alone, NULL, names, NULL);
        ad_expr_destroy(alone);
        strbuf_printf(&text, "(%s)", user);
    }
    struct {
        const char *name;
        const char *format, *value;
    } clauses[] = {
        {"Arch", "(TARGET.Arch == \"%s\")", making->place->arch},
        {"OpSys", "(TARGET.OpSys == \"%s\")", making->place->opsys},
        {"Disk", "(TARGET.Disk >= RequestDisk)", NULL},
        {"Memory", "(TARGET.Memory >= RequestMemory)", NULL},
        {"Cpus", "(TARGET.Cpus >= RequestCpus)", NULL},
    };
    for (size_t i = 0; i < ARRAY_COUNT(clauses); i++) {
        if (mentions(names, clauses[i].name)) {
            continue;
        }
        strbuf_puts(&text, text.length > 0 ? " && " : "");
        if (clauses[i].value == NULL) {
            strbuf_puts(&text, clauses[i].format);
        } else {
            strbuf_printf(&text, "(TARGET.%s == \"%s\")", clauses[i].name, clauses[i].value);
        }
    }
    rc = ad_set_expr_old(making->ad, "Requirements", strbuf_text(&text), err);
out:
    strmap_destroy(names, NULL);
    strbuf_fini(&text);
    mem_free(own);
    return rc;
}

static int run_commands(struct making *making, struct err *err)
{
    for (size_t i = 0; i < ARRAY_COUNT(COMMANDS); i++) {
        char *value;
        int rc = value_of(making, COMMANDS[i].name, COMMANDS[i].alias, &value, err);
        if (rc == 0 && value != NULL) {
            rc = COMMANDS[i].set(making, &COMMANDS[i], value, err);
        }
        mem_free(value);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* The name under which the job is charged, as HTCondor's submit makes it: GROUP.USER. */
static void make_account(struct making *making)
{
    struct ad *ad = making->ad;
    const char *group = ad_string_or(ad, "AcctGroup", "");
    const char *user = ad_string_or(ad, "AcctGroupUser", making->place->user);
    if (group[0] == '\0' && ad_bool_or(ad, "NiceUser", false)) {
        ad_set_string(ad, "AcctGroup", "nice-user");
        group = "nice-user";
    }
    if ((group[0] == '\0' && !ad_has(ad, "AcctGroupUser")) || user == NULL) {
        return;
    }
    struct strbuf name;
    strbuf_init(&name, 0);
    strbuf_printf(&name, "%s%s%s", group, group[0] != '\0' ? "." : "", user);
    ad_set_string(ad, "AccountingGroup", strbuf_text(&name));
    if (!ad_has(ad, "AcctGroupUser")) {
        ad_set_string(ad, "AcctGroupUser", making->place->user);
    }
    strbuf_fini(&name);
}

/* Resources of the site's own naming (request_gpus, ...): a job that needs one must not run
 * without.
 */
static int refuse_resources(struct making *making, struct err *err)
{
    size_t at = 0;
    const char *name;
    bool plus;
    unsigned line;
    while (submit_file_walk(making->file, &at, &name, &plus, &line)) {
        bool known = plus || !text_glob("request_*", name, true);
        for (size_t i = 0; i < ARRAY_COUNT(COMMANDS) && !known; i++) {
            known = text_equal_nocase(COMMANDS[i].name, name);
        }
        if (!known) {
            return err_set(err, -EINVAL, "%s:%u: %.100s: no machine offers such a resource yet",
                           making->file_name, line, name);
        }
    }
    return 0;
}

/* +Attribute and My.Attribute: expressions. */
static int run_plus(struct making *making, struct err *err)
{
    size_t at = 0;
    const char *name;
    bool plus;
    unsigned line;
    while (submit_file_walk(making->file, &at, &name, &plus, &line)) {
        if (!plus) {
            continue;
        }
        struct strbuf key;
        char *value;
        strbuf_init(&key, 0);
        strbuf_printf(&key, "MY.%s", name);
        int rc = submit_file_value(making->file, strbuf_text(&key), &value, err);
        if (rc == 0 && !ad_name_is_valid(name)) {
            rc = err_set(err, -EINVAL, "'%s' cannot be the name of an attribute", name);
        }
        rc = rc != 0 ? rc : ad_set_expr_old(making->ad, name, value, err);
        strbuf_fini(&key);
        mem_free(value);
        if (rc != 0) {
            return err_prefix(err, rc, "%s:%u", making->file_name, line);
        }
    }
    return 0;
}

/* A job that could never run is refused here, where its owner sees it. */
static int look_at_files(struct making *making, struct err *err)
{
    const char *in = ad_string_or(making->ad, "In", "/dev/null");
    if (making->place->look == NULL || strcmp(in, "/dev/null") == 0 || in[0] == '\0') {
        return 0;
    }
    char *path = join(ad_string_or(making->ad, "Iwd", "/"), in);
    int rc = making->place->look(making->place->look_arg, path, false, err);
    mem_free(path);
    unsigned line = submit_file_line(making->file, "input");
    line = line != 0 ? line : submit_file_line(making->file, "stdin");
    return rc != 0 ? err_prefix(err, rc, "%s:%u: input", making->file_name, line) : 0;
}

int submit_job_make(struct submit_file *file, const char *file_name,
                    const struct submit_place *place, struct ad **ret, struct err *err)
{
    struct making making = {.file = file,
                            .file_name = file_name,
                            .place = place,
                            .ad = ad_create()};
    int rc = make_iwd(&making, err);
    rc = rc != 0 ? rc : make_cmd(&making, err);
    rc = rc != 0 ? rc : run_commands(&making, err);
    if (rc == 0) {
        make_account(&making);
    }
    rc = rc != 0 ? rc : refuse_resources(&making, err);
    rc = rc != 0 ? rc : make_requirements(&making, err);
    rc = rc != 0 ? rc : run_plus(&making, err);
    rc = rc != 0 ? rc : look_at_files(&making, err);
    if (rc != 0) {
        ad_destroy(making.ad);
        return rc;
    }
    if (place->file != NULL) {
        ad_set_string(making.ad, "JobSubmitFile", place->file);
    }
    *ret = making.ad;
    return 0;
}

struct ad *submit_job_difference(const struct ad *job, const struct ad *cluster)
{
    struct ad *own = ad_create();
    size_t at = 0;
    const char *name;
    const struct ad_expr *expr;
    while (ad_next(job, &at, &name, &expr)) {
        const struct ad_expr *shared = ad_lookup(cluster, name);
        if (shared == NULL || !ad_expr_same(shared, expr)) {
            (void)ad_copy_attr(own, name, job, name); /* is there */
        }
    }
    at = 0;
    while (ad_next(cluster, &at, &name, NULL)) {
        if (!ad_has(job, name)) {
            ad_set_undefined(own, name);
        }
    }
    return own;
}
