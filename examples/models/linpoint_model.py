"""A model for `linpoint check --model-cmd`: derive from Model, define init and step, call run.

    class Register(Model):
        def init(self, params):
            return params.get("initial")

        def step(self, state, method, arg, process):
            return state, state   # the answer and the next state

Standard library only. The protocol is described in docs/model-programs.md.
"""

import json
import sys


class Model:
    """What an object answers. States may be anything that `repr` shows whole; they must not be changed."""

    methods = None        # A list of names, or None if step refuses what it does not know.
    uses_process = False  # Whether step looks at the process.
    calls = []            # Pairs (method, argument) that random clients may call.

    def init(self, params):
        """The state at the start."""
        raise NotImplementedError

    def step(self, state, method, arg, process):
        """(answer, next state), a list of such pairs, or [] if the call is blocked in this state."""
        raise NotImplementedError

    def identity(self, state):
        """Something hashable that is equal for equal states. Override it if repr is not: for sets and dictionaries, say."""
        return repr(state)

    # Optional: define key(method, arg), is_pure(method, arg, ret), validate(method, arg, ret) or describe(state) to answer
    # these questions. `ret` is Model.unknown while the call is pending.
    unknown = object()

    def run(self):
        """Answers questions until the input ends."""
        self._states, self._numbers = [], {}
        optional = [name for name in ("key", "is_pure", "validate", "describe") if hasattr(self, name)]
        hello = json.loads(sys.stdin.readline())
        answer = {"linpoint": 1, "init": self._number(self.init(hello["params"])), "answers": optional}
        answer.update({"process": self.uses_process, "calls": [list(call) for call in self.calls]})
        if self.methods is not None:
            answer["methods"] = self.methods
        self._write(answer)
        for line in sys.stdin:
            question = json.loads(line)
            number = question.pop("id")
            (topic, items), = question.items()
            self._write({"id": number, topic: [getattr(self, "_" + topic)(item) for item in items]})

    def _write(self, answer):
        sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
        sys.stdout.flush()

    def _number(self, state):
        identity = self.identity(state)
        if identity not in self._numbers:
            self._numbers[identity] = len(self._states)
            self._states.append(state)
        return self._numbers[identity]

    def _steps(self, item):
        state = self._states[item["state"]]
        outcomes = self.step(state, item["method"], item["arg"], item.get("process"))
        pairs = outcomes if isinstance(outcomes, list) else [outcomes]
        return [[answer, self._number(following)] for answer, following in pairs]

    def _key(self, item):
        return self.key(item["method"], item["arg"])

    def _is_pure(self, item):
        return self.is_pure(item["method"], item["arg"], item.get("ret", self.unknown))

    def _validate(self, item):
        return self.validate(item["method"], item["arg"], item.get("ret", self.unknown))

    def _describe(self, state):
        return self.describe(self._states[state])
