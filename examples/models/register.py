"""A register with read, write and compare-and-swap: `linpoint check h.jsonl --model-cmd 'python3 register.py'`."""

from linpoint_model import Model


class Register(Model):
    methods = ["read", "write", "cas"]
    calls = [("read", None), ("write", 1), ("write", 2), ("cas", [1, 2])]

    def init(self, params):
        return params.get("initial")

    def step(self, state, method, arg, process):
        if method == "read":
            return state, state
        if method == "write":
            # Some clients record nothing, some "true", some the value.
            return [(answer, arg) for answer in (None, True, arg)]
        expected, new = arg
        return (True, new) if state == expected else (False, state)

    def is_pure(self, method, arg, ret):
        return method == "read" or method == "cas" and ret is False

    def describe(self, state):
        return repr(state)


Register().run()
