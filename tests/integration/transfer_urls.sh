#!/bin/bash
# Inputs that are URLs are fetched where the job runs: by curl from a real server, over TLS with a CA that the job names,
# by plug-ins of both kinds; one that cannot be had holds the job.
#
# TIMEOUT: 90
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

command -v curl >/dev/null || { echo "SKIP: there is no curl: run 'make deps'"; exit 77; }
mkdir "$WORK/site" "$WORK/site/put" "$WORK/toyland"
chmod 0777 "$WORK/toyland"
echo plain >"$WORK/site/plain.txt"
printf '#!/bin/sh\necho "fetched program: $*"\n' >"$WORK/site/prog.sh"
head -c 2000000 /dev/urandom >"$WORK/site/large"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$WORK/key.pem" -out "$WORK/ca.pem" 2>/dev/null ||
    fail "openssl req"
cat >"$WORK/serve.py" <<'END'
import functools, http.server, ssl, sys
site, port_file, cert, key = sys.argv[1:5]
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_PUT(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.startswith("/put/"):
            self.send_error(403)
            return
        with open(site + "/put/" + self.path[5:].replace("/", "_"), "wb") as file:
            file.write(data)
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()
handler = functools.partial(Handler, directory=site)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
if cert:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(port_file, "w") as file:
    file.write(str(server.server_port) + "\n")
server.serve_forever()
END
python3 "$WORK/serve.py" "$WORK/site" "$WORK/http.port" "" "" 2>"$WORK/http.log" &
python3 "$WORK/serve.py" "$WORK/site" "$WORK/https.port" "$WORK/ca.pem" "$WORK/key.pem" 2>"$WORK/https.log" &

# plugin NAME METHOD SEVERAL
plugin() {
    cat >"$WORK/$1" <<END
#!/bin/sh
if [ "\$1" = -classad ]; then
    printf 'PluginType = "FileTransfer"\nSupportedMethods = "$2"\nMultipleFileSupport = $3\n'
    exit 0
fi
if $3; then
    to=\$(sed -n 's/.*LocalFileName = "\([^"]*\)".*/\1/p' "\$2")
    url=\$(sed -n 's/.*Url = "\([^"]*\)".*/\1/p' "\$2")
else
    url=\$1 to=\$2
fi
case "\$to \$5" in
toy://* | *-upload) # out of the sandbox: the other way round for one that takes one
    if $3; then cp "\$to" "$WORK/toyland/\${url##*/}"; else cp "\$url" "$WORK/toyland/\${to##*/}"; fi
    exit
    ;;
esac
case \$url in
*missing*) echo "no such thing as \$url" >&2; exit 1 ;;
esac
echo "$2 \${url#*://}" >"\$to"
END
    chmod 0755 "$WORK/$1"
}
plugin one toy false
plugin several "multi,multi2" true

pool_init --nodes 1 --cpus-per-node 2
echo "FILETRANSFER_PLUGINS = {\"$WORK/one\", \"$WORK/several\"}" >>"$ROOST_CONFIG"
pool_start
chmod 0777 "$OUT" # jobs may run as somebody else
job_is() { [ "$("$ROOST" q "$1" -af JobStatus 2>/dev/null)" = "$2" ]; }
until_true 30 "both servers are up" test -s "$WORK/http.port" -a -s "$WORK/https.port"
http=http://127.0.0.1:$(cat "$WORK/http.port")
https=https://localhost:$(cat "$WORK/https.port")

say "curl and plug-ins"
cat >"$WORK/url.sub" <<END
executable = $WORK/read.sh
initialdir = $OUT
environment = "CURL_CA_BUNDLE=$WORK/ca.pem"
transfer_input_files = $http/plain.txt?x=1, $https/large, toy://a/b, multi2://c/d, $http/prog.sh
output = url.out
error = url.err
should_transfer_files = YES
queue
END
cat >"$WORK/read.sh" <<'END'
#!/bin/sh
cat plain.txt b d
sh ./prog.sh x
echo made >made
sha256sum <large
END
cluster=$(submit "$WORK/url.sub") || exit 1
until_true 40 "the job is done" is_done "$cluster" 1
check_committed "$cluster" 1
equals "what it read" "$(cat "$OUT/url.out")" "plain
toy a/b
multi,multi2 c/d
fetched program: x
$(sha256sum <"$WORK/site/large")"
equals "what came back" "$(cd "$OUT" && echo *)" "made url.err url.out"
"$ROOST" history "$cluster" -af WantTransferPluginMethods | grep -q 'https' || fail "no WantTransferPluginMethods"
grep -q 'GET /large' "$WORK/https.log" || fail "it did not come over TLS"

say "what cannot be had holds the job"
cat >"$WORK/bad.sub" <<END
executable = /bin/true
transfer_executable = false
initialdir = $OUT
should_transfer_files = YES
transfer_input_files = $http/nowhere
queue
transfer_input_files = toy://missing/x
queue
transfer_input_files = $https/plain.txt
queue
END
cluster=$(submit "$WORK/bad.sub") || exit 1
all_held() { [ "$("$ROOST" q "$cluster" -constraint 'JobStatus == 5' -af HoldReasonCode | tr '\n' ' ')" = "13 13 13 " ]; }
until_true 30 "all are held" all_held
"$ROOST" q "$cluster.0" -af HoldReason | grep -q 'nowhere.*404' || fail "reason: $("$ROOST" q "$cluster" -af HoldReason)"
"$ROOST" q "$cluster.1" -af HoldReason | grep -q 'no such thing as toy://missing/x' ||
    fail "reason: $("$ROOST" q "$cluster" -af HoldReason)"
"$ROOST" q "$cluster.2" -af HoldReason | grep -qi 'certificate' || fail "TLS without the CA: $("$ROOST" q "$cluster" -af HoldReason)"

say "output goes to URLs"
cat >"$WORK/put.sub" <<END
executable = $WORK/write.sh
initialdir = $OUT
environment = "CURL_CA_BUNDLE=$WORK/ca.pem"
transfer_output_files = here, large, few, multi, tree
transfer_output_remaps = "large = $https/put/large-\$(Process)?v=1 ; few = toy://a/few ; multi=multi2://a/several; tree = $http/put/tree"
output = put.out
should_transfer_files = YES
queue
END
cat >"$WORK/write.sh" <<'END'
#!/bin/sh
echo here >here; echo few >few; echo multi >multi
head -c 3000000 /dev/urandom >large
mkdir -p tree/below; echo leaf >tree/below/leaf; ln -s below/leaf tree/link
sha256sum <large
END
cluster=$(submit "$WORK/put.sub") || exit 1
until_true 40 "the job is done" is_done "$cluster" 1
check_committed "$cluster" 1
equals "what came by PUT over TLS" "$(sha256sum <"$WORK/site/put/large-0?v=1")" "$(cat "$OUT/put.out")"
equals "what the plug-ins took" "$(cat "$WORK/toyland/few" "$WORK/toyland/several")" "few
multi"
equals "a directory" "$(cat "$WORK/site/put/tree_below_leaf" "$WORK/site/put/tree_link")" "leaf
leaf"
equals "what came back" "$(cd "$OUT" && find here large few multi tree -type f 2>/dev/null)" here

say "all of it"
cat >"$WORK/all.sub" <<END
executable = $WORK/write.sh
initialdir = $OUT
output_destination = $http/put/all-\$(Process)
output = all.out
error = all.err
should_transfer_files = YES
queue
output_destination = $http/get/only
queue
output_destination = multi3://nobody/knows
+Requirements = true
queue
END
cluster=$(submit "$WORK/all.sub") || exit 1
two_held() { [ "$("$ROOST" q "$cluster" -constraint 'JobStatus == 5' -af HoldReasonCode | tr '\n' ' ')" = "12 12 " ]; }
until_true 40 "what no server takes is held" two_held
until_true 40 "the first is done" is_done "$cluster" 1
equals "all of it" "$(cd "$WORK/site/put" && printf '%s ' all-0_*)" "all-0_all.err all-0_all.out all-0_few all-0_here all-0_large all-0_multi "
[ ! -e "$OUT/all.out" ] || fail "its output is at the submitter's, too"
"$ROOST" q "$cluster.1" -af HoldReason | grep -q 'get/only.*403' || fail "reason: $("$ROOST" q "$cluster" -af HoldReason)"
"$ROOST" q "$cluster.2" -af HoldReason | grep -q 'no file transfer plug-in' || fail "reason: $("$ROOST" q "$cluster" -af HoldReason)"
passed
