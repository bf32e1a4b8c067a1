"""Specifications that are classes of Python."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Hashable
from typing import Any

from linpoint import _native

__all__ = ["BLOCKED", "Spec"]


class _Blocked(list):  # type: ignore[type-arg]
    def __repr__(self) -> str:
        return "linpoint.BLOCKED"


#: What `step` returns where a call waits: it cannot happen in this state.
BLOCKED: list[Any] = _Blocked()


class Spec:
    """What an object answers when its operations happen one after the other. Derive a class with `init` and `step`:

    >>> class Ids(linpoint.Spec):
    ...     "Each call answers the next number."
    ...
    ...     def init(self):
    ...         return 0
    ...
    ...     def step(self, state, method, arg):
    ...         return state + 1, state + 1  # the answer, the next state
    >>> twice = [
    ...     {"process": 0, "method": "next", "ret": 1, "call": 1, "return": 2},
    ...     {"process": 1, "method": "next", "ret": 1, "call": 3, "return": 4},
    ... ]
    >>> linpoint.check(twice, spec=Ids()).verdict
    'not linearizable'

    A state is hashable data that nothing changes: numbers, texts, tuples, frozensets, frozen dataclasses. Equal states of equal types
    are one state. `step` is asked once for each state and call, however many checks use the object, so it must be a function of
    its arguments; some questions are asked again to see that. An exception in it ends the check with a
    :class:`~linpoint.SpecificationError`, whose cause is the exception with its traceback: never a verdict.

    `step` may have another parameter, `step(self, state, process, method, arg)`, if what a call does depends on who calls. It returns
    `(answer, next_state)`, a list of such pairs if any of them may happen, or `linpoint.BLOCKED`.

    These may be defined, too; `known` says whether the call returned, and `ret` with what. Contracts are those of
    specification files:

    - `key(self, method, arg)`: which part of the object a call is about; each is then decided by itself;
    - `is_pure(self, method, arg, known, ret)`: whether a call that answers so never changes anything;
    - `refusal(self, method, arg, known, ret)`: why there is no such call or answer, in words, or None;
    - `describe(self, state)`: the state in words.
    """

    #: What messages call it; the name of the class if this is None.
    name: str | None = None

    def init(self) -> Hashable:
        """The state at the start."""
        raise NotImplementedError(f"{type(self).__name__} has no init(self)")

    def step(self, state: Any, method: str, arg: Any) -> Any:
        """What a call does in a state."""
        raise NotImplementedError(f"{type(self).__name__} has no step(self, state, method, arg)")

    def describe(self, state: Any) -> str:
        """The state in words."""
        return repr(state)

    def model(self) -> _native.Model:
        """The model that checks ask, with all that it answered so far."""
        if "_model" not in self.__dict__:
            name = self.name or type(self).__name__
            self._model = _native.Model(Adapter(self, name), name)
        return self._model

    def __getstate__(self) -> dict[str, Any]:
        # What was answered stays here.
        return {name: value for name, value in self.__dict__.items() if name != "_model"}

    @property
    def effort(self) -> tuple[int, int]:
        """How often `step` was asked, and how many states there are so far."""
        return self.model().effort()


class Adapter:
    """Numbers the states of a specification, for the model in Rust."""

    def __init__(self, spec: Spec, name: str):
        self.spec = spec
        self.name = name
        self.numbers: dict[Any, int] = {}
        self.states: list[Any] = []
        parameters = inspect.signature(spec.step).parameters.values()
        required = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
        self.uses_process = "process" in required
        if len(required) != 3 + self.uses_process:
            raise TypeError(f"{name}.step takes (state, method, arg) or (state, process, method, arg)")
        self.has_key = hasattr(spec, "key")
        self.has_is_pure = hasattr(spec, "is_pure")
        self.refuses = hasattr(spec, "refusal")

    def number(self, state: Any, where: str) -> int:
        """The number of a state; equal states of equal types have equal numbers."""
        kind = type(state)
        by_identity = all(getattr(kind, name) is getattr(object, name) for name in ("__eq__", "__hash__"))
        if by_identity and state is not None:
            raise TypeError(
                f"{self.name}.{where} returned a state of {type(state)}, whose objects are equal to themselves only: "
                "use a tuple or a frozen dataclass"
            )
        try:
            key = (state, _kinds(state))
            number = self.numbers.setdefault(key, len(self.states))
        except TypeError as error:
            raise TypeError(
                f"{self.name}.{where} returned a state that cannot be hashed ({error}): use tuples, frozensets and frozen dataclasses"
            ) from error
        if number == len(self.states):
            self.states.append(state)
        return number

    def init(self) -> int:
        return self.number(self.spec.init(), "init")

    def step(self, number: int, process: Any, method: str, arg: Any) -> list[tuple[Any, int]]:
        state = self.states[number]
        if self.uses_process:
            outcomes = self.spec.step(state, process, method, arg)  # type: ignore[call-arg]
        else:
            outcomes = self.spec.step(state, method, arg)
        if isinstance(outcomes, tuple):
            outcomes = [outcomes]
        if not isinstance(outcomes, list) or not all(
            isinstance(outcome, tuple) and len(outcome) == 2 for outcome in outcomes
        ):
            raise TypeError(
                f"{self.name}.step({state!r}, {method!r}, {arg!r}) returned {outcomes!r}: it returns (answer, next_state), a list of "
                "such pairs, or linpoint.BLOCKED"
            )
        return [(answer, self.number(after, "step")) for answer, after in outcomes]

    def key(self, method: str, arg: Any) -> Any:
        return self.spec.key(method, arg)  # type: ignore[attr-defined]

    def is_pure(self, method: str, arg: Any, known: bool, ret: Any) -> bool:
        answer = self.spec.is_pure(method, arg, known, ret)  # type: ignore[attr-defined]
        if not isinstance(answer, bool):
            raise TypeError(f"{self.name}.is_pure returned {answer!r}: it returns True or False")
        return answer

    def refusal(self, method: str, arg: Any, known: bool, ret: Any) -> str | None:
        answer = self.spec.refusal(method, arg, known, ret)  # type: ignore[attr-defined]
        if answer is not None and not isinstance(answer, str):
            raise TypeError(f"{self.name}.refusal returned {answer!r}: it returns a text or None")
        return answer

    def describe(self, number: int) -> str:
        return str(self.spec.describe(self.states[number]))

    def shown(self, number: int) -> str:
        return repr(self.states[number])


def _kinds(state: Any) -> Any:
    """The types in a state: `1`, `1.0` and `True` are equal, and yet an object may answer them apart."""
    kind = type(state)
    if isinstance(state, tuple):
        return (kind, tuple(map(_kinds, state)))
    if isinstance(state, frozenset):
        return (kind, frozenset((item, _kinds(item)) for item in state))
    if dataclasses.is_dataclass(state):
        return (kind, tuple(_kinds(getattr(state, field.name)) for field in dataclasses.fields(state)))
    return kind
