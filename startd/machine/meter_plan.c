/* startd/machine/meter_plan.c - see meter_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/machine/meter_plan.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"

#define MICRO     1e-6
#define USE_LEAST 0.05 /* of the CPUs: with less, what a CPU second costs cannot be told */

const char *meter_source_name(enum meter_source source)
{
    static const char *const NAMES[] = {
        [METER_NONE] = "None", [METER_MODEL] = "Model", [METER_RAPL] = "RAPL", [METER_NUT] = "NUT"};
    CHECK((size_t)source < ARRAY_COUNT(NAMES));
    return NAMES[source];
}

/* ---- RAPL */

bool meter_plan_is_counted(const char *directory, const char *name)
{
    static const char PREFIX[] = "intel-rapl:";
    if (strncmp(directory, PREFIX, sizeof PREFIX - 1) != 0) {
        return false;
    }
    return strncmp(name, "package", 7) == 0 || strcmp(name, "dram") == 0;
}

bool meter_plan_number(const char *text, uint64_t *ret)
{
    char *end;
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || (*end != '\0' && *end != '\n')) {
        return false;
    }
    *ret = value;
    return true;
}

double meter_plan_zone_j(uint64_t before_uj, uint64_t now_uj, uint64_t range_uj, double elapsed_s)
{
    uint64_t gone_uj;
    if (now_uj >= before_uj) {
        gone_uj = now_uj - before_uj;
    } else if (range_uj >= before_uj) {
        gone_uj = range_uj - before_uj + now_uj;
    } else {
        return -1;
    }
    double joules = (double)gone_uj * MICRO;
    return elapsed_s > 0 && joules <= METER_ZONE_WATTS_MAX * elapsed_s ? joules : -1;
}

/* ---- NUT */

/* Finds the value of "name: value" in the lines.  False: there is no such line, or it is not a
 * number. */
static bool ups_value(const char *text, const char *name, double *ret)
{
    size_t length = strlen(name);
    for (const char *line = text; *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            char *rest;
            const char *figure = line + length + 1;
            figure += strspn(figure, " ");
            double value = strtod(figure, &rest);
            bool is_number = *figure >= '0' && *figure <= '9' && (*rest == '\0' || *rest == '\n');
            if (is_number && value >= 0 && value <= METER_UPS_WATTS_MAX) {
                *ret = value;
                return true;
            }
            return false;
        }
        if (end == NULL) {
            break;
        }
        line = end + 1;
    }
    return false;
}

int meter_plan_ups_w(const char *text, double *ret, struct err *err)
{
    double load, nominal;
    if (ups_value(text, "ups.realpower", ret)) {
        return 0;
    }
    if (ups_value(text, "ups.load", &load) && ups_value(text, "ups.realpower.nominal", &nominal) &&
        load / 100 * nominal <= METER_UPS_WATTS_MAX) {
        *ret = load / 100 * nominal;
        return 0;
    }
    return err_set(
        err, -ENODATA,
        "the UPS reports neither ups.realpower, nor ups.load with ups.realpower.nominal");
}

/* ---- CPU time */

bool meter_plan_cpu(const char *proc_stat, struct meter_cpu *ret)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COUNT };
    uint64_t ticks[COUNT] = {0};
    size_t count = 0;
    if (strncmp(proc_stat, "cpu ", 4) != 0) {
        return false;
    }
    for (const char *at = proc_stat + 4; count < COUNT; count++) {
        char *end;
        unsigned long long value = strtoull(at, &end, 10);
        if (end == at) {
            break;
        }
        ticks[count] = value;
        at = end;
        if (*at == '\n') {
            count++;
            break;
        }
    }
    if (count <= IDLE) {
        return false;
    }
    struct meter_cpu cpu = {0};
    for (const char *at = strstr(proc_stat, "\ncpu"); at != NULL; at = strstr(at + 1, "\ncpu")) {
        cpu.count++;
    }
    for (size_t i = 0; i < COUNT; i++) {
        cpu.total += ticks[i];
        cpu.busy += i == IDLE || i == IOWAIT || i == STEAL ? 0 : ticks[i];
    }
    *ret = cpu;
    return true;
}

double meter_plan_use(const struct meter_cpu *before, const struct meter_cpu *now)
{
    if (now->total <= before->total || now->busy < before->busy) {
        return -1;
    }
    double use = (double)(now->busy - before->busy) / (double)(now->total - before->total);
    return use > 1 ? 1 : use;
}

/* ---- shares */

static double busy_of(const struct meter_watts *watts)
{
    return watts->busy_w > watts->idle_w ? watts->busy_w : watts->idle_w;
}

double meter_plan_model_w(const struct meter_watts *watts, double use)
{
    double share = use > 1 ? 1 : use > 0 ? use : 0;
    return watts->idle_w + (busy_of(watts) - watts->idle_w) * share;
}

void meter_plan_rates(const struct meter_look *look, const struct meter_rates *before,
                      struct meter_rates *ret)
{
    struct meter_rates rates = {0};
    const struct meter_watts *watts = &look->watts;
    bool model = look->source == METER_MODEL;
    if (look->source == METER_NONE || !(look->cores > 0) || !(look->cpus > 0)) {
        *ret = rates;
        return;
    }
    if (look->use < 0) {
        rates.reserved_w = (model ? busy_of(watts) : look->draw_w) / look->cores;
    } else if (model) {
        rates.reserved_w = watts->idle_w / look->cores;
        rates.used_w = (busy_of(watts) - watts->idle_w) / look->cpus;
    } else {
        /* A figure that was configured for other parts of the machine than are measured must not
         * make all of it idle. */
        double idle_w = look->lowest_w;
        idle_w = watts->idle_w > 0 && watts->idle_w < idle_w ? watts->idle_w : idle_w;
        double over_w = look->draw_w > idle_w ? look->draw_w - idle_w : 0;
        rates.reserved_w = idle_w / look->cores;
        rates.used_w = look->use >= USE_LEAST ? over_w / (look->use * look->cpus) : before->used_w;
    }
    *ret = rates;
}
