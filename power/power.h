/* power/power.h - switching machines on and off: one table of operations, a file per method.
 *
 * A method is a row of power_methods[] (power/power.c) and a file power/method_<name>.c.  The
 * rooster wakes and asks; the startd puts its own machine to sleep.  Success of a wake is the
 * machine's live ad, never what is reported here: a method only says that the order was given, or
 * why not.
 *
 * Methods of now: `process` (a machine is a process group of this host, started by roost-master:
 * laptops, demo, tests), `host` (this machine itself, to sleep), `command` (any program), `wol`
 * (magic packets), `libvirt` (a guest of a hypervisor), `ipmi` and `redfish` (by the
 * machine's management controller).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_POWER_H
#define POWER_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct knob_table;
struct log;
struct loop;
struct os;

extern const struct knob_table power_knobs; /* the `node` sections */

enum power_state { POWER_UNKNOWN, POWER_ON, POWER_OFF };
const char *power_state_name(enum power_state state); /* "Unknown" "On" "Off" */

/* How one machine is switched: from the rooster's `node` section, or the startd's own knobs.  What
 * a method does not use is NULL.  All borrowed until done is called. */
struct power_node {
    const char *name;     /* Machine */
    const char *method;   /* "process", "host", "command", "wol", "libvirt", "ipmi", "redfish" */
    const char *config;   /* process: the node's configuration file (ROOST_CONFIG of its master) */
    const char *lock_dir; /* process: the node's LOCK directory, where its master.lock tells whether
                             it lives */
    const char *program;  /* process: path of roost-master */
    const char *wake_command;     /* command: run with the node's name as its argument and the ad on
                                     standard input */
    const char *sleep_command;    /* "" the same */
    const char *root;             /* host: put before /sys/power; NULL: nothing */
    const char *plugin;           /* host: HIBERNATION_PLUGIN and its arguments; NULL: none */
    bool by_logind;               /* host: systemctl does it; else the kernel is told */
    const char *status_command;   /* "" exit status 0 on, 1 off, anything else unknown */
    const char *hardware_address; /* wol: "52:54:00:12:34:56" */
    const char *subnet; /* wol: its network, "10.0.0.0/24"; NULL: try those of all our adapters */
    const char *relay;  /* wol: who sends: "auto" or NULL, "always", "never": power_relay_by() */
    const char *password_file; /* wol: with the password that its adapter wants; NULL: none */
    int64_t wake_port;         /* wol: of UDP; 0: 9 */
    int64_t wake_repeats;      /* wol: how often each packet is sent; 0: 3 */
    /* wol: a magic packet that somebody else made, instead of hardware_address and password_file;
     * it is sent on our own networks only. */
    const void *packet;
    size_t packet_length;
    const char *helper;         /* libvirt: path of roost-libvirt */
    const char *uri;            /* libvirt: of the connection, "qemu:///system" */
    const char *domain;         /* libvirt: name, UUID or network address; NULL: the node's name */
    const char *domain_sleep;   /* libvirt: how it is taken down; NULL: as the level says */
    int64_t shutdown_timeout_s; /* libvirt: for the guest; then it is destroyed; ipmi, redfish: the
                                   same */
    const char *bmc;      /* ipmi, redfish: its controller: "HOST", "HOST:PORT", "[ADDRESS]:PORT" */
    const char *bmc_user; /* ipmi, redfish: the account there */
    const char *bmc_password_file; /* ipmi, redfish: with its password */
    const char *bmc_program;       /* ipmi: path of ipmitool; redfish: of curl */
    const char *bmc_privilege;     /* ipmi: that is asked for; NULL: "OPERATOR" */
    const char *bmc_sleep;         /* ipmi, redfish: "graceful" or NULL, "soft", "off" */
    int64_t cipher_suite;          /* ipmi: 0: ipmitool's */
    const char *bmc_system;        /* redfish: path, or what is below Systems; NULL: the only one */
    const char *bmc_ca;  /* redfish: file with whom to trust; NULL: whom this host trusts */
    const char *bmc_pin; /* redfish: "sha256//..." of the controller's public key */
    const char
        *ad_text; /* the offline ad in long form, for the commands' standard input; may be NULL */
    uint64_t deadline_ms; /* for the order itself (not the boot); 0: 30 s */
};

/* status 0: the order was given; negative errno and a line of text naming node and method: not. */
typedef void (*power_done_f)(void *arg, int status, const char *text);
typedef void (*power_status_f)(void *arg, enum power_state state, const char *text);

struct power; /* the operations under way of one process */
struct power *power_create(struct loop *loop, struct os *os, struct log *log);
void power_destroy(struct power *power); /* drops what is under way; no callbacks */

/* Starts an operation; done comes later, never inside the call.  -EINVAL: unknown method, or an
 * option it needs is missing (err names both). */
int power_wake(struct power *power, const struct power_node *node, power_done_f done, void *arg,
               struct err *err);
int power_sleep(struct power *power, const struct power_node *node, const char *level,
                power_done_f done, void *arg,
                struct err *err); /* level: "S5", "S3", ...: what the machine decided */
int power_status(struct power *power, const struct power_node *node, power_status_f done, void *arg,
                 struct err *err);

/* Ends the sleeps under way of that arg, as the machine is to stay up: done has -ECANCELED.  What
 * the machine was told it may still do; nothing more is done to it. */
void power_sleep_cancel(struct power *power, const void *arg);
/* How long power_sleep() may take, at most, milliseconds. */
uint64_t power_sleep_max_ms(const struct power_node *node, const char *level);

/* What a method can tell of a machine without being asked. */
struct power_news {
    enum power_state state;
    bool answers;     /* false: nobody can be asked, the state is not known */
    const char *text; /* "shut off (destroyed)" */
};
struct power_watch; /* until it is ended, or the power it is of destroyed */
typedef void (*power_news_f)(void *arg, const struct power_news *news);
/* news is told soon, and whenever the state is another one, whoever changed it.  -ENOTSUP: the
 * method has to be asked; else as power_status(). */
int power_watch(struct power *power, const struct power_node *node, power_news_f news, void *arg,
                struct power_watch **ret, struct err *err);
void power_watch_end(struct power_watch *watch); /* NULL is allowed */

/* What can be done with a node that is described so. */
#define POWER_CAN_WAKE   1U
#define POWER_CAN_SLEEP  2U
#define POWER_CAN_STATUS 4U
#define POWER_CAN_WATCH  8U
unsigned power_can(const struct power_node *node);

/* A magic packet for a machine whose network we are not on: some awake machine of that network is
 * to send it.  All borrowed for the call. */
struct power_relay {
    const char *node, *subnet; /* subnet NULL: not known */
    const void *packet;        /* it may hold a password */
    size_t packet_length;
    int64_t port, repeats;
};
/* done comes later, once: status 0 and who sent it; -ENOENT: nobody is awake there.  It is not to
 * be called any more after power_destroy(). */
typedef void (*power_relay_f)(void *arg, const struct power_relay *what, power_done_f done,
                              void *done_arg);
void power_relay_by(struct power *power, power_relay_f relay, void *arg);

/* May this node be described so?  For checking a configuration. */
int power_check(const struct power_node *node, struct err *err);

/* The methods, in order; NULL after the last. */
const char *power_method_name(unsigned index);

#endif
