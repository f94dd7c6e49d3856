/* site/gridengine_text.c - see gridengine_text.h.
 *
 * Nothing is fetched for a listing (NONET), no entity is replaced, and a document type, which qstat
 * never prints, makes it none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/gridengine_text.h"

#include <errno.h>
#include <inttypes.h>
#include <libxml/xmlreader.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/text.h"

#define TASKS_MAX (10 * (int64_t)SITE_COUNT_MAX)

/* ---- qstat ----------------------------------------------------------------------------------- */

enum { FIELD_JOB, FIELD_NAME, FIELD_STATE, FIELD_QUEUE, FIELD_TASKS, FIELDS };

struct listing {
    void (*each)(void *arg, const struct batch_task *task);
    void *arg;
    int64_t count; /* tasks so far */
};

static void set_life(const char *state, struct batch_task *ret)
{
    const char *why = "";
    ret->leaves = strchr(state, 'd') != NULL;
    if (strpbrk(state, "rtsST") != NULL) {
        ret->life = BATCH_RUNNING;
    } else if (strchr(state, 'E') != NULL) {
        ret->life = BATCH_HELD;
        why = "in error";
    } else if (strchr(state, 'h') != NULL) {
        ret->life = BATCH_HELD;
        why = "on hold";
    } else {
        ret->life = strchr(state, 'z') != NULL ? BATCH_ENDED : BATCH_QUEUED;
    }
    if (why[0] != '\0') {
        (void)snprintf(ret->reason, sizeof(ret->reason), "%s (state %.20s)", why, state);
    }
}

/* Reads a number at *at, and moves *at behind it. */
static bool read_number(const char **at, int64_t *ret)
{
    int64_t number = 0;
    const char *from = *at;
    for (; text_is_digit(**at) && number <= SITE_COUNT_MAX; ++*at) {
        number = 10 * number + (**at - '0');
    }
    *ret = number;
    return *at > from && number > 0 && number <= SITE_COUNT_MAX;
}

/* Tells the tasks of ranges such as "1-5:2,7". */
static int tell_ranges(struct listing *listing, const char *array, int64_t job, const char *ranges,
                       struct batch_task *task)
{
    for (const char *at = ranges; *at != '\0';) {
        int64_t first, last, step = 1;
        if (!read_number(&at, &first)) {
            return -EPROTO;
        }
        last = first;
        if (*at == '-' && (at++, !read_number(&at, &last))) {
            return -EPROTO;
        }
        if (*at == ':' && (at++, !read_number(&at, &step))) {
            return -EPROTO;
        }
        if (*at != '\0' && (*at++ != ',' || *at == '\0')) {
            return -EPROTO;
        }
        for (int64_t number = first; number <= last; number += step) {
            if (++listing->count > TASKS_MAX ||
                batch_text_glidein_name(array, number, task->name) != 0) {
                return -EPROTO;
            }
            (void)snprintf(task->id, sizeof(task->id), "%" PRId64 ".%" PRId64, job, number);
            listing->each(listing->arg, task);
        }
    }
    return 0;
}

static const char *text_of(const xmlChar *text)
{
    return text != NULL ? (const char *)text : "";
}

static int tell_job(struct listing *listing, xmlChar *const fields[FIELDS])
{
    struct batch_task task = {.leaves = false};
    char name[SITE_NAME_MAX + 1];
    const char *ranges = text_of(fields[FIELD_TASKS]), *state = text_of(fields[FIELD_STATE]);
    int64_t job = 0;
    if (ranges[0] == '\0' || batch_text_glidein_name(text_of(fields[FIELD_NAME]), 1, name) != 0) {
        return 0; /* not a glidein */
    }
    if (text_parse_int64(text_of(fields[FIELD_JOB]), &job, NULL) != 0 || job <= 0 ||
        state[0] == '\0') {
        return -EPROTO;
    }
    set_life(state, &task);
    (void)snprintf(task.place, sizeof(task.place), "%.120s", text_of(fields[FIELD_QUEUE]));
    return tell_ranges(listing, text_of(fields[FIELD_NAME]), job, ranges, &task);
}

/* Reads an element job_list. */
static int read_job(struct listing *listing, const xmlNode *node)
{
    static const char *const NAMES[FIELDS] = {[FIELD_JOB] = "JB_job_number",
                                              [FIELD_NAME] = "JB_name",
                                              [FIELD_STATE] = "state",
                                              [FIELD_QUEUE] = "queue_name",
                                              [FIELD_TASKS] = "tasks"};
    xmlChar *fields[FIELDS] = {NULL};
    for (const xmlNode *child = node->children; child != NULL; child = child->next) {
        for (size_t i = 0; child->type == XML_ELEMENT_NODE && i < FIELDS; i++) {
            if (fields[i] == NULL && strcmp((const char *)child->name, NAMES[i]) == 0) {
                fields[i] = xmlNodeGetContent(child);
            }
        }
    }
    int rc = tell_job(listing, fields);
    for (size_t i = 0; i < FIELDS; i++) {
        xmlFree(fields[i]);
    }
    return rc;
}

int gridengine_text_tasks(const char *xml, size_t length,
                          void (*each)(void *arg, const struct batch_task *task), void *arg,
                          struct err *err)
{
    struct listing listing = {.each = each, .arg = arg};
    bool root_seen = false;
    int got = 0, rc = 0;
    xmlTextReader *reader =
        xmlReaderForMemory(xml, (int)length, "qstat", NULL,
                           XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    while (rc == 0 && reader != NULL && (got = xmlTextReaderRead(reader)) == 1) {
        int type = xmlTextReaderNodeType(reader), depth = xmlTextReaderDepth(reader);
        const char *name = (const char *)xmlTextReaderConstName(reader);
        if (type == XML_READER_TYPE_DOCUMENT_TYPE) {
            rc = -EPROTO;
        } else if (type == XML_READER_TYPE_ELEMENT && depth == 0) {
            root_seen = true;
            rc = strcmp(name, "job_info") == 0 ? 0 : -EPROTO;
        } else if (type == XML_READER_TYPE_ELEMENT && strcmp(name, "job_list") == 0) {
            const xmlNode *node = xmlTextReaderExpand(reader);
            rc = node != NULL ? read_job(&listing, node) : -EPROTO;
        }
    }
    xmlFreeTextReader(reader);
    if (rc != 0 || got != 0 || !root_seen) {
        return err_set(err, -EPROTO, "not a complete listing of jobs: '%.60s'", xml);
    }
    return 0;
}

bool gridengine_text_trouble(const char *jobs, const char *id, char ret[BATCH_REASON_MAX])
{
    static const char NUMBER[] = "job_number:", TROUBLE[] = "error reason";
    size_t job_length = strcspn(id, ".");
    const char *task = id + job_length + (id[job_length] == '.');
    bool here = false;
    for (const char *line = jobs; *line != '\0'; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        const char *at = line, *end = line + length;
        if (strncmp(line, NUMBER, strlen(NUMBER)) == 0) {
            for (at += strlen(NUMBER); text_is_blank(*at); at++) {
            }
            here = (size_t)(end - at) == job_length && strncmp(at, id, job_length) == 0;
        } else if (here && strncmp(line, TROUBLE, strlen(TROUBLE)) == 0) {
            for (at += strlen(TROUBLE); text_is_blank(*at); at++) {
            }
            size_t digits = strspn(at, "0123456789");
            if (digits == strlen(task) && strncmp(at, task, digits) == 0) {
                for (at += digits; *at == ':' || text_is_blank(*at); at++) {
                }
                (void)snprintf(ret, BATCH_REASON_MAX, "%.*s", (int)(end > at ? end - at : 0), at);
                return end > at;
            }
        }
        line = end;
    }
    return false;
}

/* ---- qconf ----------------------------------------------------------------------------------- */

bool gridengine_text_value(const char *output, const char *name, char *ret, size_t size)
{
    size_t length = strlen(name);
    for (const char *line = output; *line != '\0'; line += *line == '\n') {
        const char *at = line + length;
        if (strncmp(line, name, length) == 0 && text_is_blank(*at)) {
            for (; text_is_blank(*at); at++) {
            }
            size_t value = strcspn(at, " \t\n");
            if (value >= size) {
                return false;
            }
            memcpy(ret, at, value);
            ret[value] = '\0';
            return true;
        }
        line += strcspn(line, "\n");
    }
    return false;
}

int64_t gridengine_text_number(const char *output, const char *name)
{
    char value[TEXT_DECIMAL_MAX + 2];
    int64_t number = -1;
    bool found = gridengine_text_value(output, name, value, sizeof(value)) &&
                 text_parse_int64(value, &number, NULL) == 0 && number >= 0;
    return found ? number : -1;
}

bool gridengine_text_has_line(const char *output, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = output; *at != '\0'; at += *at == '\n') {
        size_t this = strcspn(at, "\n");
        if (this == length && strncmp(at, line, length) == 0) {
            return true;
        }
        at += this;
    }
    return false;
}

/* ---- qsub ------------------------------------------------------------------------------------ */

enum site_result gridengine_text_refusal(const char *complaint)
{
    static const char *const FAILS[] = {"unable to send message", "unable to contact",
                                        "got send error",         "got select error",
                                        "commlib error",          "can't resolve",
                                        "reading answer list",    "communication error"};
    /* An account, a reservation that is over: what is there another time. */
    static const char *const OTHER_TIME[] = {"advance reservation", "requested project"};
    /* What the configuration asks for is not there, or cannot be read. */
    static const char *const WRONG[] = {
        "unknown resource", "nknown option", "invalid option", "unknown queue", "does not exist",
        "more than",        "value",         "argument",       "invalid"};
    if (batch_text_contains(complaint, FAILS, ARRAY_COUNT(FAILS))) {
        return SITE_FAILS;
    }
    if (batch_text_contains(complaint, OTHER_TIME, ARRAY_COUNT(OTHER_TIME))) {
        return SITE_REFUSES;
    }
    if (batch_text_contains(complaint, WRONG, ARRAY_COUNT(WRONG))) {
        return SITE_WRONG;
    }
    return strstr(complaint, "Unable to run job") != NULL ? SITE_REFUSES : SITE_FAILS;
}

int gridengine_text_extra(const char *const *words, size_t count, struct err *err)
{
    /* Each has one argument. */
    static const char *const KNOWN[] = {"-A", "-ac", "-ar", "-dl", "-js", "-m",
                                        "-M", "-p",  "-R",  "-tc", "-w"};
    for (size_t i = 0; i < count; i += 2) {
        if (!batch_text_is_one_of(words[i], KNOWN, ARRAY_COUNT(KNOWN))) {
            return err_set(err, -EINVAL,
                           "extra: '%s' is not an option that a site may give to qsub", words[i]);
        }
        if (i + 1 == count) {
            return err_set(err, -EINVAL, "extra: '%s' needs an argument", words[i]);
        }
    }
    return 0;
}
