/* cli/submit_file.c - a submit file: lines, macros, items: see submit_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/submit_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/submit_queue.h"

struct setting {
    char *name, *value;
    bool plus;
    unsigned line;
};

struct submit_file {
    const char *name;
    const struct submit_world *world;
    struct strmap *settings;  /* case-insensitive; "+x" and "x" are two */
    struct strmap *variables; /* of the job at hand: item's variables, Process, ... */
    bool uses_cluster;
    int64_t cluster, next_proc;
    submit_job_f each;
    void *arg;
    unsigned line;
    bool queued;
    unsigned steps; /* macros replaced in the value at hand */
};

/* ---- values */

static void free_setting(void *value)
{
    struct setting *setting = value;
    mem_free(setting->name);
    mem_free(setting->value);
    mem_free(setting);
}

static int bad(const struct submit_file *file, struct err *err, const char *text)
{
    return err_set(err, -EINVAL, "%s:%u: %s", file->name, file->line, text);
}

static int expand(struct submit_file *file, const char *text, const char *self, int depth,
                  struct strbuf *out, struct err *err);

static const char *lookup(struct submit_file *file, const char *name)
{
    const char *variable = strmap_get(file->variables, name);
    if (variable != NULL) {
        return variable;
    }
    if (text_equal_nocase(name, "Cluster") || text_equal_nocase(name, "ClusterId")) {
        file->uses_cluster = true;
    }
    const struct setting *setting = strmap_get(file->settings, name);
    return setting != NULL ? setting->value : NULL;
}

/* The name in $(name) or $(name:default), which may be made of macros itself: $($(kind)). */
static int macro_name(struct submit_file *file, const char *text, size_t length, int depth,
                      char *name, size_t size, struct err *err)
{
    struct strbuf whole;
    char *inside = mem_strndup(text, length);
    strbuf_init(&whole, SUBMIT_VALUE_MAX);
    int rc = expand(file, inside, inside, depth + 1, &whole, err);
    if (rc == 0 && (whole.failed || whole.length == 0 || whole.length >= size)) {
        rc =
            bad(file, err, whole.length == 0 ? "$() without a name" : "a macro's name is too long");
    }
    if (rc == 0) {
        memcpy(name, whole.data, whole.length);
        name[whole.length] = '\0';
    }
    strbuf_fini(&whole);
    mem_free(inside);
    return rc;
}

/* The ':' before the default, outside of macros that make the name; NULL when there is none. */
static const char *default_of(const char *text, size_t length)
{
    int open = 0;
    for (size_t i = 0; i < length; i++) {
        open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (text[i] == ':' && open == 0) {
            return &text[i];
        }
    }
    return NULL;
}

/* One $(...), whose inside is text[0..length). */
static int expand_one(struct submit_file *file, const char *text, size_t length, int depth,
                      struct strbuf *out, struct err *err)
{
    const char *colon = default_of(text, length);
    char name[256];
    int rc = macro_name(file, text, colon != NULL ? (size_t)(colon - text) : length, depth, name,
                        sizeof name, err);
    if (rc != 0) {
        return rc;
    }
    const char *value = lookup(file, name);
    if (value != NULL) {
        return expand(file, value, name, depth + 1, out, err);
    }
    if (text_equal_nocase(name, "DOLLAR")) {
        strbuf_putc(out, '$');
    } else if (colon != NULL) {
        char *otherwise = mem_strndup(colon + 1, length - (size_t)(colon - text) - 1);
        rc = expand(file, otherwise, name, depth + 1, out, err);
        mem_free(otherwise);
    } /* else: not set: nothing, as in HTCondor */
    return rc;
}

/* HTCondor's $INT(...), $ENV(...) and the like are not obeyed yet: refused, for a job must not get
 * their text in place of their value. */
static int check_function(const struct submit_file *file, const char *at, struct err *err)
{
    size_t length = 1;
    while ((at[length] >= 'A' && at[length] <= 'Z') || (at[length] >= 'a' && at[length] <= 'z') ||
           at[length] == '_') {
        length++;
    }
    if (length == 1 || at[length] != '(') {
        return 0;
    }
    return err_set(err, -EINVAL, "%s:%u: %.*s(...) is not understood yet", file->name, file->line,
                   length < 40 ? (int)length : 40, at);
}

/* The ')' that belongs to the '(' before at; NULL when there is none. */
static const char *closing(const char *at)
{
    int open = 1;
    for (; *at != '\0'; at++) {
        open += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (open == 0) {
            return at;
        }
    }
    return NULL;
}

static int expand(struct submit_file *file, const char *text, const char *self, int depth,
                  struct strbuf *out, struct err *err)
{
    if (depth > SUBMIT_DEPTH_MAX) {
        return err_set(err, -ELOOP,
                       "%s:%u: $(%s) refers to itself, or macros are nested more than %d deep",
                       file->name, file->line, self, SUBMIT_DEPTH_MAX);
    }
    if (++file->steps > SUBMIT_STEPS_MAX) {
        return err_set(err, -E2BIG, "%s:%u: more than %d macros in one value", file->name,
                       file->line, SUBMIT_STEPS_MAX);
    }
    for (const char *at = text; *at != '\0' && !out->failed;) {
        const char *end;
        if (at[0] == '$' && at[1] == '$') { /* $$(attribute) is for the schedd, $$ stays */
            strbuf_append(out, at, 2);
            at += 2;
        } else if (at[0] == '$' && at[1] == '(' && (end = closing(at + 2)) != NULL) {
            int rc = expand_one(file, at + 2, (size_t)(end - at - 2), depth, out, err);
            if (rc != 0) {
                return rc;
            }
            at = end + 1;
        } else {
            int rc = at[0] == '$' ? check_function(file, at, err) : 0;
            if (rc != 0) {
                return rc;
            }
            strbuf_putc(out, *at++);
        }
    }
    return 0;
}

int submit_file_value(struct submit_file *file, const char *name, char **ret, struct err *err)
{
    const struct setting *setting = strmap_get(file->settings, name);
    if (setting == NULL) {
        *ret = NULL;
        return 0;
    }
    unsigned queue_line = file->line;
    struct strbuf out;
    file->line = setting->line;
    strbuf_init(&out, SUBMIT_VALUE_MAX);
    file->steps = 0;
    int rc = expand(file, setting->value, name, 0, &out, err);
    if (rc == 0 && out.failed) {
        rc = err_set(err, -E2BIG, "%s:%u: the value of %s is longer than %zu bytes", file->name,
                     file->line, name, SUBMIT_VALUE_MAX);
    }
    if (rc == 0) {
        *ret = mem_strdup(strbuf_text(&out));
    }
    strbuf_fini(&out);
    file->line = queue_line;
    return rc;
}

unsigned submit_file_line(const struct submit_file *file, const char *name)
{
    const struct setting *setting = strmap_get(file->settings, name);
    return setting != NULL ? setting->line : 0;
}

bool submit_file_next(const struct submit_file *file, size_t *at, const char **name, bool *plus,
                      unsigned *line)
{
    void *value;
    if (!strmap_next(file->settings, at, NULL, &value)) {
        return false;
    }
    const struct setting *setting = value;
    *name = setting->name;
    *plus = setting->plus;
    *line = setting->line;
    return true;
}

bool submit_file_uses_cluster(const struct submit_file *file)
{
    return file->uses_cluster;
}

static void set_variable(void *arg, const char *name, const char *value)
{
    struct submit_file *file = arg;
    mem_free(strmap_set(file->variables, name, mem_strdup(value)));
}

static void set_number(struct submit_file *file, const char *name, int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    set_variable(file, name, text);
}

void submit_file_set_cluster(struct submit_file *file, int64_t cluster)
{
    file->cluster = cluster;
    set_number(file, "Cluster", cluster);
    set_number(file, "ClusterId", cluster);
}

/* ---- queue */

static int queue_jobs(struct submit_file *file, const struct submit_queue *queue, struct err *err)
{
    size_t rows = queue->has_items ? queue->items.count : 1;
    for (size_t row = 0; row < rows; row++) {
        set_number(file, "Row", (int64_t)row);
        set_number(file, "ItemIndex", (int64_t)row);
        if (queue->has_items) {
            set_variable(file, "Item", queue->items.items[row]);
            submit_queue_split(queue, row, set_variable, file);
        }
        for (int64_t step = 0; step < queue->count; step++) {
            if (file->next_proc >= SUBMIT_JOBS_MAX) {
                return err_set(err, -E2BIG, "%s:%u: more than %d jobs", file->name, file->line,
                               SUBMIT_JOBS_MAX);
            }
            set_number(file, "Step", step);
            set_number(file, "Process", file->next_proc);
            set_number(file, "ProcId", file->next_proc);
            int rc = file->each(file->arg, file, file->next_proc, err);
            if (rc != 0) {
                return rc;
            }
            file->next_proc++;
        }
    }
    return 0;
}

/* What a queue statement's items set is gone with it. */
static void forget_items(struct submit_file *file, const struct submit_queue *queue)
{
    mem_free(strmap_remove(file->variables, "Item"));
    for (size_t i = 0; i < queue->variables.count; i++) {
        mem_free(strmap_remove(file->variables, queue->variables.items[i]));
    }
}

static int queue_statement(struct submit_file *file, const char *args, const char *block,
                           struct err *err)
{
    struct strbuf text;
    struct submit_queue queue = {0};
    strbuf_init(&text, SUBMIT_VALUE_MAX);
    file->steps = 0;
    int rc = expand(file, args, "queue", 0, &text, err);
    if (rc == 0 && text.failed) {
        rc = bad(file, err, "the queue statement is too long");
    }
    if (rc == 0) {
        rc = submit_queue_parse(strbuf_text(&text), block, file->world, &queue, err);
        rc = rc != 0 ? err_prefix(err, rc, "%s:%u", file->name, file->line) : 0;
    }
    rc = rc != 0 ? rc : queue_jobs(file, &queue, err);
    forget_items(file, &queue);
    file->queued = true;
    submit_queue_fini(&queue);
    strbuf_fini(&text);
    return rc;
}

/* ---- lines */

static char *trim(char *text)
{
    while (*text == ' ' || *text == '\t') {
        text++;
    }
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL) {
        text[--length] = '\0';
    }
    return text;
}

/* value, with $(name) of itself replaced by what it was before: `opts = $(opts) -q` appends. */
static char *with_self(struct submit_file *file, const char *key, const char *value)
{
    const struct setting *old = strmap_get(file->settings, key);
    struct strbuf text;
    size_t length = strlen(key);
    strbuf_init(&text, SUBMIT_VALUE_MAX);
    for (const char *at = value; *at != '\0';) {
        bool self = at[0] == '$' && at[1] == '(' && strlen(at) > length + 2 &&
                    at[2 + length] == ')' && (at == value || at[-1] != '$');
        char *name = self ? mem_strndup(at + 2, length) : NULL;
        self = self && text_equal_nocase(name, key);
        mem_free(name);
        if (self) {
            strbuf_puts(&text, old != NULL ? old->value : "");
            at += length + 3;
        } else {
            strbuf_putc(&text, *at++);
        }
    }
    char *ret = text.failed ? NULL : mem_strdup(strbuf_text(&text));
    strbuf_fini(&text);
    return ret;
}

static int assignment(struct submit_file *file, char *line, struct err *err)
{
    char *equals = strchr(line, '=');
    bool plus = line[0] == '+';
    if (equals == NULL) {
        return err_set(err, -EINVAL,
                       "%s:%u: '%.100s' is neither NAME = VALUE nor a queue statement", file->name,
                       file->line, line);
    }
    *equals = '\0';
    char *name = trim(plus ? line + 1 : line);
    if (strncmp(name, "My.", 3) == 0 || strncmp(name, "MY.", 3) == 0 ||
        strncmp(name, "my.", 3) == 0) {
        plus = true;
        name += 3;
    }
    if (name[0] == '\0' || strpbrk(name, " \t\"'()$@") != NULL) {
        return err_set(err, -EINVAL, "%s:%u: '%.100s' cannot be a name", file->name, file->line,
                       name);
    }
    if (strmap_count(file->settings) >= SUBMIT_NAMES_MAX) {
        return err_set(err, -E2BIG, "%s:%u: more than %d names", file->name, file->line,
                       SUBMIT_NAMES_MAX);
    }
    struct strbuf key;
    strbuf_init(&key, 0);
    strbuf_printf(&key, "%s%s", plus ? "+" : "", name);
    char *value = with_self(file, strbuf_text(&key), trim(equals + 1));
    if (value == NULL) {
        strbuf_fini(&key);
        return err_set(err, -E2BIG, "%s:%u: the value of %.100s is longer than %zu bytes",
                       file->name, file->line, name, SUBMIT_VALUE_MAX);
    }
    struct setting *setting = mem_zalloc(sizeof *setting);
    *setting = (struct setting){.name = mem_strdup(name),
                                .value = value,
                                .plus = plus,
                                .line = file->line};
    void *old = strmap_set(file->settings, strbuf_text(&key), setting);
    if (old != NULL) {
        free_setting(old);
    }
    strbuf_fini(&key);
    return 0;
}

/* The next line with its continuations ('\' at the end), without the end of line; NULL at the end.
 */
static char *next_line(const char **at, unsigned *line)
{
    if (**at == '\0') {
        return NULL;
    }
    struct strbuf text;
    strbuf_init(&text, SUBMIT_FILE_MAX);
    strbuf_puts(&text, "");
    bool continued = false;
    for (;;) {
        size_t length = strcspn(*at, "\n");
        size_t kept = length;
        while (kept > 0 &&
               ((*at)[kept - 1] == '\r' || (*at)[kept - 1] == ' ' || (*at)[kept - 1] == '\t')) {
            kept--;
        }
        bool more = kept > 0 && (*at)[kept - 1] == '\\';
        size_t indent = continued ? strspn(*at, " \t") : 0;
        kept -= more ? 1 : 0;
        strbuf_append(&text, *at + indent, kept > indent ? kept - indent : 0);
        *at += length + ((*at)[length] == '\n' ? 1 : 0);
        (*line)++;
        if (!more || **at == '\0') {
            break;
        }
        continued = true;
    }
    char *ret = mem_strdup(strbuf_text(&text));
    strbuf_fini(&text);
    return ret;
}

/* `queue ... (` without its ')': the lines up to it are the items. */
static char *read_block(const char **at, unsigned *line, const char *args)
{
    size_t length = strlen(args);
    if (length == 0 || args[length - 1] != '(') {
        return NULL;
    }
    struct strbuf block;
    strbuf_init(&block, SUBMIT_FILE_MAX);
    strbuf_puts(&block, "");
    for (;;) {
        char *one = next_line(at, line);
        if (one == NULL) {
            strbuf_fini(&block);
            return NULL; /* the parser reports the open parenthesis */
        }
        char *text = trim(one);
        if (text[0] == ')') {
            mem_free(one);
            break;
        }
        strbuf_printf(&block, "%s\n", text);
        mem_free(one);
    }
    char *ret = strbuf_take(&block);
    strbuf_fini(&block);
    return ret;
}

static bool is_queue(const char *line)
{
    static const char WORD[] = "queue";
    for (size_t i = 0; i < 5; i++) {
        if (text_lower(line[i]) != WORD[i]) {
            return false;
        }
    }
    const char *rest = line + 5;
    if (*rest != '\0' && *rest != ' ' && *rest != '\t') {
        return false;
    }
    rest += strspn(rest, " \t");
    return *rest != '=';
}

static int read_lines(struct submit_file *file, const char *text, struct err *err)
{
    unsigned next = 0;
    int rc = 0;
    char *line;
    for (const char *at = text; rc == 0; mem_free(line)) {
        file->line = next + 1;
        line = next_line(&at, &next);
        if (line == NULL) {
            break;
        }
        char *start = trim(line);
        if (start[0] == '\0' || start[0] == '#') {
            continue;
        }
        if (is_queue(start)) {
            char *args = trim(start + 5);
            char *block = read_block(&at, &next, args);
            rc = queue_statement(file, args, block, err);
            mem_free(block);
        } else {
            rc = assignment(file, start, err);
        }
    }
    return rc;
}

int submit_file_read(const char *name, const char *text, const char *extra_queue,
                     const struct submit_world *world, submit_job_f each, void *arg,
                     struct err *err)
{
    struct submit_file file = {.name = name,
                               .world = world,
                               .settings = strmap_create(STRMAP_CASE_IGNORED),
                               .variables = strmap_create(STRMAP_CASE_IGNORED),
                               .each = each,
                               .arg = arg};
    int rc = 0;
    if (strlen(text) > SUBMIT_FILE_MAX) {
        rc = err_set(err, -E2BIG, "%s: larger than %zu bytes", name, SUBMIT_FILE_MAX);
    }
    rc = rc != 0 ? rc : read_lines(&file, text, err);
    if (rc == 0 && extra_queue != NULL) {
        rc = queue_statement(&file, extra_queue, NULL, err);
    }
    if (rc == 0 && !file.queued) {
        rc = err_set(err, -EINVAL, "%s: there is no queue statement: no job is made", name);
    }
    strmap_destroy(file.settings, free_setting);
    strmap_destroy(file.variables, mem_free);
    return rc;
}
