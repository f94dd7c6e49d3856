/* base/config/config_file.c - runs libconfuse with the names that config_scan has found.
 *
 * Design note: every option is a list (so that both = and += are accepted) of type "pointer", with
 * a callback that notes the value instead of storing it.  That keeps the order of statements, which
 * includes and self-references need.  libconfuse compares the title of each section with those of
 * all sections that it has, which would be quadratic: so it gets the copy in pieces of a few
 * sections, and forgets the sections of a piece when their statements are noted.  It passes no
 * argument of ours to its callbacks, so each option's "simple value" points to the parse, whose
 * first member is the void pointer that libconfuse believes it sets.  The first option of the root
 * and of each section is always one of ours: it leads the error callback to the parse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_file.h"

#include <confuse.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/config/config.h"
#include "base/config/config_scan.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"

struct parse {
    void *slot; /* first: libconfuse writes here */
    const char *path;
    struct arena *arena;   /* of the piece being read */
    struct vec statements; /* struct config_statement: of that piece */
    const struct config_scan *scan;
    size_t strings; /* noted so far: index into the scan's */
    int rc;
    struct err *err;
};

static struct parse *parse_of(const cfg_opt_t *opt)
{
    return (struct parse *)(void *)opt->simple_value.ptr;
}

static void on_error(cfg_t *cfg, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void on_error(cfg_t *cfg, const char *format, va_list args)
{
    struct parse *parse = parse_of(&cfg->opts[0]);
    if (parse->rc == 0) { /* the first error counts */
        const struct config_scan *scan = parse->scan;
        const unsigned line =
            parse->strings < scan->string_count ? scan->strings[parse->strings].line : 0;
        struct strbuf text;
        strbuf_init(&text, ERR_TEXT_MAX);
        strbuf_vprintf(&text, format, args);
        parse->rc =
            err_set(parse->err, -EBADMSG, "%s:%u: %s", parse->path, line, strbuf_text(&text));
        strbuf_fini(&text);
    }
}

/* Notes one statement; NULL: out of memory. */
static struct config_statement *note_statement(struct parse *parse, enum config_statement_kind kind)
{
    struct config_statement *statement = arena_zalloc(parse->arena, sizeof(*statement));
    if (!statement) {
        parse->rc = err_set(parse->err, -ENOMEM, "%s: the configuration is too large", parse->path);
        return NULL;
    }
    statement->kind = kind;
    if (parse->strings < parse->scan->string_count) {
        const struct config_scan_string *string = &parse->scan->strings[parse->strings];
        statement->line = string->line;
        statement->list_item = string->list_item;
    }
    parse->strings++;
    vec_push(&parse->statements, statement);
    return statement;
}

static const char *keep_text(struct parse *parse, const char *text)
{
    const char *copy = arena_strdup(parse->arena, text);
    if (!copy) {
        parse->rc = err_set(parse->err, -ENOMEM, "%s: the configuration is too large", parse->path);
    }
    return copy;
}

static int on_value(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
    struct parse *parse = parse_of(opt);
    *(void **)result = NULL;
    bool opened = strcmp(opt->name, CONFIG_SCAN_OPENED) == 0;
    /* libconfuse sets RESET at a '=', and would clear it itself had it the value to store. */
    bool assigned = (opt->flags & CFGF_RESET) != 0;
    opt->flags &= ~CFGF_RESET;
    struct config_statement *statement = note_statement(parse, opened     ? CONFIG_SECTION
                                                               : assigned ? CONFIG_ASSIGN
                                                                          : CONFIG_APPEND);
    if (!statement) {
        return -1;
    }
    statement->name = keep_text(parse, opt->name);
    statement->value = keep_text(parse, value);
    if (cfg->title) {
        statement->section = keep_text(parse, cfg->name);
        statement->title = keep_text(parse, cfg->title);
    }
    return parse->rc;
}

static int on_include(cfg_t *cfg, cfg_opt_t *opt, int argc, const char **argv)
{
    (void)cfg;
    struct parse *parse = parse_of(opt);
    struct config_statement *statement = argc == 1 ? note_statement(parse, CONFIG_INCLUDE) : NULL;
    if (statement) {
        statement->value = keep_text(parse, argv[0]);
    }
    return statement ? parse->rc : -1;
}

static cfg_opt_t value_option(struct parse *parse, const char *name)
{
    return (cfg_opt_t){.name = name,
                       .type = CFGT_PTR,
                       .flags = CFGF_LIST | CFGF_NODEFAULT,
                       .simple_value.ptr = &parse->slot,
                       .parsecb = on_value};
}

/* Fills options[0] and the following ones with the names, which still belong to the map; returns
 * how many. */
static size_t fill_values(struct parse *parse, const struct strmap *names, cfg_opt_t *options)
{
    size_t count = 0;
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    while (strmap_next(names, &at, &name, &value)) {
        options[count++] = value_option(parse, name);
    }
    return count;
}

/* Makes the options for all names of the file, in one block, the sections' options after the
 * root's. */
static cfg_opt_t *make_options(struct parse *parse)
{
    const struct config_scan *scan = parse->scan;
    const size_t root_count = 2 + strmap_count(scan->names) + strmap_count(scan->kinds);
    size_t total = root_count;
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    while (strmap_next(scan->kinds, &at, &name, &value)) {
        total += 2 + strmap_count(((struct config_scan_kind *)value)->names);
    }
    cfg_opt_t *options = mem_zalloc(total * sizeof(*options));
    cfg_opt_t *section = options + root_count;
    size_t count = 0;
    options[count++] = (cfg_opt_t){.name = "include",
                                   .type = CFGT_FUNC,
                                   .func = on_include,
                                   .simple_value.ptr = &parse->slot};
    count += fill_values(parse, scan->names, options + count);
    at = 0;
    while (strmap_next(scan->kinds, &at, &name, &value)) {
        options[count++] = (cfg_opt_t){.name = name,
                                       .type = CFGT_SEC,
                                       .flags = CFGF_MULTI | CFGF_TITLE,
                                       .subopts = section};
        section[0] = value_option(parse, CONFIG_SCAN_OPENED);
        size_t used =
            1 + fill_values(parse, ((struct config_scan_kind *)value)->names, section + 1);
        section += used + 1; /* over the end mark, which is all zeros */
    }
    CHECK(count + 1 == root_count && section == options + total);
    return options;
}

/* Lets libconfuse read a piece of the copy, up to a cut. */
static int parse_piece(struct parse *parse, cfg_t *cfg, size_t start,
                       const struct config_scan_cut *cut)
{
    if (cut->text_length == start) {
        return 0;
    }
    FILE *file = fmemopen(parse->scan->text + start, cut->text_length - start, "r");
    if (!file) {
        return err_set(parse->err, -ENOMEM, "%s: not enough memory to read the file", parse->path);
    }
    int result = cfg_parse_fp(cfg, file);
    (void)fclose(file);
    if (parse->rc == 0 && (result != CFG_SUCCESS || parse->strings != cut->string_count)) {
        parse->rc = err_set(parse->err, -EBADMSG,
                            "%s: file refused: the library libconfuse and Roost's own check read "
                            "it differently; this is a bug of Roost, please report it with the "
                            "file",
                            parse->path);
    }
    return parse->rc;
}

/* Forgets the sections that libconfuse has. */
static void free_sections(cfg_t *cfg)
{
    for (cfg_opt_t *option = cfg->opts; option->name != NULL; option++) {
        if (option->type == CFGT_SEC) {
            (void)cfg_free_value(option);
        }
    }
}

static int parse_pieces(struct parse *parse, cfg_t *cfg, const struct config_file_reader *reader)
{
    size_t start = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < parse->scan->cut_count; i++) {
        rc = parse_piece(parse, cfg, start, &parse->scan->cuts[i]);
        for (size_t j = 0; rc == 0 && j < parse->statements.count; j++) {
            rc = reader->take(reader->arg, parse->statements.items[j], parse->err);
        }
        free_sections(cfg);
        vec_clear(&parse->statements, NULL);
        arena_reset(parse->arena);
        start = parse->scan->cuts[i].text_length;
    }
    return rc;
}

int config_file_read(const char *path, const char *text, size_t length,
                     const struct config_file_reader *reader, struct err *err)
{
    struct config_scan scan;
    int rc = config_scan(path, text, length, reader->needs, &scan, err);
    if (rc < 0) {
        return rc;
    }
    struct parse parse = {.path = path,
                          .arena = arena_create(0, CONFIG_BYTES_MAX),
                          .scan = &scan,
                          .err = err};
    cfg_opt_t *options = make_options(&parse);
    cfg_t *cfg = cfg_init(options, CFGF_NOCASE);
    if (cfg) {
        (void)cfg_set_error_function(cfg, on_error);
        rc = parse_pieces(&parse, cfg, reader);
        (void)cfg_free(cfg);
    } else {
        rc = err_set(err, -ENOMEM, "%s: not enough memory to read the file", path);
    }
    mem_free(options);
    vec_fini(&parse.statements, NULL);
    arena_destroy(parse.arena);
    config_scan_fini(&scan);
    return rc;
}
