"""Every secret that a pool has minted, who may hold it, and what it gives to somebody else.

A holder is "schedd", "collector", "negotiator", "rooster", "master", "administrator", "machine NAME", "user NAME".

SPDX-License-Identifier: Apache-2.0
"""
import collections
import glob
import os
import re

from tls import base64url_decode
from tokens import rights
from wire_client import Ended, NOBODY, Refused

# what: for people.  texts: its forms.  holders: who may have it.  replay: what it gives to whoever shows it, a text; "" is nothing.
Secret = collections.namedtuple("Secret", "kind what texts holders replay")
PEM = re.compile(rb"-----BEGIN (?:EC )?PRIVATE KEY-----\n(.*?)-----END", re.DOTALL)
CLAIM_ID = re.compile(rb"slot[0-9_]+@([a-z0-9]+)#[0-9a-z-]+#([0-9a-f]{32})")
DAEMON_TOKENS = {"SCHEDD": "schedd", "ROOSTER": "rooster", "NEGOTIATOR": "negotiator", "MASTER": "master", "USER": "administrator"}
DAEMON_KEYS = {"schedd-key.pem": "schedd", "collector-key.pem": "collector"}


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def key_forms(pem):
    """How a private key may lie in memory: its text, its DER form, its number."""
    forms = []
    for body in PEM.findall(pem):
        data = base64url_decode(re.sub(rb"\s", b"", body).decode().replace("+", "-").replace("/", "_").rstrip("="))
        at = data.find(b"\x04\x20")  # the OCTET STRING of 32 bytes
        number = data[at + 2 : at + 34]
        forms += [body.split(b"\n")[0], data, number, number[::-1]]
    return forms


def token_of(pool, what, text, holder):
    """The signature alone is looked for: it is what nobody can make."""
    return Secret("token", what, [text.rsplit(".", 1)[1].encode()], {holder}, lambda: rights(pool, text))


def tokens(pool, given):
    """given: (file, holder) of what the test has made."""
    places = [(pool.path("security/tokens", name), holder) for name, holder in DAEMON_TOKENS.items()]
    places += [(path, "machine " + path.split("/")[-2]) for path in glob.glob(pool.path("nodes/*/token"))]
    for path, holder in places + given:
        for line in contents(path).decode().splitlines():
            if line.count(".") == 2 and line.startswith("eyJ"):
                yield token_of(pool, f"the token in {os.path.relpath(path, pool.directory)}", line.strip(), holder)


def keys(pool, given):
    for path in sorted(glob.glob(pool.path("**/*"), recursive=True)) + [path for path, _ in given]:
        if not os.path.isfile(path) or os.path.getsize(path) > 100000 or b"PRIVATE KEY" not in contents(path):
            continue
        name, parts = os.path.basename(path), os.path.relpath(path, pool.directory).split("/")
        holder = dict(given).get(path) or DAEMON_KEYS.get(name) or DAEMON_TOKENS.get(name.split(".")[0])
        if holder is None and parts[0] == "nodes":
            holder = f"machine {parts[1]}"
        if holder is None and parts[:2] == ["spool", "owner"]:
            holder = f"user {parts[2]}"
        what = f"the key in {os.path.relpath(path, pool.directory)}"
        yield Secret("key", what, key_forms(contents(path)), {holder}, lambda what=what: what)


def claims(pool):
    seen = {}
    for path in glob.glob(pool.path("spool/*.db*")) + glob.glob(pool.path("nodes/*/spool/*.db*")) + glob.glob(pool.path("nodes/*/execute/*/job.record")):
        for match in CLAIM_ID.finditer(contents(path)):
            seen[match.group(2)] = (match.group(0), match.group(1).decode())
    for number, (claim_id, machine) in seen.items():
        holders = {"schedd", "negotiator", "collector", f"machine {machine}"}
        yield Secret("claim id", f"a claim id of {machine}", [number], holders, lambda claim_id=claim_id: claimed(pool, claim_id.decode()))


def claimed(pool, claim_id):
    try:
        with pool.greet("claim", NOBODY) as schedd:
            for args in ({"Resume": True, "BootId": "b"}, {"Resume": False, "BootId": "b"}):
                slot = claim_id.split("#")[0]
                reply = schedd.call("CLAIM", {"ClaimId": claim_id, "Machine": slot.split("@")[1], "SlotName": slot, **args})
                if reply.status == 0:
                    return f"the claim of {slot}"
    except (Refused, Ended):
        pass
    return ""


def nonces(pool):
    for path in glob.glob(pool.path("nodes/*/execute/*/job.record")):
        text = contents(path).decode(errors="replace")
        found = {name: re.search(pattern, text) for name, pattern in (("nonce", r"(?m)^2 ([0-9a-f]{32})$"), ("owner", r'\bOwner = "(\w+)"'), ("epoch", r"ClaimEpoch = (\d+)"),
                                                                      ("cluster", r"ClusterId = (\d+)"))}
        if not all(found.values()):
            raise AssertionError(f"{path} has not what is looked for: {[name for name, match in found.items() if not match]}")
        run = {name: match.group(1) for name, match in found.items()}
        machine = os.path.relpath(path, pool.directory).split("/")[1]
        yield Secret("nonce", f"the nonce of {run['owner']}'s job", [run["nonce"].encode()], {"schedd", f"machine {machine}", f"user {run['owner']}"},
                     lambda run=run: entered(pool, run["owner"], {"JobId": f"{run['cluster']}.0", "ClaimEpoch": int(run["epoch"]), "Nonce": run["nonce"]}))


def entered(pool, owner, hello):
    try:
        with pool.dial(f"shadow/{owner}") as shadow:
            shadow.hello(more=hello)
            return f"{owner}'s shadow"
    except (Refused, Ended):
        return ""


def ticket(pool, account, job):
    """A ticket that this account has asked for."""
    with pool.as_user("schedd", account) as schedd:
        text = schedd.call("JOB_ACCESS", {"Purpose": "Tail", "JobId": job}).args["Ticket"]
    return Secret("ticket", f"a ticket of {account}'s", [text.encode()], {"schedd", f"user {account}"}, lambda: entered(pool, account, {"Ticket": text}))


def environment(name):
    """What whoever started the pool had in his environment."""
    holders = {"schedd", "collector", "negotiator", "rooster", "master", "administrator", "machine wn01", "machine wn02"}
    return Secret("environment", f"root's {name}", [os.environ[name].encode()], holders, lambda: f"root's {name}")


def private(account, what, text, more=()):
    """What a user's job works with; more: other holders of it."""
    return Secret("data", f"{account}'s {what}", [text.encode()], {f"user {account}", *more}, lambda: f"{account}'s {what}")


def all_of(pool, given):
    """Every secret that lies somewhere; given: (file, holder) of tokens and keys outside of the pool's directory."""
    return [*tokens(pool, given), *keys(pool, given), *claims(pool), *nonces(pool)]
