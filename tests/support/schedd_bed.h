/* tests/support/schedd_bed.h - a real schedd beside the collector of a bed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_SCHEDD_BED_H
#define TESTS_SUPPORT_SCHEDD_BED_H

#include <stdio.h>
#include <string.h>

#include "base/daemon_run.h"
#include "base/os.h"
#include "schedd/schedd.h"
#include "tests/support/collector_bed.h"

/* Writes the configuration of the schedd "s" that has that token, and its certificate; path is the
 * configuration's. */
static inline void schedd_bed_write(struct bed *bed, const char *token_id, char path[300])
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "LOCAL_DIR = \"%s/schedd\"\nLOG = \"%s/schedd\"\nRUN = \"%s/schedd\"\n"
                   "SEC_DIRECTORY = \"%s\"\nTOKEN_FILE = \"%s/%s\"\nCOLLECTOR_HOST = \"%s\"\n"
                   "SCHEDD_HOST = \"127.0.0.1\"\nSCHEDD_NAME = \"s\"\nUID_DOMAIN = \"pool\"\n",
                   bed->dir, bed->dir, bed->dir, bed->dir, bed->dir, token_id,
                   bed->tcp + strlen("tcp:"));
    bed_path(bed, "schedd.conf", path);
    BED_MUST(os_write_file(bed->os, path, text, strlen(text), 0600, false, err));
    char cert[300], key[300];
    const char *const sans[] = {"127.0.0.1"};
    bed_path(bed, "schedd.pem", cert);
    bed_path(bed, "schedd-key.pem", key);
    BED_MUST(pki_make_server_cert(bed->os, bed->dir, cert, key, "schedd", sans, 1, err));
}

static inline struct daemon_run *schedd_bed_start(struct bed *bed, char *path)
{
    char name[] = "roost-schedd", option[] = "-config", alone[] = "-noresurrect";
    char *const argv[] = {name, option, path, alone, NULL};
    struct daemon_run *run;
    BED_MUST(daemon_run_start(&schedd_daemon, bed->loop, bed->os, NULL, 4, argv, &run, err));
    return run;
}

#endif
