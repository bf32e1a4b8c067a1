// One part of a history, laid out: rows of processes, places of events, points of the order.

import { visible } from './text.js';
import { NEVER, firstAtLeast, search } from './data.js';

/** Operations with so many events at most are widened, up to so many letters, each of which takes a share of a gap. */
const WIDENED = 4;
const WIDEST = 18;
const LETTER = 0.33;
const MOST_WIDENED = 200_000;

const MOST_NOTE_ROWS = 6;

/** The name of a part: object and key. */
export function partName(part) {
  const names = [];
  if (part.object != null) names.push(`object ${visible(part.object)}`);
  if (part.key != null) names.push(`key ${visible(part.key)}`);
  return names.join(', ') || 'the object';
}

/** A part, ready to be drawn. Its operations are numbered 0, 1, ... in the order of their calls. */
export class PartView {
  constructor(columns, number) {
    this.columns = columns;
    this.number = number;
    this.part = columns.history.parts[number];
    this.ops = placesOf(columns, number);
    this.length = this.ops.length;
    this.layEvents();
    this.layRows();
    this.layMarks();
    this.trace = new Trace(this, new Uint32Array(0), () => null);
    this.others = new Map();
  }

  /** Places of calls and returns among the events of the part. */
  layEvents() {
    const { call, ret } = this.columns;
    this.from = new Float64Array(this.length);
    this.to = new Float64Array(this.length);
    const ranks = this.ranks();
    const at = (rank) => (ranks ? firstAtLeast(ranks, rank) : rank);
    this.placeOfRank = at;
    let open = 0;
    for (let k = 0; k < this.length; k++) {
      const place = this.ops[k];
      const isOpen = ret[place] === NEVER;
      open += isOpen ? 1 : 0;
      this.from[k] = ranks ? at(call[place]) : call[place];
      this.to[k] = isOpen ? Infinity : ranks ? at(ret[place]) : ret[place];
    }
    this.events = 2 * this.length - open;
    this.times = this.columns.times && this.layTimes();
    // In the longest histories one has to zoom in anyway.
    this.spaces = this.length > MOST_WIDENED ? null : this.laySpaces();
  }

  /** The ranks of all events in order; null where all operations are shown, because ranks are places then. */
  ranks() {
    if (this.length === this.columns.history.operations) return null;
    const { call, ret } = this.columns;
    const ranks = new Uint32Array(2 * this.length);
    let count = 0;
    for (const place of this.ops) {
      ranks[count++] = call[place];
      if (ret[place] !== NEVER) ranks[count++] = ret[place];
    }
    return ranks.slice(0, count).sort();
  }

  /** Places of the events such that short operations have room for what they say. */
  laySpaces() {
    const gaps = new Float32Array(this.events + 1).fill(1);
    const { method, argument, result, history, texts: { sizes } } = this.columns;
    const methods = Uint32Array.from(history.methods, (name) => name.length + 7);
    for (let k = 0; k < this.length; k++) {
      const from = this.from[k];
      const span = this.to[k] - from;
      if (span > WIDENED) continue;
      const place = this.ops[k];
      const letters = methods[method[place]] + sizes[argument[place]] + sizes[result[place]];
      let more = (letters < WIDEST ? letters : WIDEST) * LETTER;
      for (let i = 0; i < span; i++) more -= gaps[from + i];
      if (more <= 0) continue;
      for (let i = 0; i < span; i++) gaps[from + i] += more / span;
    }
    const spaces = new Float64Array(this.events);
    for (let i = 1; i < spaces.length; i++) spaces[i] = spaces[i - 1] + gaps[i - 1];
    return spaces;
  }

  /** The time of each event; times never run backwards. */
  layTimes() {
    const { from, to } = this.columns.times;
    const times = new Float64Array(this.events);
    this.ops.forEach((place, k) => {
      times[this.from[k]] = from[place];
      if (this.to[k] !== Infinity) times[this.to[k]] = to[place];
    });
    for (let i = 1; i < times.length; i++) times[i] = Math.max(times[i], times[i - 1]);
    return times;
  }

  /** A row for each process, with its operations in order. */
  layRows() {
    const { process, history } = this.columns;
    const counts = new Uint32Array(history.processes.length);
    for (let k = 0; k < this.length; k++) counts[process[this.ops[k]]]++;
    const order = new Intl.Collator('en', { numeric: true });
    this.rows = Array.from(counts, (count, number) => ({ number, name: visible(history.processes[number]), ops: new Uint32Array(count) }))
      .filter((row) => row.ops.length > 0)
      .sort((a, b) => order.compare(a.name, b.name));
    const rowOf = new Uint32Array(counts.length);
    this.rows.forEach((row, r) => { rowOf[row.number] = r; });
    const filled = new Uint32Array(this.rows.length);
    this.rowOf = new Uint32Array(this.length);
    for (let k = 0; k < this.length; k++) {
      const r = rowOf[process[this.ops[k]]];
      this.rowOf[k] = r;
      this.rows[r].ops[filled[r]++] = k;
    }
  }

  /** The witness, or the longest explanation, and the orders with what that leaves out. The rest can be seen before. */
  layOrders() {
    const { places, states, firstState } = this.columns.orders()[this.number];
    const isWhole = this.columns.length === this.length;
    const order = isWhole ? Uint32Array.from(places) : Uint32Array.from(places, (place) => search(this.ops, place));
    const stateAfter = (step) => this.columns.texts.get(states[step - firstState] ?? 0);
    this.trace = new Trace(this, order, stateAfter);
    for (const other of this.part.violation?.others ?? []) {
      const same = other.after - this.part.steps_before;
      const steps = other.steps.map(([number]) => this.opWith(number));
      if (same < 0 || steps.includes(-1)) continue;
      const after = (step) => (step < same ? stateAfter(step) : other.steps[step - same][1]);
      const trace = new Trace(this, Uint32Array.from([...order.subarray(0, same), ...steps]), after, other.refused);
      for (const k of steps) if (this.trace.step(k) < 0 && !this.others.has(k)) this.others.set(k, trace);
    }
  }

  /** The order to be shown with an operation: the longest that it is in. */
  traceWith(k) {
    return this.others.get(k) ?? this.trace;
  }

  /** What stands out: the core, what it leaves open, and the operation that cannot be explained. */
  layMarks() {
    this.marks = new Map();
    const violation = this.part.violation;
    if (!violation) return;
    for (const row of violation.core.rows) {
      const k = this.opWith(row.op);
      if (k >= 0) this.marks.set(k, row.relaxed ? 'relaxed' : 'core');
    }
    // Where the shortest bad beginning was not found, one that ends with the core is bad at least.
    this.isExact = violation.shortest;
    const core = [...this.marks].filter(([, mark]) => mark === 'core').map(([k]) => k);
    this.last = this.isExact ? this.opWith(violation.last) : core.reduce((a, b) => (this.to[a] > this.to[b] ? a : b), -1);
    // What is wrong with an operation that waits for no reason is at no event.
    this.firstError = this.last >= 0 && !this.isOpen(this.last) ? this.to[this.last] : null;
  }

  /** The operation with this number in the history, or -1. */
  opWith(number) {
    const place = this.columns.placeOf(number);
    return place < 0 ? -1 : search(this.ops, place);
  }

  callText(k) {
    return this.columns.callText(this.ops[k]);
  }

  resultText(k) {
    return this.columns.resultText(this.ops[k]);
  }

  isOpen(k) {
    return this.to[k] === Infinity;
  }

  /** What happened beside the operations: by who it was, with places among the events. */
  annotationRows() {
    const notes = this.columns.history.annotations.map(([rank, text]) => {
      const [who] = text.split(' ', 1);
      return { at: this.placeOfRank(rank) - 0.5, who: visible(who), text: visible(text), what: visible(text.slice(who.length).trim()) || visible(who) };
    });
    const rows = Map.groupBy(notes, ({ who }) => who);
    // Notes that do not begin with who it was share a row.
    if (rows.size > MOST_NOTE_ROWS) return [{ name: 'notes', notes }];
    return [...rows].map(([name, own]) => ({ name, notes: withSpans(own.map(({ at, what }) => ({ at, text: what }))) }));
  }
}

/** An order of operations of a part, with the moments at which they take effect. */
class Trace {
  constructor(view, order, stateAfter, refused = []) {
    this.order = order;
    this.refused = refused;
    this.states = stateAfter;
    this.view = view;
    this.points = new Float64Array(order.length);
    let moment = 0;
    for (let step = 0; step < order.length; step++) {
      moment = Math.max(moment, view.from[order[step]]);
      this.points[step] = moment;
    }
    // Those between the same two events share the room between them.
    for (let first = 0; first < order.length;) {
      let end = first;
      while (end < order.length && this.points[end] === this.points[first]) end++;
      const share = 1 / (end - first + 1);
      for (let step = first; step < end; step++) this.points[step] += (step - first + 1) * share;
      first = end;
    }
  }

  get length() {
    return this.order.length;
  }

  /** The step of an operation, or -1. */
  step(k) {
    if (!this.steps) {
      this.steps = new Int32Array(this.view.length).fill(-1);
      for (let step = 0; step < this.order.length; step++) this.steps[this.order[step]] = step;
    }
    return this.steps[k] ?? -1;
  }

  /** The state after a step; null where the page does not hold it. */
  stateAfter(step) {
    return step < 0 ? this.view.part.initial : this.states(step);
  }
}

/** What is started lasts until it is stopped. */
function withSpans(notes) {
  let open = null;
  for (const note of notes) {
    const word = note.text.split(/[^a-z]/i, 1)[0].toLowerCase();
    if (/^(stop|heal|end|resume|recover)/.test(word)) {
      if (open) open.until = note.at;
      open = null;
    } else if (/^(start|kill|pause|partition)/.test(word)) {
      open = open ?? note;
    }
  }
  if (open) open.until = Infinity;
  return notes;
}

function placesOf(columns, number) {
  const places = new Uint32Array(columns.length);
  const { part } = columns;
  let count = 0;
  for (let i = 0; i < columns.length; i++) if (!part || part[i] === number) places[count++] = i;
  return places.subarray(0, count);
}
