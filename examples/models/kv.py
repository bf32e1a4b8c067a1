"""A map of keys to values, checked key by key: `linpoint check h.jsonl --model-cmd 'python3 kv.py'`."""

from linpoint_model import Model

MISSING = object()


class KeyValue(Model):
    methods = ["get", "put", "append", "cas", "delete"]
    calls = [("get", "a"), ("put", ["a", 1]), ("cas", ["a", 1, 2]), ("delete", "a"), ("put", ["b", 1])]

    def init(self, params):
        self.missing = params.get("missing")
        return {}

    def step(self, state, method, arg, process):
        key = repr(self.key(method, arg))
        held = state.get(key, MISSING)
        seen = self.missing if held is MISSING else held
        if method == "get":
            return seen, state
        if method == "delete":
            rest = {other: value for other, value in state.items() if other != key}
            # A client that does not tell whether the key was there records nothing.
            return [(held is not MISSING, rest), (None, rest)]
        if method == "cas":
            _, expected, new = arg
            return (True, {**state, key: new}) if seen == expected else (False, state)
        _, value = arg
        new = value if method == "put" else ("" if seen is None else str(seen)) + str(value)
        # Some clients record nothing, some "true", some what they put.
        return [(answer, {**state, key: new}) for answer in (None, True, *arg, arg)]

    def identity(self, state):
        # Dictionaries are equal whatever their order.
        return repr(sorted(state.items(), key=lambda item: item[0]))

    def key(self, method, arg):
        return arg if method in ("get", "delete") else arg[0]

    def is_pure(self, method, arg, ret):
        return method == "get" or method in ("cas", "delete") and ret is False

    def describe(self, state):
        return ", ".join(f"{key} = {value!r}" for key, value in sorted(state.items())) or "empty"


KeyValue().run()
