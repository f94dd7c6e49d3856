/* submit/submit_file.c - a submit file: settings, conditions, includes, queue: see submit_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "submit/submit_condition.h"
#include "submit/submit_lines.h"
#include "submit/submit_macro.h"
#include "submit/submit_queue.h"

struct setting {
    char *name, *value;
    bool plus, is_used;
    unsigned line;
};

/* A text that is being read: the file, or one that it includes. */
struct reading {
    char *name, *text; /* owned; text is NULL when it belongs to the source */
    struct submit_lines lines;
};

/* One `if`: whether its present lines count, whether one of its branches was taken, and whether its
 * else was seen. */
struct branch {
    bool enabled, taken, is_else, outer;
};

struct submit_file {
    const struct submit_source *source;
    const struct submit_world *world;
    struct submit_scope scope;
    struct strmap *settings;  /* struct setting; case-insensitive */
    struct strmap *variables; /* of the selected job: the item's variables, Process, ... */
    struct reading readings[SUBMIT_INCLUDE_MAX];
    size_t depth; /* readings in use */
    struct branch branches[SUBMIT_IF_MAX];
    size_t ifs;
    struct submit_queue queue;
    size_t work;       /* bytes that may still be processed, for this reading or the selected job */
    size_t item_bytes; /* bytes of the selected job's item */
    bool selectable, uses_cluster, appended;
    bool varied; /* see submit_file_varied() */
    unsigned queues, queue_line;
    /* line of the present setting or statement, for messages */
    const char *name;
    unsigned line;
};

/* ---- looking up */

static void free_setting(void *value)
{
    struct setting *setting = value;
    mem_free(setting->name);
    mem_free(setting->value);
    mem_free(setting);
}

/* Returns a variable of the selected job; NULL: no such variable.  All but the cluster's number
 * differ from job to job. */
static const char *variable_of(struct submit_file *file, const char *name)
{
    const char *variable = strmap_get(file->variables, name);
    file->varied = file->varied || (variable != NULL && !text_equal_nocase(name, "Cluster") &&
                                    !text_equal_nocase(name, "ClusterId"));
    return variable;
}

static const char *lookup_macro(void *arg, const char *name)
{
    struct submit_file *file = arg;
    const char *variable = variable_of(file, name);
    if (variable != NULL) {
        return variable;
    }
    if (text_equal_nocase(name, "Cluster") || text_equal_nocase(name, "ClusterId") ||
        text_equal_nocase(name, "JobId")) {
        file->uses_cluster = true;
    }
    struct setting *setting = strmap_get(file->settings, name);
    if (setting != NULL) {
        setting->is_used = true;
        return setting->value;
    }
    return file->world->config != NULL ? file->world->config(file->world->arg, name) : NULL;
}

static const char *get_environment(void *arg, const char *name)
{
    struct submit_file *file = arg;
    return file->world->env != NULL ? file->world->env(file->world->arg, name) : NULL;
}

static uint64_t random_number(void *arg)
{
    struct submit_file *file = arg;
    file->varied = true;
    return file->world->random != NULL ? file->world->random(file->world->arg) : 0;
}

static int expand_macros(struct submit_file *file, const char *text, struct strbuf *out,
                         struct err *err)
{
    int rc = submit_expand(&file->scope, text, out, err);
    if (rc == 0 && out->failed) {
        rc = err_set(err, -E2BIG, "the text is longer than %zu bytes with its macros replaced",
                     SUBMIT_VALUE_MAX);
    }
    return rc;
}

/* Finds the text of a command as it is written, and its line; NULL: not set. */
static const char *find_text(struct submit_file *file, const char *name, unsigned *line)
{
    /* An item's variable may be named as a command: `queue arguments from list`. */
    const char *text = variable_of(file, name);
    struct setting *setting = strmap_get(file->settings, name);
    *line = text != NULL ? file->queue_line : setting != NULL ? setting->line : 0;
    if (setting != NULL) {
        setting->is_used = true;
        text = text != NULL ? text : setting->value;
    }
    return text;
}

int submit_file_value_of(struct submit_file *file, const char *name, const char *alias, char **ret,
                         unsigned *line, struct err *err)
{
    const char *used = name;
    const char *text = find_text(file, name, line);
    *ret = NULL;
    if (text == NULL && alias != NULL) {
        used = alias;
        text = find_text(file, alias, line);
    }
    if (text == NULL) {
        return 0;
    }
    const size_t length = strlen(text);
    if (length < SUBMIT_VALUE_MAX && length <= file->work && strchr(text, '$') == NULL) {
        file->work -= length;
        *ret = mem_strdup(text);
        return 0;
    }
    struct strbuf out;
    strbuf_init(&out, SUBMIT_VALUE_MAX);
    strbuf_puts(&out, "");
    int rc = expand_macros(file, text, &out, err);
    if (rc == 0) {
        *ret = mem_strdup(strbuf_text(&out));
    } else {
        rc = err_prefix(err, rc, "%s:%u: %.100s", file->source->name, *line, used);
    }
    strbuf_fini(&out);
    return rc;
}

int submit_file_value(struct submit_file *file, const char *name, char **ret, struct err *err)
{
    unsigned line;
    return submit_file_value_of(file, name, NULL, ret, &line, err);
}

unsigned submit_file_line(const struct submit_file *file, const char *name)
{
    const struct setting *setting = strmap_get(file->settings, name);
    return strmap_get(file->variables, name) != NULL ? file->queue_line
           : setting != NULL                         ? setting->line
                                                     : 0;
}

bool submit_file_varied(struct submit_file *file)
{
    bool varied = file->varied;
    file->varied = false;
    return varied;
}

bool submit_file_unused(const struct submit_file *file, size_t *at, const char **name,
                        const char **value, unsigned *line)
{
    void *item;
    while (strmap_next(file->settings, at, NULL, &item)) {
        const struct setting *setting = item;
        if (!setting->is_used && !setting->plus) {
            *name = setting->name;
            *value = setting->value;
            *line = setting->line;
            return true;
        }
    }
    return false;
}

bool submit_file_walk(const struct submit_file *file, size_t *at, const char **name, bool *plus,
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

unsigned submit_file_queue_count(const struct submit_file *file)
{
    return file->queues;
}

unsigned submit_file_queue_line(const struct submit_file *file)
{
    return file->queue_line;
}

/* ---- the job at hand */

static void set_variable(void *arg, const char *name, const char *value)
{
    struct submit_file *file = arg;
    mem_free(strmap_set(file->variables, name, mem_strdup(value)));
}

static void set_number(struct submit_file *file, const char *name, int64_t value)
{
    char text[TEXT_DECIMAL_MAX + 1];
    CHECK(value >= 0); /* the numbers of a cluster, a job, an item */
    text[text_put_decimal(text, (uint64_t)value, 1)] = '\0';
    set_variable(file, name, text);
}

void submit_file_set_cluster(struct submit_file *file, int64_t cluster)
{
    set_number(file, "Cluster", cluster);
    set_number(file, "ClusterId", cluster);
}

int64_t submit_file_jobs(const struct submit_file *file)
{
    return file->queue.count * (file->queue.has_items ? (int64_t)file->queue.items.count : 1);
}

int64_t submit_file_row(const struct submit_file *file, int64_t job)
{
    return job / file->queue.count;
}

void submit_file_select(struct submit_file *file, int64_t job, int64_t proc)
{
    CHECK(file->selectable && job >= 0 && job < submit_file_jobs(file));
    file->work = SUBMIT_WORK_MAX;
    const struct submit_queue *queue = &file->queue;
    size_t row = (size_t)(job / queue->count);
    file->item_bytes = 0;
    if (queue->has_items) {
        file->item_bytes = strlen(queue->items.items[row]);
        set_variable(file, "Item", queue->items.items[row]);
        submit_queue_split(queue, row, set_variable, file);
    }
    set_number(file, "Row", (int64_t)row);
    set_number(file, "ItemIndex", (int64_t)(queue->indexes != NULL ? queue->indexes[row] : row));
    set_number(file, "Step", job % queue->count);
    set_number(file, "Process", proc);
    set_number(file, "ProcId", proc);
}

/* Forgets the last queue statement and the variables that its items have set. */
static void forget_queue(struct submit_file *file)
{
    mem_free(strmap_remove(file->variables, "Item"));
    for (size_t i = 0; i < file->queue.variables.count; i++) {
        mem_free(strmap_remove(file->variables, file->queue.variables.items[i]));
    }
    submit_queue_fini(&file->queue);
    file->selectable = false;
}

size_t submit_file_work(const struct submit_file *file)
{
    return file->item_bytes + SUBMIT_WORK_MAX - file->work;
}

size_t submit_file_settings(const struct submit_file *file)
{
    return strmap_count(file->settings);
}

static int queue_statement(struct submit_file *file, const char *args, struct submit_lines *lines,
                           struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, SUBMIT_VALUE_MAX);
    strbuf_puts(&text, "");
    int rc = expand_macros(file, args, &text, err);
    rc = rc != 0 ? rc
                 : submit_queue_parse(strbuf_text(&text), lines, file->world, &file->queue, err);
    strbuf_fini(&text);
    if (rc == 0 && submit_file_jobs(file) > SUBMIT_JOBS_MAX) {
        rc = err_set(err, -E2BIG, "more than %d jobs in one queue statement", SUBMIT_JOBS_MAX);
    }
    file->selectable = rc == 0;
    file->queues++;
    file->queue_line = file->line;
    return rc != 0 ? rc : 1;
}

/* ---- settings */

static char *trim_blanks(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) {
        text[--length] = '\0';
    }
    return text;
}

static bool name_is_valid(const char *name)
{
    for (const char *at = name; *at != '\0'; at++) {
        char c = text_lower(*at);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.')) {
            return false;
        }
    }
    return name[0] != '\0' && strlen(name) <= SUBMIT_NAME_MAX;
}

static int set_name(struct submit_file *file, const char *written, const char *value,
                    struct err *err)
{
    bool plus = written[0] == '+' || written[0] == '-';
    const char *bare = plus ? written + 1 : written;
    if (!plus && text_lower(bare[0]) == 'm' && text_lower(bare[1]) == 'y' && bare[2] == '.') {
        plus = true;
        bare += 3;
    }
    if (!name_is_valid(bare)) {
        return err_set(err, -EINVAL,
                       "'%.100s' is not a valid name for a command, macro or attribute", bare);
    }
    if (strmap_count(file->settings) >= SUBMIT_NAMES_MAX) {
        return err_set(err, -E2BIG, "the file sets more than %d names", SUBMIT_NAMES_MAX);
    }
    struct strbuf key;
    strbuf_init(&key, 0);
    strbuf_printf(&key, "%s%s", plus ? "MY." : "", bare);
    const struct setting *old = strmap_get(file->settings, strbuf_text(&key));
    struct setting *setting = mem_zalloc(sizeof *setting);
    setting->name = mem_strdup(bare);
    setting->plus = plus;
    setting->line = file->line;
    setting->value = written[0] == '-' ? mem_strdup("")
                                       : submit_expand_self(strbuf_text(&key),
                                                            old != NULL ? old->value : NULL, value);
    int rc = 0;
    if (setting->value == NULL) {
        rc = err_set(err, -E2BIG, "the value of %.100s is longer than %zu bytes", bare,
                     SUBMIT_VALUE_MAX);
        free_setting(setting);
    } else {
        void *before = strmap_set(file->settings, strbuf_text(&key), setting);
        if (before != NULL) {
            free_setting(before);
        }
    }
    strbuf_fini(&key);
    return rc;
}

/* Reads the value of NAME @=TAG: the lines up to @TAG, without comments and empty lines. */
static int read_block(struct submit_file *file, const char *name, const char *tag,
                      struct submit_lines *lines, struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, SUBMIT_VALUE_MAX);
    strbuf_puts(&text, "");
    bool ended = false;
    char *line;
    while (!ended && (line = submit_lines_raw(lines)) != NULL) {
        ended = line[0] == '@' && strcmp(line + 1, tag) == 0;
        if (!ended && line[0] != '\0' && line[0] != '#') {
            strbuf_printf(&text, "%s%s", text.length > 0 ? "\n" : "", line);
        }
        mem_free(line);
    }
    int rc =
        ended ? 0 : err_set(err, -EINVAL, "the line @%.50s, which ends the value, is missing", tag);
    if (rc == 0 && text.failed) {
        rc = err_set(err, -E2BIG, "the value is longer than %zu bytes", SUBMIT_VALUE_MAX);
    }
    rc = rc != 0 ? rc : set_name(file, name, strbuf_text(&text), err);
    strbuf_fini(&text);
    return rc;
}

/* ---- if */

static bool is_enabled(const struct submit_file *file)
{
    return file->ifs == 0 || file->branches[file->ifs - 1].enabled;
}

/* For "keyword" or "keyword ...": returns the text after the keyword, else NULL. */
static const char *after_keyword(const char *line, const char *keyword)
{
    for (; *keyword != '\0'; keyword++, line++) {
        if (text_lower(*line) != *keyword) {
            return NULL;
        }
    }
    return *line == '\0' || *line == ' ' || *line == '\t' ? line + strspn(line, " \t") : NULL;
}

static int judge_condition(struct submit_file *file, const char *word, const char *condition,
                           bool *ret, struct err *err)
{
    int rc = submit_condition(&file->scope, condition, ret, err);
    return rc != 0
               ? err_prefix(err, rc, "%.100s is not a valid %s condition because", condition, word)
               : 0;
}

/* Handles a line with if, elif, else or endif.  Returns 1 for any other line. */
static int read_branch(struct submit_file *file, const char *line, struct err *err)
{
    struct branch *last = file->ifs > 0 ? &file->branches[file->ifs - 1] : NULL;
    const char *rest;
    bool value = false;
    int rc = 0;
    if ((rest = after_keyword(line, "if")) != NULL) {
        bool outer = is_enabled(file);
        if (file->ifs == SUBMIT_IF_MAX) {
            return err_set(err, -E2BIG, "if nesting too deep: more than %d", SUBMIT_IF_MAX);
        }
        rc = outer ? judge_condition(file, "if", rest, &value, err) : 0;
        value = value && outer;
        file->branches[file->ifs++] =
            (struct branch){.enabled = value, .taken = value, .outer = outer};
        return rc;
    }
    bool is_elif = (rest = after_keyword(line, "elif")) != NULL;
    bool is_else = !is_elif && after_keyword(line, "else") != NULL;
    bool is_end = !is_elif && !is_else && after_keyword(line, "endif") != NULL;
    if (!is_elif && !is_else && !is_end) {
        return 1;
    }
    const char *word = is_elif ? "elif" : is_else ? "else" : "endif";
    if (last == NULL) {
        return err_set(err, -EINVAL, "%s without matching if", word);
    }
    if (is_end) {
        file->ifs--;
        return 0;
    }
    if (last->is_else) {
        return err_set(err, -EINVAL, "%s is not allowed after else", word);
    }
    last->is_else = is_else;
    last->enabled = last->outer && !last->taken;
    if (last->enabled && is_elif) {
        rc = judge_condition(file, "elif", rest, &value, err);
        last->enabled = value;
    }
    last->taken = last->taken || last->enabled;
    return rc;
}

/* ---- include, error, warning */

static void push_reading(struct submit_file *file, char *name, char *text, const char *borrowed)
{
    file->readings[file->depth++] = (struct reading){
        .name = name,
        .text = text,
        .lines = {.at = text != NULL ? text : borrowed},
    };
}

static void pop_reading(struct submit_file *file)
{
    struct reading *reading = &file->readings[--file->depth];
    mem_free(reading->name);
    mem_free(reading->text);
}

/* Handles an include statement.  options: the words between `include` and the ':'. */
static int include_file(struct submit_file *file, const char *options, const char *what,
                        struct err *err)
{
    char *words = mem_strdup(options), *path = NULL, *text = NULL;
    bool optional = false, command = false, into = false;
    int rc = 0;
    for (char *word = words + strspn(words, " \t"); *word != '\0' && rc == 0;) {
        size_t length = strcspn(word, " \t"), gap = strspn(word + length, " \t");
        char *next = word + length + gap;
        word[length] = '\0';
        optional = optional || strcmp(word, "ifexist") == 0 || strcmp(word, "ifexists") == 0;
        command = command || strcmp(word, "command") == 0 || strcmp(word, "output") == 0;
        into = into || strcmp(word, "into") == 0;
        if (into || !(optional || command)) {
            rc = err_set(err, -EINVAL, "include %.50s: %s", options,
                         into ? "`into` is not supported; include the file that the command wrote"
                              : "unexpected keyword after include");
        }
        word = next;
    }
    struct strbuf expanded;
    strbuf_init(&expanded, SUBMIT_VALUE_MAX);
    strbuf_puts(&expanded, "");
    rc = rc != 0 ? rc : expand_macros(file, what, &expanded, err);
    if (rc == 0) {
        path = mem_strdup(strbuf_text(&expanded));
        size_t length = strlen(path);
        if (length > 0 && path[length - 1] == '|') {
            command = true;
            path[length - 1] = '\0';
        }
        (void)trim_blanks(path);
        const struct submit_world *world = file->world;
        if (file->depth == SUBMIT_INCLUDE_MAX) {
            rc = err_set(err, -ELOOP, "includes nested too deep: more than %d",
                         SUBMIT_INCLUDE_MAX - 1);
        } else if (command ? world->run == NULL : world->read == NULL) {
            rc = err_set(err, -EINVAL, "include statement is not allowed in this context");
        } else {
            rc = command ? world->run(world->arg, path, &text, err)
                         : world->read(world->arg, path, &text, err);
        }
    }
    if (rc == 0) {
        push_reading(file, path, text, NULL);
        path = NULL;
    } else if (rc == -ENOENT && optional) {
        rc = 0;
    }
    mem_free(path);
    mem_free(words);
    strbuf_fini(&expanded);
    return rc;
}

static int print_message(struct submit_file *file, bool is_error, const char *what, struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, SUBMIT_VALUE_MAX);
    strbuf_puts(&text, "");
    int rc = expand_macros(file, what, &text, err);
    if (rc == 0 && is_error) {
        rc = err_set(err, -EINVAL, "%.500s", strbuf_text(&text));
    } else if (rc == 0 && file->world->warn != NULL) {
        file->world->warn(file->world->arg, strbuf_text(&text));
    }
    strbuf_fini(&text);
    return rc;
}

/* ---- lines */

/* Returns the arguments of a queue statement; NULL: the line is not one. */
static const char *queue_args(const char *line)
{
    const char *rest = after_keyword(line, "queue");
    return rest != NULL && *rest != '=' && *rest != ':' ? rest : NULL;
}

/* Handles a line NAME op VALUE; op is = or @= or, after a keyword such as include, ':'. */
static int read_assignment(struct submit_file *file, char *line, struct submit_lines *lines,
                           struct err *err)
{
    size_t length = strcspn(line, " \t=:@");
    char *op = line + strcspn(line, "=:@"), *rest = line + length;
    rest += strspn(rest, " \t");
    const char *first = line[0] == '@' ? line + 1 : line;
    static const char *const KEYWORDS[] = {"include", "error", "warning", "use"};
    for (size_t i = 0; i < ARRAY_COUNT(KEYWORDS) && strchr(line, ':') != NULL; i++) {
        char *colon = strchr(line, ':');
        size_t word = strlen(KEYWORDS[i]);
        bool same = strcspn(first, " \t:=") == word;
        for (size_t k = 0; same && k < word; k++) {
            same = text_lower(first[k]) == KEYWORDS[i][k];
        }
        char *equals = strchr(line, '=');
        if (!same || (equals != NULL && equals < colon)) {
            continue;
        }
        *colon = '\0';
        char *options = mem_strdup(first + word);
        char *what = trim_blanks(colon + 1);
        int rc = i == 0  ? include_file(file, trim_blanks(options), what, err)
                 : i < 3 ? print_message(file, i == 1, what, err)
                         : err_set(err, -EINVAL, "use %s : %s: templates are not supported",
                                   trim_blanks(options), what);
        mem_free(options);
        return rc;
    }
    bool is_block = op[0] == '@' && op[1] == '=';
    if (length == 0 || op != rest || (op[0] != '=' && !is_block)) {
        return err_set(err, -EINVAL, "'%.100s' is neither NAME = VALUE nor a queue statement",
                       line);
    }
    char *value = trim_blanks(op + (is_block ? 2 : 1));
    struct strbuf name;
    strbuf_init(&name, SUBMIT_VALUE_MAX);
    strbuf_puts(&name, "");
    char *written = mem_strndup(line, length);
    int rc = expand_macros(file, written, &name, err);
    if (rc == 0) {
        rc = is_block ? read_block(file, strbuf_text(&name), value, lines, err)
                      : set_name(file, strbuf_text(&name), value, err);
    }
    mem_free(written);
    strbuf_fini(&name);
    return rc;
}

/* Reads the lines of -append, before the first queue statement. */
static int apply_append(struct submit_file *file, struct err *err)
{
    if (file->appended || file->source->append == NULL) {
        return 0;
    }
    file->appended = true;
    struct submit_lines lines = {.at = file->source->append};
    int rc = 0;
    char *line;
    while (rc == 0 && (line = submit_lines_next(&lines)) != NULL) {
        if (line[0] != '\0' && line[0] != '#') {
            rc = read_assignment(file, line, &lines, err);
        }
        mem_free(line);
    }
    return rc != 0 ? err_prefix(err, rc, "-append") : 0;
}

/* Reads one line.  Returns 1 when it is a queue statement. */
static int handle_line(struct submit_file *file, char *line, struct submit_lines *lines,
                       struct err *err)
{
    if (line[0] == '\0' || line[0] == '#') {
        return 0;
    }
    int rc = read_branch(file, line, err);
    if (rc <= 0 || !is_enabled(file)) {
        return rc < 0 ? rc : 0;
    }
    const char *args = queue_args(line);
    if (args == NULL) {
        return read_assignment(file, line, lines, err);
    }
    if (file->source->queue != NULL) {
        return err_set(err, -EINVAL,
                       "-queue was given, but the file has a queue statement of its own");
    }
    rc = apply_append(file, err);
    return rc != 0 ? rc : queue_statement(file, args, lines, err);
}

/* Handles the queue statement that the caller gave, at the end of the file. */
static int last_queue(struct submit_file *file, struct err *err)
{
    struct submit_lines none = {.at = ""};
    if (file->source->queue == NULL || file->queues > 0) {
        return 0;
    }
    int rc = apply_append(file, err);
    rc = rc != 0 ? rc : queue_statement(file, file->source->queue, &none, err);
    return rc < 0 ? err_prefix(err, rc, "-queue") : rc;
}

int submit_file_read(struct submit_file *file, struct err *err)
{
    file->work = SUBMIT_WORK_MAX;
    int rc = 0;
    forget_queue(file);
    if (strlen(file->source->text) > SUBMIT_FILE_MAX) {
        return err_set(err, -E2BIG, "%s: larger than %zu bytes", file->source->name,
                       SUBMIT_FILE_MAX);
    }
    while (rc == 0 && file->depth > 0) {
        struct reading *reading = &file->readings[file->depth - 1];
        file->line = reading->lines.line + 1;
        char *line = submit_lines_next(&reading->lines);
        if (line == NULL) {
            pop_reading(file);
            continue;
        }
        const char *name = reading->name; /* lives until it is read to its end */
        rc = handle_line(file, line, &reading->lines, err);
        rc = rc < 0 ? err_prefix(err, rc, "%s:%u", name, file->line) : rc;
        mem_free(line);
    }
    if (rc == 0 && file->ifs > 0) {
        rc = err_set(err, -EINVAL, "%s: endif(s) not found before end-of-file", file->source->name);
    }
    return rc != 0 ? rc : last_queue(file, err);
}

struct submit_file *submit_file_open(const struct submit_source *source,
                                     const struct submit_world *world)
{
    struct submit_file *file = mem_zalloc(sizeof *file);
    file->source = source;
    file->world = world;
    file->settings = strmap_create(STRMAP_CASE_IGNORED);
    file->variables = strmap_create(STRMAP_CASE_IGNORED);
    file->scope = (struct submit_scope){.lookup = lookup_macro,
                                        .env = get_environment,
                                        .random = random_number,
                                        .cwd = world->cwd,
                                        .work = &file->work,
                                        .arg = file};
    push_reading(file, mem_strdup(source->name), NULL, source->text);
    if (source->first != NULL) {
        push_reading(file, mem_strdup("command line"), NULL, source->first);
    }
    return file;
}

void submit_file_close(struct submit_file *file)
{
    if (file == NULL) {
        return;
    }
    while (file->depth > 0) {
        pop_reading(file);
    }
    submit_queue_fini(&file->queue);
    strmap_destroy(file->settings, free_setting);
    strmap_destroy(file->variables, mem_free);
    mem_free(file);
}

/* ---- digest */

#define DIGEST_TAG "end-of-this-value"

void submit_file_digest(const struct submit_file *file, struct strbuf *out)
{
    size_t at = 0;
    void *value;
    while (strmap_next(file->settings, &at, NULL, &value)) {
        const struct setting *setting = value;
        size_t length = strlen(setting->value);
        bool several = strchr(setting->value, '\n') != NULL ||
                       (length > 0 && setting->value[length - 1] == '\\');
        strbuf_printf(out, "%s%s ", setting->plus ? "MY." : "", setting->name);
        if (several) {
            strbuf_printf(out, "@=" DIGEST_TAG "\n%s\n@" DIGEST_TAG "\n", setting->value);
        } else {
            strbuf_printf(out, "= %s\n", setting->value);
        }
    }
    submit_queue_print(&file->queue, out);
}
