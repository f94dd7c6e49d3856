/* power/power.h - switches machines on and off, by one of several methods.
 *
 * A method is a row of power_methods[] (power/power.c) and a file power/method_<name>.c.  The
 * rooster wakes machines and asks for their state; the startd puts its own machine to sleep.  A
 * method reports only whether the order was given.  Whether a wake succeeded is seen by the
 * machine's live ad.
 *
 * Methods: `process` (a machine is a process group of this host, started by roost-master: laptops,
 * demo, tests), `host` (this machine itself, to sleep), `command` (any program), `wol` (magic
 * packets, Wake-on-LAN), `libvirt` (a guest of a hypervisor), `ipmi` and `redfish` (by the
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

extern const struct knob_table power_knobs; /* knobs of the `node` sections */

/* State of a machine, as its method reports it. */
enum power_state { POWER_UNKNOWN, POWER_ON, POWER_OFF };
/* Name of a state: "Unknown" "On" "Off". */
const char *power_state_name(enum power_state state);

/* How one machine is switched: from the rooster's `node` section, or from the startd's own knobs.
 * Members that the method does not use are NULL.  Everything is borrowed until done is called. */
struct power_node {
    const char *name;     /* Machine in its ads */
    const char *method;   /* "process", "host", "command", "wol", "libvirt", "ipmi", "redfish" */
    const char *config;   /* process: configuration file of its master (ROOST_CONFIG) */
    const char *lock_dir; /* process: its LOCK directory, whose master.lock tells whether it runs */
    const char *program;  /* process: path of roost-master */
    /* command: wakes; gets the node's name as argument and ad_text on standard input */
    const char *wake_command;
    const char *sleep_command; /* command: takes down; called like wake_command */
    const char *root;          /* host: prefix of /sys/power; NULL: none */
    const char *plugin; /* host: HIBERNATION_PLUGIN and its arguments; NULL: none is configured */
    bool by_logind;     /* host: use systemctl; else write to /sys/power */
    /* command: its exit status 0 means on, 1 off, anything else unknown */
    const char *status_command;
    const char *hardware_address; /* wol: hardware address of the adapter, "52:54:00:12:34:56" */
    /* wol: network of the machine, "10.0.0.0/24"; NULL: try those of all our adapters */
    const char *subnet;
    const char *relay; /* wol: who sends: "auto" or NULL, "always" a relay, "never" a relay */
    const char
        *password_file;   /* wol: file with the password of its adapter (SecureOn); NULL: none */
    int64_t wake_port;    /* wol: UDP port; 0: 9 */
    int64_t wake_repeats; /* wol: how often each packet is sent; 0: 3 */
    /* wol: a complete magic packet from somebody else, used instead of hardware_address and
     * password_file.  It is sent on our own networks only. */
    const void *packet;
    size_t packet_length;
    const char *helper;       /* libvirt: path of roost-libvirt */
    const char *uri;          /* libvirt: URI of the connection, "qemu:///system" */
    const char *domain;       /* libvirt: name, UUID or network address; NULL: the node's name */
    const char *domain_sleep; /* libvirt: how it is taken down; NULL: by the sleep level */
    /* libvirt, ipmi, redfish: how long a shutdown may take before the machine is switched off. */
    int64_t shutdown_timeout_s;
    const char *bmc;      /* ipmi, redfish: controller: "HOST", "HOST:PORT", "[ADDRESS]:PORT" */
    const char *bmc_user; /* ipmi, redfish: account at the controller */
    const char *bmc_password_file; /* ipmi, redfish: file with its password */
    const char *bmc_program;       /* ipmi: path of ipmitool; redfish: path of curl */
    const char *bmc_privilege;     /* ipmi: privilege level; NULL: "OPERATOR" */
    const char *bmc_sleep;  /* ipmi, redfish: how to sleep: "graceful" or NULL, "soft", "off" */
    int64_t cipher_suite;   /* ipmi: 0: ipmitool's default */
    const char *bmc_system; /* redfish: path, or name below Systems; NULL: the only system */
    const char *bmc_ca;     /* redfish: file of CA certificates; NULL: those of this host */
    const char *bmc_pin; /* redfish: "sha256//..." of the controller's public key, as curl has it */
    /* the offline ad in long form, for the commands' standard input; may be NULL */
    const char *ad_text;
    uint64_t deadline_ms; /* time limit for giving the order, not for the boot; 0: 30 s */
};

/* The end of an operation.  status 0: the order was given; a negative errno: it was not, and text,
 * one line, names node and method. */
typedef void (*power_done_f)(void *arg, int status, const char *text);
typedef void (*power_status_f)(void *arg, enum power_state state, const char *text);

struct power; /* the operations under way of one process */
struct power *power_create(struct loop *loop, struct os *os, struct log *log);
/* frees all; drops operations under way without callbacks */
void power_destroy(struct power *power);

/* Starts a wake; done comes later, never inside the call.  Returns 0, or -EINVAL for an unknown
 * method or a missing option; err names both. */
int power_wake(struct power *power, const struct power_node *node, power_done_f done, void *arg,
               struct err *err);
/* Like power_wake(), takes the machine down.  level: "S5", "S3", ..., as the machine decided. */
int power_sleep(struct power *power, const struct power_node *node, const char *level,
                power_done_f done, void *arg, struct err *err);
/* Like power_wake(), asks for the machine's state. */
int power_status(struct power *power, const struct power_node *node, power_status_f done, void *arg,
                 struct err *err);

/* Ends the sleeps under way that were started with arg, because the machine is to stay up; done
 * gets -ECANCELED.  What the machine was already told, it may still do; nothing further is done to
 * it. */
void power_sleep_cancel(struct power *power, const void *arg);
/* Returns how long power_sleep() may take at most, milliseconds. */
uint64_t power_sleep_max_ms(const struct power_node *node, const char *level);

/* What a method reports of a machine without being asked. */
struct power_news {
    enum power_state state;
    bool answers;     /* false: the method cannot ask anybody, so state is not known */
    const char *text; /* the state in words: "shut off (destroyed)" */
};
struct power_watch; /* ends with power_watch_end() or power_destroy() */
typedef void (*power_news_f)(void *arg, const struct power_news *news);
/* Watches a machine: news is called soon, and at each change of its state, whoever caused it.
 * Returns 0; -ENOTSUP when the method can only be asked; other errors as power_status(). */
int power_watch(struct power *power, const struct power_node *node, power_news_f news, void *arg,
                struct power_watch **ret, struct err *err);
void power_watch_end(struct power_watch *watch); /* NULL is allowed */

/* What can be done with a node, by its method and options. */
#define POWER_CAN_WAKE   1U
#define POWER_CAN_SLEEP  2U
#define POWER_CAN_STATUS 4U
#define POWER_CAN_WATCH  8U
unsigned power_can(const struct power_node *node);

/* A magic packet for a machine on a network that this host is not on: an awake machine of that
 * network is asked to send it.  Everything is borrowed for the call. */
struct power_relay {
    const char *node, *subnet; /* name of the machine, and its network; subnet NULL: not known */
    const void *packet;        /* the bytes to send; may contain a password */
    size_t packet_length;
    int64_t port, repeats;
};
/* Sends the packet by another machine.  done is called later, once: status 0 and who sent it, or
 * -ENOENT: no machine is awake there.  done must not be called after power_destroy(). */
typedef void (*power_relay_f)(void *arg, const struct power_relay *what, power_done_f done,
                              void *done_arg);
/* Sets the function that sends packets by other machines; NULL: there is none. */
void power_relay_by(struct power *power, power_relay_f relay, void *arg);

/* Checks the options of a node, for a configuration check.  Returns 0, or -EINVAL with err. */
int power_check(const struct power_node *node, struct err *err);

/* Returns the name of method number index; NULL after the last. */
const char *power_method_name(unsigned index);

#endif
