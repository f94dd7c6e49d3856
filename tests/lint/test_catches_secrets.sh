#!/bin/bash
# The check lint.secrets finds secrets that are made attributes, and only these.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

new_tree
plant wire/args.c <<'END'
/* ad_set_string(ad, "ClaimId", id) in a comment */
void f(struct ad *ad)
{
    ad_set_string(ad, "ClaimIdOfNobody", "x");
    ad_set_string(ad, "MyType", "Ticket");
    use("Password", SECRET_NONCE);
}
END
passes "comments, longer names, values" secrets

plant wire/args.c <<<'void f(struct ad *ad) { ad_set_string(ad, "ClaimId", id); }'
finds "a claim id that is set" "wire/args.c:1: 'ClaimId' is set as an attribute" secrets
plant wire/args.c <<'END'
void f(struct ad *ad)
{
    ad_set_string(args->ad,
                  "Ticket", ticket);
}
END
finds "a ticket that is set, over two lines" "wire/args.c:3: 'Ticket' is set as an attribute" secrets
plant wire/args.c <<<'const char *f(struct ad *ad) { return ad_string_or(ad, "nonce", ""); }'
finds "a nonce that is read, whatever its case" "wire/args.c:1: 'nonce' is the name of a secret" secrets
plant wire/args.c <<<'#define MARK "_roost_privMark"'
finds "the old prefix" "wire/args.c:1: '_roost_priv' is the name of a secret" secrets
rm "$TREE/wire/args.c"
plant schedd/queue/old_rows.c <<<'#define OLD "_roost_priv_Nonce"'
passes "who cleans old rows" secrets
finish
