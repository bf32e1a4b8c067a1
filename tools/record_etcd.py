#!/usr/bin/env python3
"""Records a history of a real etcd cluster on the loopback interface, for the type etcd of linpoint.

    tools/record_etcd.py SCENARIO [--seconds S] [--clients N] [--members M] [--seed SEED] > HISTORY.jsonl

Starts `etcd` (3.4 or newer, which must be on the PATH) in a temporary folder and talks to its JSON gateway. Scenarios:

    plain   nothing goes wrong
    stale   reads are serializable, and a member is paused now and then: reads of it go stale, which is a violation
    kill    a member is killed and started again now and then: some requests never return, and are pending

Needs only the standard library.
"""

import argparse
import base64
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

KEYS = ["a", "b", "c"]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Member:
    """A process of etcd."""

    def __init__(self, number, folder, ports, cluster):
        client, peer = ports
        self.url = f"http://127.0.0.1:{client}"
        peer = f"http://127.0.0.1:{peer}"
        self.command = [
            "etcd", "--name", f"m{number}", "--data-dir", os.path.join(folder, f"m{number}"),
            "--listen-client-urls", self.url, "--advertise-client-urls", self.url,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", cluster, "--logger", "zap", "--log-level", "error",
            "--heartbeat-interval", "50", "--election-timeout", "500",
        ]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def send(self, number):
        self.process.send_signal(number)

    def post(self, path, body, timeout):
        request = urllib.request.Request(
            f"{self.url}/v3/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=timeout) as response:
            return json.load(response)


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def decoded(text):
    return base64.b64decode(text).decode()


def entries(answer):
    """The entries of an answer, with the numbers that etcd leaves out where they are 0."""
    found = []
    for entry in answer.get("kvs", []):
        found.append({
            "key": decoded(entry["key"]),
            "value": int(decoded(entry["value"])),
            "mod": int(entry["mod_revision"]),
            "create": int(entry["create_revision"]),
            "version": int(entry["version"]),
        })
    return {"kvs": found, "count": int(answer.get("count", 0))}


def part(answer):
    if "response_range" in answer:
        return entries(answer["response_range"])
    if "response_delete_range" in answer:
        return {"deleted": int(answer["response_delete_range"].get("deleted", 0))}
    return {}


class Client(threading.Thread):
    """Makes one request after the other and writes down what it did."""

    def __init__(self, run, number):
        super().__init__(daemon=True)
        self.run_of, self.number = run, number
        self.random = random.Random(f"{run.seed}-{number}")
        self.process, self.known = number, {}

    def request(self):
        """A random request: method, argument, path, body, and how to read the answer."""
        chance, key = self.random.random(), self.random.choice(KEYS)
        if chance < 0.5:
            body = {"key": encoded(key)}
            if self.run_of.scenario == "stale":
                body["serializable"] = True
            return "range", key, "kv/range", body, entries
        value = self.run_of.fresh()
        put = {"key": encoded(key), "value": encoded(str(value))}
        if chance < 0.8:
            return "put", {"key": key, "value": value}, "kv/put", put, lambda _: {}
        if chance < 0.88:
            body = {"key": encoded(key)}
            return "delete", key, "kv/deleterange", body, lambda answer: {"deleted": int(answer.get("deleted", 0))}
        # The gateway leaves out a revision of 0, which stands for a missing key.
        seen = self.known.get(key, 0)
        txn = {
            "if": [{"key": key, "mod": seen}],
            "then": [{"put": {"key": key, "value": value}}],
            "else": [{"range": key}],
        }
        body = {
            "compare": [{"key": encoded(key), "target": "MOD", "result": "EQUAL", "mod_revision": str(seen)}],
            "success": [{"request_put": put}],
            "failure": [{"request_range": {"key": encoded(key)}}],
        }
        return "txn", txn, "kv/txn", body, lambda answer: {
            "succeeded": answer.get("succeeded", False),
            "results": [part(one) for one in answer.get("responses", [])],
        }

    def run(self):
        run = self.run_of
        while time.monotonic() < run.end:
            method, argument, path, body, read = self.request()
            member = self.random.choice(run.members)
            call = time.monotonic_ns()
            try:
                answer = member.post(path, body, timeout=2)
                ret = time.monotonic_ns()
            except (OSError, urllib.error.URLError, ValueError):
                # It may still take effect. A client that goes on needs a new name.
                run.write(self.process, method, argument, None, call, None)
                self.process += run.clients
                time.sleep(0.05)
                continue
            result = {"revision": int(answer["header"]["revision"]), **read(answer)}
            for entry in result.get("kvs", []):
                self.known[entry["key"]] = entry["mod"]
            run.write(self.process, method, argument, result, call, ret)
            time.sleep(self.random.random() * run.pause)


class Run:
    def __init__(self, arguments):
        self.scenario, self.seed, self.clients = arguments.scenario, arguments.seed, arguments.clients
        self.pause = arguments.pause
        self.lock, self.value, self.lines = threading.Lock(), 0, []
        self.random = random.Random(arguments.seed)
        self.folder = tempfile.TemporaryDirectory()
        ports = free_ports(2 * arguments.members)
        pairs = list(zip(ports[::2], ports[1::2]))
        cluster = ",".join(f"m{i}=http://127.0.0.1:{peer}" for i, (_, peer) in enumerate(pairs))
        self.members = [Member(i, self.folder.name, pair, cluster) for i, pair in enumerate(pairs)]
        self.end = 0

    def fresh(self):
        with self.lock:
            self.value += 1
            return self.value

    def write(self, process, method, argument, result, call, ret):
        line = {"process": process, "method": method, "arg": argument}
        if ret is not None:
            line["ret"] = result
        with self.lock:
            self.lines.append({**line, "call": call, "return": ret})

    def wait_until_ready(self):
        deadline = time.monotonic() + 30
        for member in self.members:
            while True:
                try:
                    member.post("kv/range", {"key": encoded("a")}, timeout=1)
                    break
                except (OSError, urllib.error.URLError):
                    if time.monotonic() > deadline:
                        sys.exit("record_etcd: etcd does not answer; try `etcd --version`")
                    time.sleep(0.1)

    def disturb(self):
        """Pauses or kills members until the time is over."""
        while time.monotonic() < self.end - 1 and self.scenario != "plain":
            time.sleep(0.3 + self.random.random() * 0.4)
            member = self.random.choice(self.members)
            if self.scenario == "stale":
                member.send(signal.SIGSTOP)
                time.sleep(0.2)
                member.send(signal.SIGCONT)
            else:
                member.send(signal.SIGKILL)
                member.process.wait()
                time.sleep(0.2)
                member.start()

    def record(self, seconds):
        try:
            for member in self.members:
                member.start()
            self.wait_until_ready()
            self.end = time.monotonic() + seconds
            clients = [Client(self, number) for number in range(self.clients)]
            for client in clients:
                client.start()
            self.disturb()
            for client in clients:
                client.join()
        finally:
            for member in self.members:
                if member.process:
                    member.send(signal.SIGCONT)
                    member.send(signal.SIGKILL)
                    member.process.wait()
            self.folder.cleanup()
        start = min((line["call"] for line in self.lines), default=0)
        print(json.dumps({"linpoint": 1, "type": "etcd"}))
        for line in sorted(self.lines, key=lambda line: line["call"]):
            line["call"] -= start
            if line["return"] is not None:
                line["return"] -= start
            print(json.dumps(line))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", choices=["plain", "stale", "kill"])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--clients", type=int, default=5)
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--pause", type=float, default=0.01, help="the longest pause between two requests of a client")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    Run(arguments).record(arguments.seconds)


if __name__ == "__main__":
    main()
