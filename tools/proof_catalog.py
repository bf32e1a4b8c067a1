"""Finds the specification that the header of a proof names, for check_proof.py."""

from proof_bank import Bank
from proof_etcd import Etcd
from proof_history import INT, LIST, NIL, value
from proof_kafka import KafkaLog
from proof_spec import Spec, Unsupported
from proof_types import (
    Container, Counter, FencedLock, HintedIds, KeyValue, Mutex, Register, Set, Snapshot, UniqueIds,
)

WITH_PARAMS = {"counter": Counter, "kv": KeyValue, "snapshot": Snapshot, "bank": Bank, "etcd": Etcd}
WITHOUT_PARAMS = {
    "set": Set, "mutex": Mutex, "unique-ids": UniqueIds, "fenced-lock": FencedLock, "kafka-log": KafkaLog,
}


ALIASES = {
    "rw-register": "register", "fifo": "queue", "fifo-queue": "queue", "lifo": "stack", "max-priority-queue": "priority-queue",
    "lock": "mutex", "key-value": "kv", "map": "kv", "single-writer-snapshot": "snapshot", "id-generator": "unique-ids",
    "fenced-mutex": "fenced-lock", "owner-mutex": "fenced-lock", "owner-aware-mutex": "fenced-lock", "kafka": "kafka-log",
}


class Hinted(Spec):
    """Another type whose operations take effect in the order of their hints. A state has the largest hint so far, or None."""

    def __init__(self, spec):
        self.spec = HintedIds() if isinstance(spec, UniqueIds) else spec

    def decode(self, op):
        return (self.spec.decode(op), op.hint)

    def result(self, op, result):
        return self.spec.result(op[0], result)

    def init(self):
        return (self.spec.init(), None)

    def step(self, state, op, result):
        inner, largest = state
        hints = [hint for hint in (largest, op[1]) if hint is not None]
        if op[1] is not None and op[1] < max(hints):
            return []
        return [(after, max(hints, default=None)) for after in self.spec.step(inner, op[0], result)]

    def is_pure(self, op, result):
        return op[1] is None and self.spec.is_pure(op[0], result)

    def state_value(self, state):
        inner, largest = state
        return (LIST, (self.spec.state_value(inner), NIL if largest is None else (INT, largest)))


def type_name(given):
    """The name of a type that may be given by another one."""
    plain = given.lower().replace("_", "-")
    return ALIASES.get(plain, plain)


def specification(header, history):
    """The specification of a history whose proof has this header."""
    if "specification" in header:
        raise Unsupported(f"the specification {header['specification']!r} is not built in")
    name, params = header["type"], {name: value(given) for name, given in header["params"].items()}
    spec = built_in(name, params)
    return Hinted(spec) if any(op.hint is not None for op in history.ops) else spec


def built_in(name, params):
    if name in ("register", "cas-register"):
        return Register(params, name == "cas-register")
    if name in Container.METHODS:
        return Container(name)
    if name in WITH_PARAMS:
        return WITH_PARAMS[name](params)
    if name in WITHOUT_PARAMS:
        return WITHOUT_PARAMS[name]()
    raise Unsupported(f"the type {name} is not known to this program")
