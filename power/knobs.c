/* power/knobs.c - the knobs of `node` sections, which describe how a machine is switched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/knob.h"
#include "power/power.h"

static const struct knob NODE[] = {
    {.name = "method",
     .type = KNOB_STRING,
     .choices = "process|command|wol|libvirt|ipmi|redfish",
     .help = "How the machine is switched on and off."},
    {.name = "next_methods",
     .type = KNOB_LIST,
     .help = "Further methods to wake the machine, tried in this order when the methods before "
             "them did not wake it."},
    {.name = "config", .type = KNOB_PATH, .help = "Method process: the node's configuration file."},
    {.name = "lock_dir", .type = KNOB_PATH, .help = "Method process: the node's LOCK directory."},
    {.name = "program",
     .type = KNOB_PATH,
     .fallback = "$(SBIN)/roost-master",
     .help = "Method process: the program that is the node's master."},
    {.name = "wake_command",
     .type = KNOB_STRING,
     .help = "Method command: the program that switches the machine on; its argument is the "
             "machine's name."},
    {.name = "sleep_command",
     .type = KNOB_STRING,
     .help = "Method command: the program that switches the machine off; its argument is the "
             "machine's name."},
    {.name = "status_command",
     .type = KNOB_STRING,
     .help = "Method command: the program that tells whether the machine is on; its argument is "
             "the machine's name; exit status 0: on, 1: off, other: unknown. With it, a machine "
             "that is wanted while it shuts down is woken as soon as it is off."},
    {.name = "hardware_address",
     .type = KNOB_STRING,
     .help = "Method wol: hardware address of the adapter that listens while the machine sleeps, "
             "as 52:54:00:12:34:56; default: HardwareAddress of its offline ads."},
    {.name = "subnet",
     .type = KNOB_STRING,
     .help = "Method wol: the machine's network, as 10.0.0.0/24; default: Subnet of its offline "
             "ads, else the networks of all adapters of the rooster's host."},
    {.name = "relay",
     .type = KNOB_STRING,
     .choices = "auto|always|never",
     .fallback = "auto",
     .help = "Method wol: whether an awake machine of the same network sends the packets; auto: "
             "only if the rooster's host is not on that network."},
    {.name = "password_file",
     .type = KNOB_PATH,
     .help = "Method wol: a file, for its owner alone, with the password that the adapter wants "
             "(SecureOn): 01:23:45:67:89:ab or 1.2.3.4."},
    {.name = "wake_port",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 65535,
     .help =
         "Method wol: UDP port of the packets; 0: WakePort of the machine's offline ads, else 9."},
    {.name = "wake_repeats",
     .type = KNOB_INT,
     .fallback = "3",
     .min = 1,
     .max = 20,
     .help = "Method wol: how often each packet is sent."},
    {.name = "uri",
     .type = KNOB_STRING,
     .fallback = "qemu:///system",
     .help = "Method libvirt: the connection to the hypervisor's daemon."},
    {.name = "domain",
     .type = KNOB_STRING,
     .help =
         "Method libvirt: the guest's name, UUID or network address; default: the machine's name."},
    {.name = "domain_sleep",
     .type = KNOB_STRING,
     .fallback = "level",
     .choices = "level|shutdown|acpi|agent|save|suspend|disk|destroy",
     .help = "Method libvirt: how the guest is powered down; level: as its sleep state says: S5 "
             "shutdown, S4 save (managed save), S1 to S3 suspend (by its agent)."},
    {.name = "shutdown_timeout",
     .type = KNOB_DURATION_S,
     .fallback = "60s",
     .min = 1,
     .max = 3600,
     .help = "Methods libvirt, ipmi, redfish: how long the machine may take to shut down before it "
             "is destroyed (libvirt) or switched off."},
    {.name = "helper",
     .type = KNOB_PATH,
     .fallback = "$(SBIN)/roost-libvirt",
     .help = "Method libvirt: the program that talks to the hypervisor's daemon."},
    {.name = "asleep_watts",
     .type = KNOB_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "W",
     .help = "What the machine draws while it sleeps; 0: ROOSTER_ASLEEP_WATTS."},
    {.name = "idle_watts",
     .type = KNOB_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "W",
     .help = "What the machine draws when it is on and idle; 0: ROOSTER_IDLE_WATTS."},
    {.name = "busy_watts",
     .type = KNOB_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1000000,
     .unit = "W",
     .help = "What the machine draws with all its cores at work; 0: ROOSTER_BUSY_WATTS."},
    {.name = "bmc",
     .type = KNOB_STRING,
     .help = "Methods ipmi, redfish: address of the machine's management controller (BMC): HOST, "
             "HOST:PORT or [ADDRESS]:PORT."},
    {.name = "bmc_user",
     .type = KNOB_STRING,
     .help = "Methods ipmi, redfish: the account at the management controller."},
    {.name = "bmc_password_file",
     .type = KNOB_PATH,
     .help = "Methods ipmi, redfish: a file, for its owner alone, with bmc_user's password."},
    {.name = "bmc_sleep",
     .type = KNOB_STRING,
     .fallback = "graceful",
     .choices = "graceful|soft|off",
     .help = "Methods ipmi, redfish: how the machine is taken down. soft: its operating system is "
             "asked; off: it is switched off; graceful: it is asked first, and switched off after "
             "shutdown_timeout."},
    {.name = "cipher_suite",
     .type = KNOB_INT,
     .fallback = "0",
     .min = 0,
     .max = 17,
     .help = "Method ipmi: the cipher suite; 3 for old controllers; 0: ipmitool's choice."},
    {.name = "privilege",
     .type = KNOB_STRING,
     .fallback = "OPERATOR",
     .choices = "OPERATOR|ADMINISTRATOR",
     .help = "Method ipmi: the privilege level that the session asks for; OPERATOR is enough to "
             "switch a machine."},
    {.name = "ipmitool",
     .type = KNOB_PATH,
     .fallback = "/usr/bin/ipmitool",
     .help = "Method ipmi: path of the program ipmitool."},
    {.name = "bmc_system",
     .type = KNOB_STRING,
     .help = "Method redfish: which of the controller's systems the machine is: a name below "
             "/redfish/v1/Systems, or a path; default: the only system."},
    {.name = "bmc_ca",
     .type = KNOB_PATH,
     .help = "Method redfish: a file with the CA certificates that the controller's certificate is "
             "checked against; default: those of this host."},
    {.name = "bmc_pin",
     .type = KNOB_STRING,
     .help = "Method redfish: sha256//... of the controller's public key, as for curl's "
             "--pinnedpubkey; with bmc_pin and without bmc_ca, the controller's certificate is not "
             "checked otherwise."},
    {.name = "curl",
     .type = KNOB_PATH,
     .fallback = "/usr/bin/curl",
     .help = "Method redfish: path of the program curl."},
};

static const struct knob_section SECTIONS[] = {
    {.kind = "node",
     .options = NODE,
     .option_count = ARRAY_COUNT(NODE),
     .help = "One machine: how it is switched on and off."},
};

const struct knob_table power_knobs = {.owner = "POWER",
                                       .sections = SECTIONS,
                                       .section_count = ARRAY_COUNT(SECTIONS)};
