/* sim/os_net_sim.c - base/os/os_net.h for a simulated process: its machine has no network adapters
 * that could wake it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_net.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"

struct os_caster {
    int nothing;
};

int os_adapters(struct os *os, struct os_adapter *ret, size_t *count, struct err *err)
{
    (void)os;
    (void)ret;
    (void)err;
    *count = 0;
    return 0;
}

void os_adapter_parts(struct os *os, const char *root, const char *name,
                      struct os_adapter_parts *ret)
{
    (void)os;
    (void)root;
    (void)name;
    *ret = (struct os_adapter_parts){.below_count = 0};
}

uint32_t os_route_source(struct os *os, uint32_t to)
{
    (void)os;
    (void)to;
    return 0;
}

int os_wake_flags(struct os *os, const char *adapter, struct os_wake_flags *ret, struct err *err)
{
    (void)os;
    (void)ret;
    return err_set(err, -ENOTSUP, "no adapter %s in a simulation", adapter);
}

int os_wake_on_magic(struct os *os, const char *adapter, const uint8_t password[NET_MAC_BYTES],
                     struct err *err)
{
    (void)os;
    (void)password;
    return err_set(err, -ENOTSUP, "no adapter %s in a simulation", adapter);
}

struct os_caster *os_caster_create(struct os *os)
{
    (void)os;
    return mem_zalloc(sizeof(struct os_caster));
}

void os_caster_destroy(struct os_caster *caster)
{
    mem_free(caster);
}

int os_cast_datagram(struct os_caster *caster, const struct os_adapter *by, uint32_t to,
                     uint16_t port, const void *data, size_t length)
{
    (void)caster;
    (void)by;
    (void)to;
    (void)port;
    (void)data;
    (void)length;
    return -ENETUNREACH;
}

int os_cast_frame(struct os_caster *caster, const struct os_adapter *by, uint16_t type,
                  const void *data, size_t length)
{
    (void)caster;
    (void)by;
    (void)type;
    (void)data;
    (void)length;
    return -EPERM;
}
