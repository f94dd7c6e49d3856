#!/usr/bin/env python3
"""Redfish services for tests, each of one machine whose power is a file, or what a program says.

    redfish_server.py FOLDER...

A service each.  FOLDER, or the one that it is in, has cert.pem and key.pem; `power` holds On or Off; if there is a program
`chassis` it is asked and told instead, as ipmi_sim does that; `mood` holds words, looked at at each request:
    deaf     takes orders and does nothing          rude      does not shut down
    task     orders are tasks, over when asked for the second time          later    Retry-After says one second
    broken   tasks end in Exception                 etag      orders need If-Match
    conflict the first If-Match is out of date      switched  ... because somebody has switched the machine
    forget   each session is good for two requests  never     no session is good for anything
    busy     every second request is answered 503   info      reset types are in an ActionInfo
    button   no reset type but a button and a cycle two       there are two systems
    redirect elsewhere                              garbage   no JSON
    untold   no reset types are told                unknown   PowerState is PoweringOn
    on, off  PowerState is that, whatever it is     dies      nothing is answered after an order
    refuse   orders are answered 403                tokenless sessions come without a token
    huge     bodies are of two megabytes            cut       bodies end in the middle

Writes `port`, and a line to `requests` for each request: method, path, status, and the reset type of an order.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import http.server
import json
import os
import secrets
import ssl
import subprocess
import sys
import threading
import time

USER, PASSWORD = "op", 'pa"ss\\wört'
ROOT = "/redfish/v1"
SYSTEM = ROOT + "/Systems/1"
RESET = SYSTEM + "/Actions/ComputerSystem.Reset"
TYPES = ["On", "ForceOff", "GracefulShutdown", "ForceRestart", "PushPowerButton"]


class Service:
    def __init__(self, folder):
        self.folder = folder
        self.sessions = {}  # token: [path, requests left]
        self.tasks = {}  # path: [questions left, type]
        self.etag = 1
        self.requests = 0
        self.conflicts = 0
        self.dead = False

    def path_of(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        try:
            with open(self.path_of(name), encoding="utf-8") as file:
                return file.read().strip()
        except FileNotFoundError:
            return ""

    def write(self, name, text):
        with open(self.path_of(name) + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.path_of(name) + ".new", self.path_of(name))

    def note(self, line):
        with open(self.path_of("requests"), "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def chassis(self, *words):
        return subprocess.run([self.path_of("chassis"), "0x20", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              text=True, check=False).stdout

    def power(self):
        if os.path.exists(self.path_of("chassis")):
            return {"power:1": "On", "power:0": "Off"}.get(self.chassis("get", "power").strip(), "Garbage")
        return self.read("power")

    def switch(self, kind):
        if os.path.exists(self.path_of("chassis")):
            order = {"On": ("power", "1"), "ForceOn": ("power", "1"), "GracefulShutdown": ("shutdown", "1"), "ForceOff": ("power", "0")}
            self.chassis("set", *order[kind])
        else:
            self.write("power", {"On": "On", "ForceOn": "On", "GracefulShutdown": "Off", "ForceOff": "Off"}.get(kind, self.power()))


def error(text):
    return {"error": {"code": "Base.1.0.GeneralError", "message": "see below",
                      "@Message.ExtendedInfo": [{"MessageId": "Base.1.0.GeneralError", "Message": text}]}}


class Handler(http.server.BaseHTTPRequestHandler):
    service = None

    def log_message(self, *args):
        pass

    def answer(self, status, body=None, headers=(), note=""):
        self.service.note(f"{self.command} {self.path} {status}{note}")
        data = b"" if body is None else json.dumps(body).encode()
        if "garbage" in self.mood and body is not None:
            data = b"<html>{\"PowerState\": \"Off\"}"
        if "huge" in self.mood and body is not None:
            data = data[:-1] + b", \"x\": \"" + b"x" * 2000000 + b"\"}"
        if "cut" in self.mood and body is not None:
            data = data[:len(data) // 2]
        self.send_response(status)
        self.send_header("OData-Version", "4.0")
        self.send_header("Content-Length", str(len(data)))
        if data:
            self.send_header("Content-Type", "application/json")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def may(self):
        token = self.headers.get("X-Auth-Token")
        session = self.service.sessions.get(token)
        if session is not None:
            session[1] -= 1
            if "never" in self.mood or ("forget" in self.mood and session[1] < 0):
                del self.service.sessions[token]
                return False
            return True
        basic = self.headers.get("Authorization", "")
        return basic in ["Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode(coding)).decode() for coding in ("utf-8", "latin-1")]

    def power_state(self):
        if "unknown" in self.mood:
            return "PoweringOn"
        return "On" if "on" in self.mood else "Off" if "off" in self.mood else self.service.power()

    def again(self):
        return [("Retry-After", "1")] if "later" in self.mood else []

    def system(self):
        power = self.power_state()
        action = {"target": RESET}
        if "info" in self.mood:
            action["@Redfish.ActionInfo"] = SYSTEM + "/ResetActionInfo"
        elif "untold" not in self.mood:
            action["ResetType@Redfish.AllowableValues"] = self.types()
        return {"@odata.id": SYSTEM, "@odata.type": "#ComputerSystem.v1_10_0.ComputerSystem", "Id": "1", "Name": "System",
                "SystemType": "Physical", "UUID": "11111111-1111-1111-1111-111111111111", "PowerState": power,
                "Status": {"State": "Enabled", "Health": "OK"}, "Boot": {}, "Actions": {"#ComputerSystem.Reset": action}}

    def types(self):
        return ["PushPowerButton", "ForceRestart"] if "button" in self.mood else TYPES

    def collection(self, path, members):
        return {"@odata.id": path, "@odata.type": "#Collection.Collection", "Name": "Collection",
                "Members@odata.count": len(members), "Members": [{"@odata.id": member} for member in members]}

    def begin(self):
        self.mood = self.service.read("mood").split()
        self.service.requests += 1
        length = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(length)
        if self.service.dead:
            self.service.note(f"{self.command} {self.path} unanswered")
            self.connection.close()
            return False
        if "redirect" in self.mood:
            self.answer(307, None, [("Location", "https://127.0.0.1:1/redfish/v1/elsewhere")])
        elif "busy" in self.mood and self.service.requests % 2 == 1:
            self.answer(503, error("come again"), self.again())
        else:
            return True
        return False

    def do_GET(self):
        if not self.begin():
            return
        path = self.path.rstrip("/")
        if path == "/redfish":
            self.answer(200, {"v1": ROOT + "/"})
            return
        if path == ROOT:
            self.answer(200, {"@odata.id": ROOT + "/", "@odata.type": "#ServiceRoot.v1_5_0.ServiceRoot", "Id": "RootService",
                              "Name": "Root Service", "RedfishVersion": "1.6.0", "UUID": "22222222-2222-2222-2222-222222222222",
                              "Systems": {"@odata.id": ROOT + "/Systems"}, "SessionService": {"@odata.id": ROOT + "/SessionService"},
                              "Managers": {"@odata.id": ROOT + "/Managers"}, "Chassis": {"@odata.id": ROOT + "/Chassis"},
                              "Links": {"Sessions": {"@odata.id": ROOT + "/SessionService/Sessions"}}})
            return
        if not self.may():
            self.answer(401, error("who are you?"))
        elif path == ROOT + "/Systems":
            self.answer(200, self.collection(path, [SYSTEM] + ([ROOT + "/Systems/2"] if "two" in self.mood else [])))
        elif path in (ROOT + "/Managers", ROOT + "/Chassis"):
            self.answer(200, self.collection(path, []))
        elif path == ROOT + "/SessionService":
            self.answer(200, {"@odata.id": path, "@odata.type": "#SessionService.v1_1_0.SessionService", "Id": "SessionService",
                              "Name": "Sessions", "ServiceEnabled": True, "SessionTimeout": 60,
                              "Sessions": {"@odata.id": path + "/Sessions"}})
        elif path == SYSTEM:
            self.answer(200, self.system(), [("ETag", f'W/"{self.service.etag}"')])
        elif path == SYSTEM + "/ResetActionInfo":
            self.answer(200, {"@odata.id": path, "Parameters": [{"Name": "Other", "AllowableValues": ["PushPowerButton"]},
                                                                {"Name": "ResetType", "AllowableValues": self.types()}]})
        elif path in self.service.tasks:
            self.get_task(path)
        else:
            self.answer(404, error("there is no such thing"))

    def get_task(self, path):
        task = self.service.tasks[path]
        task[0] -= 1
        if task[0] > 0:
            self.answer(202, {"TaskState": "Running"}, [("Location", path)] + self.again())
            return
        del self.service.tasks[path]
        if "broken" in self.mood:
            self.answer(200, {"TaskState": "Exception", "Messages": [{"Message": "a fuse has blown"}]})
            return
        self.switch(task[1])
        self.answer(200, {"TaskState": "Completed"})

    def switch(self, kind):
        if "deaf" in self.mood or ("rude" in self.mood and kind == "GracefulShutdown"):
            return
        self.service.switch(kind)

    def do_POST(self):
        if not self.begin():
            return
        try:
            body = json.loads(self.body)
        except ValueError:
            self.answer(400, error("that is not JSON"))
            return
        if self.path.rstrip("/") == ROOT + "/SessionService/Sessions":
            if body.get("UserName") != USER or body.get("Password") != PASSWORD:
                self.answer(401, error("that is not the password"))
                return
            token, path = secrets.token_hex(16), f"{ROOT}/SessionService/Sessions/{secrets.token_hex(4)}"
            self.service.sessions[token] = [path, 2]
            self.service.note("session")
            self.answer(201, {"@odata.id": path, "@odata.type": "#Session.v1_1_0.Session", "Id": path.split("/")[-1], "Name": "Session",
                              "UserName": USER},
                        ([] if "tokenless" in self.mood else [("X-Auth-Token", token)]) + [("Location", f"https://{self.headers.get('Host')}{path}")])
        elif not self.may():
            self.answer(401, error("who are you?"))
        elif self.path == RESET:
            self.reset(body.get("ResetType"))
        else:
            self.answer(404, error("there is no such thing"))

    def reset(self, kind):
        note = f" {kind}"
        match = self.headers.get("If-Match")
        if "refuse" in self.mood:
            self.answer(403, error("you may look"), note=note)
            return
        if kind not in self.types():
            self.answer(400, error("no such ResetType"), note=note)
            return
        if ("etag" in self.mood or "conflict" in self.mood or "switched" in self.mood) and match is None:
            self.answer(428, error("If-Match is missing"), note=note)
            return
        if ("conflict" in self.mood or "switched" in self.mood) and self.service.conflicts == 0:
            self.service.conflicts += 1
            self.service.etag += 1
            if "switched" in self.mood:
                self.service.write("power", "Off" if self.service.read("power") == "On" else "On")
        if match is not None and match != f'W/"{self.service.etag}"':
            self.answer(412, error("If-Match does not match"), note=note)
            return
        self.service.etag += 1
        if "task" in self.mood or "broken" in self.mood:
            path = f"{ROOT}/TaskService/TaskMonitors/{secrets.token_hex(4)}"
            self.service.tasks[path] = [2, kind]
            self.answer(202, {"@odata.id": ROOT + "/TaskService/Tasks/1", "TaskState": "New"}, [("Location", path)], note)
            return
        self.service.dead = "dies" in self.mood
        self.switch(kind)
        self.answer(204, note=note)

    def do_DELETE(self):
        if not self.begin():
            return
        for token, session in list(self.service.sessions.items()):
            if session[0] == self.path and self.headers.get("X-Auth-Token") == token:
                del self.service.sessions[token]
                self.answer(204)
                return
        self.answer(401, error("who are you?"))


def serve(folder):
    service = Service(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Of", (Handler,), {"service": service}))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    place = folder if os.path.exists(service.path_of("cert.pem")) else os.path.dirname(folder)
    context.load_cert_chain(os.path.join(place, "cert.pem"), os.path.join(place, "key.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever).start()
    service.write("port", str(server.server_address[1]))


for name in sys.argv[1:]:
    serve(name)
whose = os.environ.get("REDFISH_SERVER_OF")  # pid of a test that may be killed
while whose is None or os.path.exists("/proc/" + whose):
    time.sleep(1)
os._exit(0)
