//! Checks on random walks that every built-in specification keeps the contracts of [`Spec`] on which engines rely.

use std::collections::HashMap;

use super::juc::{CollectionClass, HistoryForm, JavaCollection, JavaMap, MapClass};
use super::*;

const WALKS: u64 = 60;
const STEPS: usize = 40;

/// Runs calls one after the other: a line each, `method(argument) result` in JSON.
pub(super) fn run<S: Simulated>(object: &S, calls: &str) {
    let json = |text: &str| -> Value {
        serde_json::from_str::<serde_json::Value>(text)
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .into()
    };
    let mut state = object.init();
    for line in calls.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (method, rest) = line.split_once('(').unwrap();
        let (argument, result) = rest.rsplit_once(") ").unwrap();
        let argument = if argument.is_empty() {
            Value::Nil
        } else {
            json(argument)
        };
        let op = decoded(object, 0, method, &argument);
        let ret = object.decode_result(&op, &json(result)).unwrap();
        let next = object.step(&state, &op, Some(&ret));
        assert_eq!(next.len(), 1, "{line} in {state:?}");
        check_purity(object, &state, &op);
        state = next.into_iter().next().unwrap();
    }
}

fn decoded<S: Simulated>(object: &S, process: i64, method: &str, argument: &Value) -> S::Op {
    let call = CallView {
        process: &Value::Int(process),
        method,
        argument,
        hint: None,
    };
    object
        .decode(call)
        .unwrap_or_else(|reason| panic!("{method}({argument}): {reason}"))
}

/// A call that `sample` leaves out because it keeps fast engines from a history, if this object has it.
fn rare_call<S: Simulated>(object: &S, sampler: &mut Sampler) -> Option<S::Op> {
    let key = Value::Int(sampler.below(10) as i64);
    let text = sampler.pick(&["x", ""]);
    let (method, argument) = sampler.pick(&[
        ("size", Value::Nil),
        ("read", Value::Nil),
        ("append", Value::list([key, Value::from(text)])),
        ("add_and_get", Value::Int(3)),
    ]);
    let call = CallView {
        process: &Value::Int(0),
        method,
        argument: &argument,
        hint: None,
    };
    object.decode(call).ok()
}

fn outcomes<S: Spec>(spec: &S, state: &S::State, op: &S::Op) -> Vec<(S::Ret, S::State)> {
    match spec.apply(state, op) {
        Outcomes::Blocked => Vec::new(),
        Outcomes::One(ret, next) => vec![(ret, next)],
        Outcomes::Many(all) => all,
    }
}

/// A legal sequential run: operations, results, and the states between them.
struct Walk<S: Simulated> {
    actions: Vec<(S::Op, Value)>,
    states: Vec<S::State>,
}

impl<S: Simulated> Walk<S> {
    /// A random walk of sampled calls; odd seeds draw values from a small universe, so that they repeat, and every fourth
    /// walk mixes in calls that are not sampled.
    fn new(object: &S, seed: u64) -> Self {
        let mut sampler = Sampler::new(seed, (seed % 2 == 1).then_some(4));
        let mut walk = Walk {
            actions: Vec::new(),
            states: vec![object.init()],
        };
        for _ in 0..STEPS {
            let state = walk.states.last().unwrap();
            let process = sampler.below(3) as u32;
            let rare = (seed % 4 == 3 && sampler.percent(20))
                .then(|| rare_call(object, &mut sampler))
                .flatten();
            let op = rare.unwrap_or_else(|| {
                let (method, argument) = object.sample(state, process, &mut sampler);
                decoded(object, process.into(), method, &argument)
            });
            let all = outcomes(object, state, &op);
            if let [_, ..] = &all[..] {
                let (ret, next) = sampler.pick(&all);
                walk.actions.push((op, ret));
                walk.states.push(next);
            }
        }
        walk
    }
}

fn check_laws<S: Simulated>(object: &S) {
    for seed in 0..WALKS {
        let walk = Walk::new(object, seed);
        check_state_values(object, &walk);
        check_hints(object, &walk);
        for ((op, ret), state) in walk.actions.iter().zip(&walk.states) {
            check_results(object, op, ret);
            check_performance(object, state, op);
            check_purity(object, state, op);
            for (other, _) in &walk.actions {
                check_independence(object, state, op, other);
            }
        }
        match object.kind() {
            Some(Kind::Slot(initial)) => check_slot(object, &walk, &initial),
            Some(Kind::Counter(initial)) => check_counts(object, &walk, initial, i64::MIN),
            Some(Kind::Semaphore(permits)) => check_counts(object, &walk, permits as i64, 0),
            Some(Kind::Snapshot(_)) => check_entries(object, &walk),
            Some(
                kind @ (Kind::Queue
                | Kind::Stack
                | Kind::Deque
                | Kind::MaxPriorityQueue
                | Kind::MinPriorityQueue
                | Kind::Bag),
            ) => {
                check_container(object, &walk, &kind);
                check_deletion(object, &walk);
            }
            Some(kind @ Kind::Limited(_)) => {
                check_limit(object, &walk, kind.without_limit());
                check_deletion(object, &walk);
            }
            None => {}
        }
    }
}

/// An answer is read back as itself, also from a file.
fn check_results<S: Simulated>(object: &S, op: &S::Op, ret: &Value) {
    assert_eq!(object.decode_result(op, ret).as_ref(), Ok(ret), "{op:?}");
    let stored = Value::from(ret.to_json());
    assert_eq!(
        object.decode_result(op, &stored).as_ref(),
        Ok(ret),
        "{op:?}"
    );
}

/// Different states are written differently in files.
fn check_state_values<S: Simulated>(object: &S, walk: &Walk<S>) {
    let mut written: HashMap<String, &S::State> = HashMap::new();
    for state in &walk.states {
        let text = object.state_value(state).to_json().to_string();
        let known = written.entry(text).or_insert(state);
        assert_eq!(*known, state);
    }
}

/// No operation is possible after one with a larger hint.
fn check_hints<S: Simulated>(object: &S, walk: &Walk<S>) {
    let hint = |(op, ret): &(S::Op, Value)| object.hint(op, Some(ret));
    for (i, state) in walk.states.iter().enumerate() {
        let largest = walk.actions[..i].iter().filter_map(hint).max();
        for action in &walk.actions {
            let is_possible = !object.step(state, &action.0, Some(&action.1)).is_empty();
            if let Some(hint) = hint(action).filter(|_| is_possible) {
                assert!(Some(hint) >= largest, "{action:?} in {state:?}");
            }
            let shown = object.shows(&action.0, &action.1);
            for (mark, at) in shown.into_iter().filter(|_| is_possible) {
                let left = |(op, ret): &&(S::Op, Value)| {
                    object.marks(op).contains(&mark) && object.hint(op, Some(ret)) == Some(at)
                };
                let is_left = walk.actions[..i].iter().any(|action| left(&action));
                assert!(is_left, "{action:?} shows {mark} at {at}");
            }
        }
    }
}

/// What a simulated object does is one of the outcomes.
fn check_performance<S: Simulated>(object: &S, state: &S::State, op: &S::Op) {
    let mut next = state.clone();
    let answer = object.perform(&mut next, op, &mut Sampler::new(7, None));
    let outcomes = outcomes(object, state, op);
    match answer {
        Some(answer) => assert!(outcomes.contains(&(answer, next)), "{op:?} in {state:?}"),
        None => assert!(outcomes.is_empty() && next == *state, "{op:?} in {state:?}"),
    }
}

/// What is said to be pure leaves the state as it was, and `step` follows `apply`.
fn check_purity<S: Simulated>(object: &S, state: &S::State, op: &S::Op) {
    let outcomes = outcomes(object, state, op);
    let left = object.step(state, op, None);
    for (ret, next) in outcomes {
        if object.is_pure(op, Some(&ret)) || object.is_pure(op, None) {
            assert_eq!(next, *state, "{op:?} → {ret}");
        }
        assert!(object.step(state, op, Some(&ret)).contains(&next));
        if let Some(told) = object.state_after(op, &ret) {
            assert_eq!(next, told, "{op:?} → {ret}");
        }
        let stands_for_next = |left: &S::State| object.stands_for(left, &next);
        assert!(left.iter().any(stands_for_next), "{op:?} → {ret}");
        for ret in [Some(&ret), Some(&Value::Nil), None] {
            let mut in_place = vec![state.clone()];
            object.step_into(state.clone(), op, ret, &mut in_place);
            assert_eq!(in_place.remove(0), *state);
            assert_eq!(in_place, object.step(state, op, ret));
        }
    }
    if object.is_pure(op, Some(&Value::Nil)) {
        for next in object.step(state, op, Some(&Value::Nil)) {
            assert_eq!(next, *state, "{op:?} → nil");
        }
    }
}

/// Operations with different keys neither see nor disturb each other.
fn check_independence<S: Simulated>(object: &S, state: &S::State, a: &S::Op, b: &S::Op) {
    let (Some(key_a), Some(key_b)) = (object.key(a), object.key(b)) else {
        return;
    };
    if key_a == key_b {
        return;
    }
    let in_order = |first: &S::Op, second: &S::Op| {
        let mut ends = Vec::new();
        for (first_ret, middle) in outcomes(object, state, first) {
            for (second_ret, end) in outcomes(object, &middle, second) {
                ends.push((first_ret.clone(), second_ret, end));
            }
        }
        ends
    };
    let swapped: Vec<_> = in_order(b, a)
        .into_iter()
        .map(|(b_ret, a_ret, end)| (a_ret, b_ret, end))
        .collect();
    let straight = in_order(a, b);
    assert_eq!(straight.len(), swapped.len(), "{a:?}, {b:?}");
    assert!(
        straight.iter().all(|end| swapped.contains(end)),
        "{a:?}, {b:?}"
    );
}

fn satisfied(needs: &Need, held: &Value) -> bool {
    match needs {
        Need::Anything => true,
        Need::Is(value) => held == value,
        Need::IsNot(value) => held != value,
    }
}

/// The results to try for an operation: those that the walk gave to others too.
fn possible_results<S: Simulated>(object: &S, walk: &Walk<S>, op: &S::Op) -> Vec<Value> {
    let mut results: Vec<Value> = walk
        .actions
        .iter()
        .map(|(_, ret)| ret.clone())
        .chain([Value::Nil, Value::Bool(true), Value::Bool(false)])
        .filter_map(|ret| object.decode_result(op, &ret).ok())
        .collect();
    results.sort();
    results.dedup();
    results
}

/// Roles state exactly when an operation of a slot is possible, and what it leaves.
fn check_slot<S: Simulated>(object: &S, walk: &Walk<S>, initial: &Value) {
    let mut slots: HashMap<Option<Value>, Value> = HashMap::new();
    for ((op, ret), state) in walk.actions.iter().zip(&walk.states) {
        let held = slots.entry(object.key(op)).or_insert(initial.clone());
        for ret in possible_results(object, walk, op) {
            if let Role::Slot { needs, .. } = object.role(op, Some(&ret)) {
                let possible = !object.step(state, op, Some(&ret)).is_empty();
                assert_eq!(
                    possible,
                    satisfied(&needs, held),
                    "{op:?} → {ret} on {held}"
                );
            }
        }
        let left = match object.role(op, Some(ret)) {
            Role::Slot { needs, leaves } => {
                assert!(satisfied(&needs, held));
                leaves.unwrap_or_else(|| held.clone())
            }
            Role::Appends(text) => held.appended(&text),
            _ => return,
        };
        if let Role::Slot { needs, leaves } = object.role(op, None) {
            // A pending operation without effect may be left out.
            if satisfied(&needs, held) {
                assert_eq!(
                    leaves.unwrap_or_else(|| held.clone()),
                    left,
                    "pending {op:?}"
                );
            } else {
                assert!(object.is_pure(op, Some(ret)), "pending {op:?} on {held}");
            }
        }
        *held = left;
    }
}

/// What a container of a kind does, as the literature has it; `None` if it cannot.
fn serve(kind: &Kind, content: &[Value], role: &Role) -> Option<Vec<Value>> {
    let next: Vec<usize> = match kind {
        _ if content.is_empty() => Vec::new(),
        Kind::Queue => vec![0],
        Kind::Stack => vec![content.len() - 1],
        Kind::MaxPriorityQueue => (0..content.len())
            .max_by_key(|&i| &content[i])
            .into_iter()
            .collect(),
        Kind::MinPriorityQueue => (0..content.len())
            .min_by_key(|&i| &content[i])
            .into_iter()
            .collect(),
        _ => (0..content.len()).collect(),
    };
    let find = |value: &Value| next.iter().copied().find(|&i| content[i] == *value);
    let mut content = content.to_vec();
    match role {
        Role::Adds(value) => content.push(value.clone()),
        Role::Removes(value) => {
            content.remove(find(value)?);
        }
        Role::Peeks(value) => {
            find(value)?;
        }
        Role::Empty if content.is_empty() => {}
        _ => return None,
    }
    Some(content)
}

/// What has a role is possible without the limit too, and what has none changes nothing.
fn check_limit<S: Simulated>(object: &S, walk: &Walk<S>, kind: &Kind) {
    let mut content = Vec::new();
    for (op, ret) in &walk.actions {
        match object.role(op, Some(ret)) {
            Role::Opaque => assert!(object.is_pure(op, Some(ret)), "{op:?} → {ret}"),
            role => match serve(kind, &content, &role) {
                Some(next) => content = next,
                None => panic!("{op:?} → {ret} on {content:?}"),
            },
        }
    }
}

/// Roles state exactly when an operation of a container is possible. Those of a deque leave out at which end, so there they
/// only tell when it is not.
fn check_container<S: Simulated>(object: &S, walk: &Walk<S>, kind: &Kind) {
    let mut content = Vec::new();
    for ((op, ret), state) in walk.actions.iter().zip(&walk.states) {
        for ret in possible_results(object, walk, op) {
            let role = object.role(op, Some(&ret));
            let possible = !object.step(state, op, Some(&ret)).is_empty();
            let served = serve(kind, &content, &role).is_some();
            if role != Role::Opaque && (*kind != Kind::Deque || possible) {
                assert_eq!(possible, served, "{op:?} → {ret} on {content:?}");
            }
        }
        let role = object.role(op, Some(ret));
        match object.role(op, None) {
            Role::Opaque => {}
            Role::RemovesSome => assert!(matches!(role, Role::Removes(_) | Role::Empty)),
            pending => assert_eq!(pending, role),
        }
        match serve(kind, &content, &role) {
            Some(next) => content = next,
            None => assert_eq!(role, Role::Opaque, "{op:?} → {ret} on {content:?}"),
        }
    }
}

/// Roles state exactly when an operation of a counter or semaphore is possible, and what it leaves.
fn check_counts<S: Simulated>(object: &S, walk: &Walk<S>, initial: i64, least: i64) {
    let mut count = initial;
    for ((op, ret), state) in walk.actions.iter().zip(&walk.states) {
        for ret in possible_results(object, walk, op) {
            if let Role::Counts { by, seen } = object.role(op, Some(&ret)) {
                let possible = !object.step(state, op, Some(&ret)).is_empty();
                let fits = seen.is_none_or(|seen| seen == count) && count + by >= least;
                assert_eq!(possible, fits, "{op:?} → {ret} on {count}");
            }
        }
        match object.role(op, Some(ret)) {
            Role::Counts { by, .. } => {
                assert_eq!(object.role(op, None), Role::Counts { by, seen: None });
                count += by;
            }
            role => assert!(role == Role::Opaque && object.is_pure(op, Some(ret))),
        }
    }
}

/// Updates change the entry that they say, and scans see what was last written.
fn check_entries<S: Simulated>(object: &S, walk: &Walk<S>) {
    let mut entries: Vec<Option<Value>> = Vec::new();
    for (op, ret) in &walk.actions {
        match object.role(op, Some(ret)) {
            Role::Updates { entry, value } => {
                let entry = entry as usize;
                assert_eq!(object.role(op, None), object.role(op, Some(ret)));
                entries.resize(entries.len().max(entry + 1), None);
                entries[entry] = value;
            }
            Role::Scans(mut seen) => {
                assert!(object.is_pure(op, None));
                let length = seen.len().max(entries.len());
                seen.resize(length, None);
                entries.resize(length, None);
                assert_eq!(seen, entries);
            }
            role => panic!("{op:?} is {role:?}"),
        }
    }
}

/// A run stays legal when all operations on one value are left out.
fn check_deletion<S: Simulated>(object: &S, walk: &Walk<S>) {
    let value_of = |(op, ret): &(S::Op, Value)| match object.role(op, Some(ret)) {
        Role::Adds(value) | Role::Removes(value) | Role::Peeks(value) => Some(value),
        _ => None,
    };
    let opaque = |(op, ret): &(S::Op, Value)| object.role(op, Some(ret)) == Role::Opaque;
    let is_pure = |(op, ret): &(S::Op, Value)| object.is_pure(op, Some(ret));
    let noticed = |action: &&(S::Op, Value)| !(opaque(action) && is_pure(action));
    let actions: Vec<&(S::Op, Value)> = walk.actions.iter().filter(noticed).collect();
    if actions.iter().any(|action| opaque(action)) {
        return;
    }
    for deleted in actions.iter().filter_map(|action| value_of(action)) {
        let mut states = vec![object.init()];
        for action in &actions {
            if value_of(action).as_ref() != Some(&deleted) {
                let (op, ret) = action;
                states = states
                    .iter()
                    .flat_map(|state| object.step(state, op, Some(ret)))
                    .collect();
                assert!(!states.is_empty(), "without {deleted}: {op:?} → {ret}");
            }
        }
    }
}

/// Something to do with every built-in type.
pub(crate) trait Visit {
    /// Does it with the type of this name.
    fn visit<S: Simulated>(&self, name: &str, object: &S);
}

/// One test for each built-in type, and one that none is left out.
macro_rules! laws {
    ($($test:ident: $name:literal = $object:expr;)*) => {
        /// Visits every built-in type, with small parameters.
        pub(crate) fn for_each_type(visitor: &impl Visit) {
            $(visitor.visit($name, &$object);)*
        }

        $(
            #[test]
            fn $test() {
                check_laws(&$object);
            }
        )*

        #[test]
        fn every_type_is_checked() {
            let checked = [$($name),*];
            for info in crate::object::types() {
                assert!(checked.contains(&info.name), "{}", info.name);
            }
            assert_eq!(checked.len(), crate::object::types().len());
        }
    };
}

fn java_collection(class: CollectionClass, capacity: Option<usize>) -> JavaCollection {
    JavaCollection {
        class,
        capacity,
        form: HistoryForm::default(),
    }
}

laws! {
    register: "register" = Register { initial: Value::Nil, cas: false };
    cas_register: "cas-register" = Register { initial: Value::Int(0), cas: true };
    key_value: "kv" = KeyValue { missing: Value::Nil };
    set: "set" = Set;
    etcd: "etcd" = Etcd { revision: 1 };
    bag: "bag" = Container::unbounded(Discipline::Any);
    stack: "stack" = Container::unbounded(Discipline::Lifo);
    queue: "queue" = Container::unbounded(Discipline::Fifo);
    bounded_queue: "bounded-queue" = Container { discipline: Discipline::Fifo, capacity: Some(2) };
    priority_queue: "priority-queue" = Container::unbounded(Discipline::Largest);
    min_priority_queue: "min-priority-queue" = Container::unbounded(Discipline::Smallest);
    deque: "deque" = Deque;
    counter: "counter" = Counter { initial: 0 };
    mutex: "mutex" = Mutex;
    reentrant_mutex: "reentrant-mutex" = ReentrantMutex;
    rw_lock: "rw-lock" = RwLock;
    blocking_counter: "blocking-counter" = BlockingCounter { initial: 1 };
    semaphore: "semaphore" = Semaphore { permits: 2 };
    snapshot: "snapshot" = Snapshot { writers: Writers::Single, processes: Some(3), initial: Value::Int(0) };
    multi_writer_snapshot: "multi-writer-snapshot" = Snapshot { writers: Writers::Many, processes: None, initial: Value::Int(2) };
    multi_register: "multi-register" = MultiRegister { initial: Value::Nil };
    bank: "bank" = Bank::with_accounts(3, 10, Overdraft::Refused);
    unique_ids: "unique-ids" = UniqueIds;
    fenced_lock: "fenced-lock" = FencedLock;
    kafka_log: "kafka-log" = KafkaLog;
    append_list: "list" = AppendList;
    array_blocking_queue: "array-blocking-queue" = java_collection(CollectionClass::ArrayBlockingQueue, Some(3));
    concurrent_hash_map: "concurrent-hash-map" = JavaMap { class: MapClass::ConcurrentHashMap, form: HistoryForm::default() };
    concurrent_linked_deque: "concurrent-linked-deque" = java_collection(CollectionClass::ConcurrentLinkedDeque, None);
    concurrent_linked_queue: "concurrent-linked-queue" = java_collection(CollectionClass::ConcurrentLinkedQueue, None);
    concurrent_skip_list_map: "concurrent-skip-list-map" = JavaMap { class: MapClass::ConcurrentSkipListMap, form: HistoryForm::default() };
    concurrent_skip_list_set: "concurrent-skip-list-set" = java_collection(CollectionClass::ConcurrentSkipListSet, None);
    linked_blocking_deque: "linked-blocking-deque" = java_collection(CollectionClass::LinkedBlockingDeque, Some(2));
    linked_blocking_queue: "linked-blocking-queue" = java_collection(CollectionClass::LinkedBlockingQueue, None);
    linked_transfer_queue: "linked-transfer-queue" = java_collection(CollectionClass::LinkedTransferQueue, None);
    priority_blocking_queue: "priority-blocking-queue" = java_collection(CollectionClass::PriorityBlockingQueue, None);
}
