/* schedd/job_events.c - see job_events.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_events.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "schedd/checkpoint_plan.h"
#include "schedd/claim/claim_accounts.h"
#include "schedd/queue/event_rows.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/claim/job_claims.h"
#include "schedd/claim/machine_attrs.h"
#include "schedd/mail_plan.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "wire/checkpoint_attrs.h"

#define JOULES_PER_KWH 3600000.0
#define LOGGED_SIZE    "LoggedImageSize" /* private attribute: size in the last event 006 */
#define PROVISIONED    "Provisioned"
#define NAME_SIZE      96 /* most bytes of a resource's name, with the terminating zero */

/* Copies the present value of the attribute `from` of view to the event; nothing when it is not a
 * number, string or boolean. */
static void copy_value(struct ad *event, const char *to, const struct ad *view, const char *from)
{
    struct ad_value value;
    if (ad_eval_attr(view, NULL, from, NULL, &value) != 0) {
        return;
    }
    if (value.type == AD_TYPE_INT) {
        ad_set_int(event, to, value.integer);
    } else if (value.type == AD_TYPE_REAL) {
        ad_set_real(event, to, value.real);
    } else if (value.type == AD_TYPE_STRING) {
        ad_set_string(event, to, value.string.text);
    } else if (value.type == AD_TYPE_BOOL) {
        ad_set_bool(event, to, value.boolean);
    }
    ad_value_fini(&value);
}

/* ---- where to ------------------------------------------------------------------------------- */

static const char *log_of(const struct job *job, const struct cluster *cluster, const char *name)
{
    return job != NULL ? job_string(job, name, "") : ad_string_or(cluster->ad, name, "");
}

/* Returns whether the job's events go to any log, the site's log included. */
static bool has_log(const struct schedd *schedd, const struct job *job)
{
    return schedd->settings.site_log.path != NULL || job_string(job, "UserLog", "")[0] != '\0' ||
           job_string(job, "DAGManNodesLog", "")[0] != '\0';
}

static void send_event(struct change *change, const struct job *job, const struct cluster *cluster,
                       const char *path, const char *text)
{
    struct strbuf whole;
    strbuf_init(&whole, 0);
    if (path[0] != '/') {
        strbuf_printf(&whole, "%s/", log_of(job, cluster, "Iwd"));
    }
    strbuf_puts(&whole, path);
    event_rows_add(change, cluster->owner, strbuf_text(&whole), text);
    strbuf_fini(&whole);
}

/* Returns whether DAGMan wants events of this type.  mask: a list such as "5,9,12"; empty: all
 * events. */
static bool dagman_wants(const char *mask, int64_t type)
{
    char number[24];
    (void)snprintf(number, sizeof(number), "%lld", (long long)type); /* fits */
    const char *at = mask + strspn(mask, ", ");
    bool any = *at != '\0';
    while (*at != '\0') {
        size_t length = strcspn(at, ", ");
        if (length == strlen(number) && memcmp(at, number, length) == 0) {
            return true;
        }
        at += length;
        at += strspn(at, ", ");
    }
    return !any;
}

static bool uses_xml(const struct job *job, const struct cluster *cluster)
{
    const struct ad *own = job != NULL && job->own != NULL ? job->own : cluster->ad;
    return ad_bool_or(own, "UserLogUseXML", ad_bool_or(cluster->ad, "UserLogUseXML", false));
}

struct moment {
    int64_t now_ms;
    int32_t zone_s;
};

static struct moment moment_of(const struct schedd *schedd, int64_t at_ms)
{
    int64_t now_ms = at_ms > 0 ? at_ms : loop_wall_ms(schedd->loop);
    return (struct moment){now_ms, os_zone_offset_s(schedd->os, now_ms / 1000)};
}

/* Sends the event to the logs that the job's owner named. */
static void send_to_owner(struct change *change, const struct job *job,
                          const struct cluster *cluster, const struct ad *event, int64_t at_ms)
{
    const struct schedd *schedd = change_schedd(change);
    const char *log = log_of(job, cluster, "UserLog");
    const char *dagman = log_of(job, cluster, "DAGManNodesLog");
    struct moment moment = moment_of(schedd, at_ms);
    struct event_format format = schedd->settings.event_format;
    struct strbuf text;
    strbuf_init(&text, 0);
    if (dagman[0] != '\0' && dagman_wants(log_of(job, cluster, "DAGManNodesMask"),
                                          ad_int_or(event, "EventTypeNumber", 0))) {
        format.form = EVENT_AS_TEXT; /* DAGMan reads no other */
        event_print(event, moment.now_ms, moment.zone_s, &format, &text);
        send_event(change, job, cluster, dagman, strbuf_text(&text));
        strbuf_clear(&text);
        format = schedd->settings.event_format;
    }
    if (log[0] != '\0') {
        format.form = uses_xml(job, cluster) ? EVENT_AS_XML : format.form;
        event_print(event, moment.now_ms, moment.zone_s, &format, &text);
        send_event(change, job, cluster, log, strbuf_text(&text));
    }
    strbuf_fini(&text);
}

static void send_to_site(struct change *change, const struct ad *event, int64_t at_ms)
{
    const struct schedd *schedd = change_schedd(change);
    struct moment moment = moment_of(schedd, at_ms);
    struct strbuf text;
    strbuf_init(&text, 0);
    event_print(event, moment.now_ms, moment.zone_s, &schedd->settings.site_log.format, &text);
    event_rows_add_site(change, strbuf_text(&text));
    strbuf_fini(&text);
}

static void add_attribute(struct ad *event, const struct ad *view, const char *name)
{
    if (ad_name_is_valid(name) && !ad_attr_is_private(name) && !ad_has(event, name)) {
        copy_value(event, name, view, name);
    }
}

/* Event 028, logged after each event of a job for which somebody wants to see attributes. */
static struct ad *create_information(const struct job *job, const struct ad *trigger)
{
    struct ad *event = event_create(EVENT_AD_INFORMATION, job->cluster->id, job->proc);
    ad_set_int(event, "TriggerEventTypeNumber", ad_int_or(trigger, "EventTypeNumber", 0));
    ad_set_string(event, "TriggerEventTypeName", ad_string_or(trigger, "MyType", ""));
    return event;
}

static void add_for_owner(struct change *change, struct job *job, const struct ad *trigger,
                          int64_t at_ms)
{
    const char *names = job_string(job, "JobAdInformationAttrs", "");
    if (names[0] == '\0') {
        return;
    }
    struct ad *view = job_view(change_schedd(change), job);
    struct ad *event = create_information(job, trigger);
    const char *at = names + strspn(names, ", ");
    while (*at != '\0') {
        char name[NAME_SIZE];
        size_t length = strcspn(at, ", ");
        (void)snprintf(name, sizeof(name), "%.*s", (int)(length < NAME_SIZE ? length : 0), at);
        add_attribute(event, view, name);
        at += length;
        at += strspn(at, ", ");
    }
    send_to_owner(change, job, job->cluster, event, at_ms);
    ad_destroy(event);
    ad_destroy(view);
}

static void add_for_site(struct change *change, struct job *job, const struct ad *trigger,
                         int64_t at_ms)
{
    const char *const *names = change_schedd(change)->settings.site_log.attributes;
    if (names == NULL || names[0] == NULL) {
        return;
    }
    struct ad *view = job_view(change_schedd(change), job);
    struct ad *event = create_information(job, trigger);
    for (size_t i = 0; names[i] != NULL; i++) {
        add_attribute(event, view, names[i]);
    }
    send_to_site(change, event, at_ms);
    ad_destroy(event);
    ad_destroy(view);
}

/* Logs an event that happened at at_ms (0: now).  Frees event. */
static void tell_at(struct change *change, struct job *job, struct ad *event, int64_t at_ms)
{
    send_to_owner(change, job, job->cluster, event, at_ms);
    add_for_owner(change, job, event, at_ms);
    if (change_schedd(change)->settings.site_log.path != NULL) {
        send_to_site(change, event, at_ms);
        add_for_site(change, job, event, at_ms);
    }
    ad_destroy(event);
}

static void tell_event(struct change *change, struct job *job, struct ad *event)
{
    tell_at(change, job, event, 0);
}

static struct ad *begin_event(const struct change *change, const struct job *job,
                              enum event_type type)
{
    return has_log(change_schedd(change), job) ? event_create(type, job->cluster->id, job->proc)
                                               : NULL;
}

/* ---- parts of events ------------------------------------------------------------------------- */

/* Sets an address "tcp:HOST:PORT" in the form that HTCondor writes. */
static void set_address(struct ad *event, const char *name, const char *address, const char *alias)
{
    const char *at = strncmp(address, "tcp:", 4) == 0 ? address + 4 : address;
    const char *colon = strrchr(at, ':');
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_putc(&text, '<');
    strbuf_puts(&text, at);
    if (colon != NULL) {
        strbuf_puts(&text, "?addrs=");
        strbuf_append(&text, at, (size_t)(colon - at));
        strbuf_putc(&text, '-');
        strbuf_puts(&text, colon + 1);
        strbuf_puts(&text, "&alias=");
    } else {
        strbuf_puts(&text, ":0?alias=");
    }
    strbuf_puts(&text, alias);
    strbuf_puts(&text, "&noUDP>");
    ad_set_string(event, name, strbuf_text(&text));
    strbuf_fini(&text);
}

/* Sets an address made of the machine's name in "slot1@machine"; a startd has no port of its
 * own. */
static void set_startd(struct ad *event, const char *name, const char *slot)
{
    const char *at = strchr(slot, '@');
    const char *machine = at != NULL ? at + 1 : slot;
    set_address(event, name, machine, machine);
}

static const char *slot_of(const struct job *job)
{
    const char *slot = job_string(job, "RemoteHost", "");
    return slot[0] != '\0' ? slot : job_string(job, "LastRemoteHost", "");
}

static double real_of(const struct ad *view, const char *name)
{
    struct ad_value value;
    double real = 0;
    if (ad_eval_attr(view, NULL, name, NULL, &value) == 0) {
        real = value.type == AD_TYPE_INT    ? (double)value.integer
               : value.type == AD_TYPE_REAL ? value.real
                                            : 0;
        ad_value_fini(&value);
    }
    return real;
}

static void set_usage(struct ad *event, const char *name, double user_s, double system_s)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    event_usage_text(user_s, system_s, &text);
    ad_set_string(event, name, strbuf_text(&text));
    strbuf_fini(&text);
}

static void set_run(struct ad *event, const struct ad *view)
{
    set_usage(event, "RunRemoteUsage", real_of(view, "RemoteUserCpu"),
              real_of(view, "RemoteSysCpu"));
    set_usage(event, "RunLocalUsage", 0, 0);
    ad_set_real(event, "SentBytes", real_of(view, "BytesSent"));
    ad_set_real(event, "ReceivedBytes", real_of(view, "BytesRecvd"));
}

static void set_exit(struct ad *event, const struct ad *view)
{
    bool by_signal = ad_bool_or(view, "ExitBySignal", false);
    ad_set_bool(event, "TerminatedNormally", !by_signal);
    if (by_signal) {
        ad_set_int(event, "TerminatedBySignal", ad_int_or(view, "ExitSignal", 0));
    } else {
        ad_set_int(event, "ReturnValue", ad_int_or(view, "ExitCode", 0));
    }
}

/* Calls each(arg, resource, amount) for each resource of the slot, as the attributes
 * <Resource>Provisioned say. */
static void each_resource(const struct job *job,
                          void (*each)(void *arg, const char *resource, int64_t amount), void *arg)
{
    size_t at = 0;
    const char *name = NULL;
    const struct ad_expr *expr = NULL;
    while (job->own != NULL && ad_next(job->own, &at, &name, &expr)) {
        char resource[NAME_SIZE];
        size_t length = strlen(name), suffix = strlen(PROVISIONED);
        if (length > suffix && length - suffix < sizeof(resource) &&
            text_equal_nocase(name + length - suffix, PROVISIONED)) {
            memcpy(resource, name, length - suffix);
            resource[length - suffix] = '\0';
            each(arg, resource, ad_int_or(job->own, name, 0));
        }
    }
}

struct table {
    struct ad *event;
    const struct ad *view;
    struct strbuf names;
};

static void add_resource(void *arg, const char *resource, int64_t amount)
{
    struct table *table = arg;
    char request[NAME_SIZE + 16], usage[NAME_SIZE + 16], assigned[NAME_SIZE + 16];
    (void)snprintf(request, sizeof(request), "Request%s", resource);    /* fits */
    (void)snprintf(usage, sizeof(usage), "%sUsage", resource);          /* fits */
    (void)snprintf(assigned, sizeof(assigned), "Assigned%s", resource); /* fits */
    strbuf_printf(&table->names, "%s ", resource);
    ad_set_int(table->event, resource, amount);
    copy_value(table->event, request, table->view, request);
    copy_value(table->event, usage, table->view, usage);
    const char *devices = ad_string_or(table->view, assigned, "");
    if (devices[0] != '\0') {
        ad_set_string(table->event, assigned, devices);
    }
}

static void set_resources(struct ad *event, const struct schedd *schedd, const struct job *job,
                          const struct ad *view)
{
    struct table table = {.event = event, .view = view};
    strbuf_init(&table.names, 0);
    each_resource(job, add_resource, &table);
    if (table.names.length == 0) {
        strbuf_fini(&table.names);
        return;
    }
    int64_t ran_s = claim_ran_s(schedd, job);
    double energy_kwh = real_of(view, "RemoteEnergyUsed");
    strbuf_puts(&table.names,
                energy_kwh > 0 ? "Energy TimeExecute TimeSlotBusy" : "TimeExecute TimeSlotBusy");
    if (energy_kwh > 0) {
        ad_set_real(event, "EnergyUsage", energy_kwh * JOULES_PER_KWH);
    }
    ad_set_string(event, EVENT_RESOURCES, strbuf_text(&table.names));
    ad_set_int(event, "TimeExecuteUsage", ran_s);
    ad_set_int(event, "TimeSlotBusyUsage", claim_given_s(schedd, job));
    copy_value(event, "DiskUsage", view, "DiskUsage");
    if (!ad_has(event, "CpusUsage") && ran_s > 0) {
        double cpu_s = real_of(view, "RemoteUserCpu") + real_of(view, "RemoteSysCpu");
        ad_set_real(event, "CpusUsage", cpu_s / (double)ran_s);
    }
    strbuf_fini(&table.names);
}

/* ---- mail ------------------------------------------------------------------------------------ */

static void send_mail(struct change *change, struct job *job, enum mail_occasion occasion,
                      const char *reason)
{
    struct schedd *schedd = change_schedd(change);
    if (job_int(job, "JobNotification", MAIL_NEVER) == MAIL_NEVER) {
        return;
    }
    struct ad *flat = job_flat(schedd, job);
    if (mail_plan_is_wanted(flat, occasion)) {
        int64_t now_s = loop_wall_s(schedd->loop);
        const struct mail_facts facts = {.occasion = occasion,
                                         .reason = reason,
                                         .machine = schedd->self.machine,
                                         .domain = schedd->self.uid_domain,
                                         .now_s = now_s,
                                         .zone_s = os_zone_offset_s(schedd->os, now_s)};
        struct strbuf message;
        strbuf_init(&message, MAIL_BYTES_MAX);
        mail_plan_message(flat, &facts, &message);
        event_rows_add_mail(change, job->cluster->owner, strbuf_text(&message));
        strbuf_fini(&message);
    }
    ad_destroy(flat);
}

/* ---- submission and start -------------------------------------------------------------------- */

static void set_submitter(struct ad *event, const struct schedd *schedd)
{
    set_address(event, "SubmitHost", schedd->self.address, schedd->self.machine);
}

void events_submitted(struct change *change, struct job *job)
{
    struct ad *event = begin_event(change, job, EVENT_SUBMIT);
    if (event == NULL) {
        return;
    }
    set_submitter(event, change_schedd(change));
    static const char *const NOTES[][2] = {{"LogNotes", "SubmitEventNotes"},
                                           {"UserNotes", "SubmitEventUserNotes"}};
    for (size_t i = 0; i < ARRAY_COUNT(NOTES); i++) {
        const char *notes = job_string(job, NOTES[i][1], "");
        if (notes[0] != '\0') {
            ad_set_string(event, NOTES[i][0], notes);
        }
    }
    tell_event(change, job, event);
}

static void add_prop(void *props, const char *resource, int64_t amount)
{
    ad_set_int(props, resource, amount);
}

void events_executing(struct change *change, struct job *job, const struct ad *started)
{
    send_mail(change, job, MAIL_STARTED, "");
    struct ad *event = begin_event(change, job, EVENT_EXECUTE);
    if (event == NULL) {
        return;
    }
    set_startd(event, "ExecuteHost", slot_of(job));
    ad_set_string(event, "SlotName", slot_of(job));
    struct ad *props = ad_create();
    each_resource(job, add_prop, props);
    const char *scratch = ad_string_or(started, "CondorScratchDir", "");
    if (scratch[0] != '\0') {
        ad_set_string(props, "CondorScratchDir", scratch);
    }
    machine_attrs_tell(job, job->claim != NULL ? job->claim->slot_ad : NULL, props);
    ad_set_ad(event, "ExecuteProps", props);
    tell_event(change, job, event);
}

static int64_t image_size(const struct job *job, const struct ad *usage)
{
    int64_t size = ad_int_or(usage, "ImageSize", 0);
    int64_t before = job_int(job, "ImageSize", 0);
    return size > before ? size : before;
}

bool events_usage_is_news(const struct schedd *schedd, const struct job *job,
                          const struct ad *usage)
{
    return has_log(schedd, job) &&
           (ad_has(usage, "ImageSize") || ad_has(usage, "ResidentSetSize")) &&
           image_size(job, usage) > job_int(job, LOGGED_SIZE, -1);
}

void events_usage(struct change *change, struct job *job, const struct ad *usage)
{
    if (!events_usage_is_news(change_schedd(change), job, usage)) {
        return;
    }
    struct ad *event = begin_event(change, job, EVENT_IMAGE_SIZE);
    ad_set_int(event, "Size", image_size(job, usage));
    copy_value(event, "MemoryUsage", usage, "MemoryUsage");
    copy_value(event, "ResidentSetSize", usage, "ResidentSetSize");
    copy_value(event, "ProportionalSetSize", usage, "ProportionalSetSizeKb");
    ad_set_int(job_own(job), LOGGED_SIZE, image_size(job, usage));
    tell_event(change, job, event);
}

/* ---- ends of runs ---------------------------------------------------------------------------- */

/* At the end of a run: adds what it used to the job's totals, and resets the values of the run. */
static void add_to_totals(struct job *job)
{
    static const char *const SUMS[][2] = {{"RemoteUserCpu", "CumulativeRemoteUserCpu"},
                                          {"RemoteSysCpu", "CumulativeRemoteSysCpu"},
                                          {"RemoteEnergyUsed", "CumulativeRemoteEnergyUsed"}};
    struct ad *own = job_own(job);
    for (size_t i = 0; i < ARRAY_COUNT(SUMS); i++) {
        double run = ad_real_or(own, SUMS[i][0], 0);
        if (i < 2 || run > 0) { /* what energy costs is not known everywhere */
            ad_set_real(own, SUMS[i][1], ad_real_or(own, SUMS[i][1], 0) + run);
        }
        if (ad_has(own, SUMS[i][0])) {
            ad_set_real(own, SUMS[i][0], 0);
        }
    }
}

/* Adds the energy of the last run to the sum; its own value stays to be seen. */
static void add_last_energy(struct job *job)
{
    struct ad *own = job_own(job);
    double run = ad_real_or(own, "RemoteEnergyUsed", 0);
    if (run > 0) {
        double before = ad_real_or(own, "CumulativeRemoteEnergyUsed", 0);
        ad_set_real(own, "CumulativeRemoteEnergyUsed", before + run);
    }
}

void events_checkpointed(struct change *change, struct job *job)
{
    struct ad *event = begin_event(change, job, EVENT_CHECKPOINTED);
    if (event != NULL) {
        struct ad *view = job_view(change_schedd(change), job);
        set_run(event, view);
        ad_remove(event, "ReceivedBytes");
        ad_set_real(event, "SentBytes",
                    real_of(view, CKPT_IMAGE_BYTES) + real_of(view, CKPT_FILES_BYTES));
        ad_destroy(view);
        tell_event(change, job, event);
    }
}

void events_evicted(struct change *change, struct job *job, int64_t code, int64_t subcode,
                    const char *reason)
{
    struct ad *event = begin_event(change, job, EVENT_EVICTED);
    if (event != NULL) {
        struct ad *view = job_view(change_schedd(change), job);
        ad_set_bool(event, "Checkpointed", checkpoint_plan_run_has_one(job->own));
        ad_set_bool(event, "TerminatedAndRequeued", false);
        ad_set_bool(event, "TerminatedNormally", false);
        set_run(event, view);
        ad_set_string(event, "Reason", reason);
        if (code != 0) {
            ad_set_int(event, "ReasonCode", code);
            ad_set_int(event, "ReasonSubCode", subcode);
        }
        set_resources(event, change_schedd(change), job, view);
        ad_destroy(view);
        tell_event(change, job, event);
    }
    add_to_totals(job);
}

void events_requeued(struct change *change, struct job *job, const char *reason)
{
    struct ad *event = begin_event(change, job, EVENT_EVICTED);
    if (event != NULL) {
        struct ad *view = job_view(change_schedd(change), job);
        ad_set_bool(event, "Checkpointed", false);
        ad_set_bool(event, "TerminatedAndRequeued", true);
        set_run(event, view);
        set_exit(event, view);
        ad_set_string(event, "Reason", reason);
        ad_destroy(view);
        tell_event(change, job, event);
    }
    add_to_totals(job);
}

static void tell_reason(struct change *change, struct job *job, enum event_type type,
                        const char *reason)
{
    struct ad *event = begin_event(change, job, type);
    if (event != NULL) {
        ad_set_string(event, "Reason", reason);
        tell_event(change, job, event);
    }
}

void events_terminated(struct change *change, struct job *job)
{
    send_mail(change, job, MAIL_ENDED, "");
    add_last_energy(job);
    if (ad_bool_or(job->own, "DataflowJobSkipped", false)) {
        tell_reason(change, job, EVENT_DATAFLOW_SKIPPED,
                    "Its output files are newer than its input files");
        return;
    }
    struct ad *event = begin_event(change, job, EVENT_TERMINATED);
    if (event == NULL) {
        return;
    }
    struct ad *view = job_view(change_schedd(change), job);
    set_exit(event, view);
    set_run(event, view);
    set_usage(event, "TotalRemoteUsage",
              real_of(view, "CumulativeRemoteUserCpu") + real_of(view, "RemoteUserCpu"),
              real_of(view, "CumulativeRemoteSysCpu") + real_of(view, "RemoteSysCpu"));
    set_usage(event, "TotalLocalUsage", 0, 0);
    ad_set_real(event, "TotalSentBytes", real_of(view, "BytesSent"));
    ad_set_real(event, "TotalReceivedBytes", real_of(view, "BytesRecvd"));
    set_resources(event, change_schedd(change), job, view);
    ad_destroy(view);
    tell_event(change, job, event);
}

/* ---- the rest -------------------------------------------------------------------------------- */

void events_aborted(struct change *change, struct job *job, const char *reason)
{
    send_mail(change, job, MAIL_REMOVED, reason);
    add_last_energy(job);
    tell_reason(change, job, EVENT_ABORTED, reason);
}

void events_released(struct change *change, struct job *job, const char *reason)
{
    tell_reason(change, job, EVENT_RELEASED, reason);
}

void events_suspended(struct change *change, struct job *job, int64_t processes)
{
    struct ad *event = begin_event(change, job, EVENT_SUSPENDED);
    if (event != NULL) {
        ad_set_int(event, "NumberOfPIDs", processes);
        tell_event(change, job, event);
    }
}

void events_unsuspended(struct change *change, struct job *job)
{
    struct ad *event = begin_event(change, job, EVENT_UNSUSPENDED);
    if (event != NULL) {
        tell_event(change, job, event);
    }
}

void events_held(struct change *change, struct job *job)
{
    send_mail(change, job, MAIL_HELD, job_string(job, "HoldReason", ""));
    struct ad *event = begin_event(change, job, EVENT_HELD);
    if (event != NULL) {
        ad_set_string(event, "HoldReason", job_string(job, "HoldReason", ""));
        ad_set_int(event, "HoldReasonCode", job_int(job, "HoldReasonCode", 0));
        ad_set_int(event, "HoldReasonSubCode", job_int(job, "HoldReasonSubCode", 0));
        tell_event(change, job, event);
    }
}

static void tell_connection(struct change *change, struct job *job, enum event_type type,
                            const char *reason_name, const char *reason)
{
    struct ad *event = begin_event(change, job, type);
    if (event != NULL) {
        ad_set_string(event, "StartdName", slot_of(job));
        set_startd(event, "StartdAddr", slot_of(job));
        if (reason != NULL) {
            ad_set_string(event, reason_name, reason);
        } else {
            set_startd(event, "StarterAddr", slot_of(job));
        }
        tell_event(change, job, event);
    }
}

void events_disconnected(struct change *change, struct job *job, const char *reason)
{
    tell_connection(change, job, EVENT_DISCONNECTED, "DisconnectReason", reason);
}

void events_reconnected(struct change *change, struct job *job)
{
    tell_connection(change, job, EVENT_RECONNECTED, "", NULL);
}

void events_lost(struct change *change, struct job *job, const char *reason)
{
    tell_connection(change, job, EVENT_RECONNECT_FAILED, "Reason", reason);
}

void events_starter_failed(struct change *change, struct job *job, const char *why)
{
    struct ad *event = begin_event(change, job, EVENT_SHADOW_EXCEPTION);
    if (event != NULL) {
        struct strbuf text;
        strbuf_init(&text, 0);
        strbuf_printf(&text, "Error from %s: %s", slot_of(job), why);
        ad_set_string(event, "Message", strbuf_text(&text));
        ad_set_real(event, "SentBytes", ad_real_or(job_own(job), "BytesSent", 0));
        ad_set_real(event, "ReceivedBytes", ad_real_or(job_own(job), "BytesRecvd", 0));
        ad_set_bool(event, "BeganExecution", job->phase == JOB_ACTIVE);
        strbuf_fini(&text);
        tell_event(change, job, event);
    }
    add_to_totals(job);
}

static void set_expression(struct ad *event, const char *name, const struct ad_expr *expr)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    ad_expr_print(expr, AD_OLD, &text);
    ad_set_string(event, name, strbuf_text(&text));
    strbuf_fini(&text);
}

void events_attribute(struct change *change, struct job *job, const char *name,
                      const struct ad_expr *value)
{
    struct ad *event = begin_event(change, job, EVENT_ATTRIBUTE_UPDATE);
    if (event == NULL) {
        return;
    }
    struct ad *view = job_view(change_schedd(change), job);
    const struct ad_expr *before = ad_lookup(view, name);
    ad_set_string(event, "Attribute", name);
    set_expression(event, "Value", value);
    if (before != NULL) {
        set_expression(event, "OldValue", before);
    }
    ad_destroy(view);
    tell_event(change, job, event);
}

void events_transfer(struct change *change, struct job *job, enum event_transfer type,
                     int64_t at_ms)
{
    struct ad *event = begin_event(change, job, EVENT_FILE_TRANSFER);
    if (event != NULL) {
        ad_set_int(event, "Type", type);
        if (type == TRANSFER_IN_STARTED) {
            set_startd(event, "Host", slot_of(job));
        }
        tell_at(change, job, event, at_ms);
    }
}

/* ---- clusters whose jobs are made one by one ------------------------------------------------- */

static void tell_cluster(struct change *change, const struct cluster *cluster, struct ad *event)
{
    send_to_owner(change, NULL, cluster, event, 0);
    if (change_schedd(change)->settings.site_log.path != NULL) {
        send_to_site(change, event, 0);
    }
    ad_destroy(event);
}

void events_cluster_submitted(struct change *change, const struct cluster *cluster)
{
    struct ad *event = event_create(EVENT_CLUSTER_SUBMIT, cluster->id, -1);
    set_submitter(event, change_schedd(change));
    tell_cluster(change, cluster, event);
}

void events_cluster_removed(struct change *change, const struct cluster *cluster, int64_t jobs,
                            int64_t rows, int64_t completion, const char *notes)
{
    struct ad *event = event_create(EVENT_CLUSTER_REMOVE, cluster->id, -1);
    ad_set_int(event, "NextProcId", jobs);
    ad_set_int(event, "NextRow", rows);
    ad_set_int(event, "Completion", completion);
    if (notes != NULL && notes[0] != '\0') {
        ad_set_string(event, "Notes", notes);
    }
    tell_cluster(change, cluster, event);
}

void events_factory_paused(struct change *change, const struct cluster *cluster, const char *reason,
                           int64_t pause_code, int64_t hold_code)
{
    struct ad *event = event_create(EVENT_FACTORY_PAUSED, cluster->id, -1);
    ad_set_string(event, "Reason", reason);
    ad_set_int(event, "PauseCode", pause_code);
    if (hold_code != 0) {
        ad_set_int(event, "HoldCode", hold_code);
    }
    tell_cluster(change, cluster, event);
}

void events_factory_resumed(struct change *change, const struct cluster *cluster,
                            const char *reason)
{
    struct ad *event = event_create(EVENT_FACTORY_RESUMED, cluster->id, -1);
    ad_set_string(event, "Reason", reason);
    tell_cluster(change, cluster, event);
}
