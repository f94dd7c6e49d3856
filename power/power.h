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

extern const struct knob_table power_knobs; /* knobs of the `node` sections of the configuration */

/* State of a machine, as its method reports it. */
enum power_state { POWER_UNKNOWN, POWER_ON, POWER_OFF };
/* Name of a state: "Unknown" "On" "Off". */
const char *power_state_name(enum power_state state);

/* How one machine is switched, as the rooster's `node` section says, or a startd's own knobs.
 * Members that the method does not use are NULL or 0; comments name the methods that use a member.
 * All texts must live until the functions of this header that get the node have returned. */
struct power_node {
    const char *name;   /* name of the machine, the value of Machine in its ads */
    const char *method; /* "process", "host", "command", "wol", "libvirt", "ipmi", "redfish" */
    const char *config; /* process: configuration file of the machine's master (ROOST_CONFIG) */
    /* process: the master's LOCK directory; its master.lock tells whether it runs */
    const char *lock_dir;
    const char *program; /* process: path of roost-master */
    /* command: program that wakes the machine; it gets `name` as argument and ad_text on standard
     * input */
    const char *wake_command;
    /* command: program that powers the machine down; it gets `name` as argument and ad_text on
     * standard input.  host: program that switches this machine off; NULL: none is configured */
    const char *sleep_command;
    const char *root;   /* host: prefix of the path /sys/power, for tests; NULL: none */
    const char *plugin; /* host: HIBERNATION_PLUGIN and its arguments; NULL: none is configured */
    /* host: how this machine sleeps: true: by systemctl; false: by writing to /sys/power */
    bool by_logind;
    /* command: program whose exit status is the machine's state: 0 on, 1 off, others unknown */
    const char *status_command;
    /* wol: hardware address of the machine's adapter, "52:54:00:12:34:56" */
    const char *hardware_address;
    /* wol: network of the machine, "10.0.0.0/24"; NULL: not known, the packet is sent on all
     * networks of this host */
    const char *subnet;
    /* wol: whether a relay sends the packet: "auto" or NULL (if this host is not on the network
     * `subnet`), "always", "never" */
    const char *relay;
    /* wol: file with the password (SecureOn) of the machine's adapter; NULL: none */
    const char *password_file;
    int64_t wake_port;    /* wol: UDP port; 0: the default, 9 */
    int64_t wake_repeats; /* wol: how many times each packet is sent; 0: the default, 3 */
    /* wol: a complete magic packet that another host asked this host to send, used instead of
     * hardware_address and password_file.  It is sent only on networks of this host. */
    const void *packet;
    size_t packet_length;
    const char *helper; /* libvirt: path of roost-libvirt */
    const char *uri;    /* libvirt: URI of the connection, "qemu:///system" */
    const char *domain; /* libvirt: name, UUID or network address of the guest; NULL: `name` */
    /* libvirt: how the guest is powered down: "shutdown", "acpi", "agent", "save", "suspend",
     * "disk" or "destroy" (virt/line_plan.h); NULL or "level": as `level` of power_sleep() says */
    const char *domain_sleep;
    /* libvirt, ipmi, redfish: seconds that a shutdown may take before the machine is switched off;
     * 0: the method's default */
    int64_t shutdown_timeout_s;
    const char *bmc;      /* ipmi, redfish: the controller: "HOST", "HOST:PORT", "[ADDRESS]:PORT" */
    const char *bmc_user; /* ipmi, redfish: user name at the controller */
    const char *bmc_password_file; /* ipmi, redfish: file with the password of bmc_user */
    const char *bmc_program;       /* ipmi: path of ipmitool; redfish: path of curl */
    const char *bmc_privilege;     /* ipmi: privilege level; NULL: "OPERATOR" */
    const char *bmc_sleep; /* ipmi, redfish: how to power down: "graceful" or NULL, "soft", "off" */
    int64_t cipher_suite;  /* ipmi: number of the cipher suite; 0: ipmitool's default */
    /* redfish: path of the machine's system, or its name under Systems; NULL: the controller has
     * only one system */
    const char *bmc_system;
    /* redfish: file of CA certificates; NULL: the CA certificates of this host */
    const char *bmc_ca;
    /* redfish: fingerprint of the controller's public key, for curl: "sha256//..." */
    const char *bmc_pin;
    /* command: the machine's offline ad in long form, the standard input of the programs; NULL:
     * their standard input is empty */
    const char *ad_text;
    /* time limit for the operation, without the boot; 0: the method's default */
    uint64_t deadline_ms;
};

/* Called at the end of a wake or sleep.  status 0: the order was given; a negative errno: the order
 * was not given, and text, one line, names node and method. */
typedef void (*power_done_f)(void *arg, int status, const char *text);
typedef void (*power_status_f)(void *arg, enum power_state state, const char *text);

struct power; /* the operations under way of one process */
struct power *power_create(struct loop *loop, struct os *os, struct log *log);
/* Frees power.  Operations under way are dropped, and their callbacks are not called. */
void power_destroy(struct power *power);

/* Begins to wake a machine.  done is called later, never before this function has returned.
 * Returns 0; -EINVAL: the method is unknown or an option is missing, as err says; done is then not
 * called. */
int power_wake(struct power *power, const struct power_node *node, power_done_f done, void *arg,
               struct err *err);
/* Begins to power a machine down; done is called later.  level: the sleep state, "S5", "S3", ...,
 * that the machine decided on.  Returns 0 or -EINVAL, for the same reasons as power_wake(). */
int power_sleep(struct power *power, const struct power_node *node, const char *level,
                power_done_f done, void *arg, struct err *err);
/* Begins to ask for a machine's state; done is called later.  Returns 0 or -EINVAL, for the same
 * reasons as power_wake(). */
int power_status(struct power *power, const struct power_node *node, power_status_f done, void *arg,
                 struct err *err);

/* Ends the operations of power_sleep() under way that were started with this arg, because the
 * machine is to stay up; their done gets -ECANCELED.  A machine that was already told to shut down
 * may still do so, but nothing more is done to it. */
void power_sleep_cancel(struct power *power, const void *arg);
/* Returns how long power_sleep() with this node and level may take at most, milliseconds. */
uint64_t power_sleep_max_ms(const struct power_node *node, const char *level);

/* What a method reports about a machine that is watched. */
struct power_news {
    enum power_state state;
    bool answers;     /* false: nobody answers the method, so the state is not known */
    const char *text; /* the state in words: "shut off (destroyed)" */
};
struct power_watch; /* a watch; power_watch_end() or power_destroy() ends it */
typedef void (*power_news_f)(void *arg, const struct power_news *news);
/* Watches a machine: news is called soon, and at each change of the machine's state, whoever caused
 * it.  Returns 0; -ENOTSUP: the method cannot watch machines; -EINVAL: the method is unknown or an
 * option is missing, as err says. */
int power_watch(struct power *power, const struct power_node *node, power_news_f news, void *arg,
                struct power_watch **ret, struct err *err);
void power_watch_end(struct power_watch *watch); /* NULL is allowed */

/* Bits for what can be done with a node, as its method and its options allow: POWER_CAN_... */
#define POWER_CAN_WAKE   1U
#define POWER_CAN_SLEEP  2U
#define POWER_CAN_STATUS 4U
#define POWER_CAN_WATCH  8U
#define POWER_CAN_REPEAT 16U /* an order to wake may be repeated, also to a machine that boots */
unsigned power_can(const struct power_node *node);

/* A magic packet for a machine on a network that this host is not on.  A machine of that network
 * which is awake is asked to send the packet. */
struct power_relay {
    /* name of the machine to wake, and its network; subnet NULL: not known */
    const char *node, *subnet;
    const void *packet; /* the bytes to send; may contain a password */
    size_t packet_length;
    int64_t port, repeats;
};
/* A function that has another machine send the packet.  It must copy what it needs of *what.  It
 * calls done later, once, but not after power_destroy().  done gets status 0 and as text who sent
 * the packet; -ENOENT: no machine of that network is awake. */
typedef void (*power_relay_f)(void *arg, const struct power_relay *what, power_done_f done,
                              void *done_arg);
/* Sets the function that has other machines send packets; NULL: no machine can be asked. */
void power_relay_by(struct power *power, power_relay_f relay, void *arg);

/* Checks the method and options of a node, when the configuration is read.  Returns 0, or -EINVAL
 * with err. */
int power_check(const struct power_node *node, struct err *err);

/* Returns the name of method number index; NULL after the last. */
const char *power_method_name(unsigned index);

#endif
