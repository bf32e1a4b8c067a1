// One part of a history, laid out: rows of processes, places of events, points of the order.

import { visible } from './text.js';
import { NEVER, firstAtLeast, search } from './data.js';

/** Operations with so many events at most are widened, up to so many letters, each of which takes a share of a gap. */
const WIDENED = 4;
const WIDEST = 18;
const LETTER = 0.33;

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
    this.part = columns.story.parts[number];
    this.ops = placesOf(columns, number);
    this.length = this.ops.length;
    this.layEvents();
    this.layRows();
    this.layPoints();
    this.layMarks();
  }

  /** Places of calls and returns among the events of the part. */
  layEvents() {
    const { call, ret } = this.columns;
    const ranks = new Uint32Array(2 * this.length);
    let count = 0;
    for (const place of this.ops) {
      ranks[count++] = call[place];
      if (ret[place] !== NEVER) ranks[count++] = ret[place];
    }
    const isWhole = this.columns.length === this.length && this.length === this.columns.story.operations;
    // Where all operations are shown, ranks are places already.
    const sorted = isWhole ? null : ranks.slice(0, count).sort();
    const at = (rank) => (sorted ? firstAtLeast(sorted, rank) : rank);
    this.placeOfRank = at;
    this.events = count;
    this.from = new Float64Array(this.length);
    this.to = new Float64Array(this.length);
    this.ops.forEach((place, k) => {
      this.from[k] = at(call[place]);
      this.to[k] = ret[place] === NEVER ? Infinity : at(ret[place]);
    });
    this.times = this.columns.times && this.layTimes();
    this.spaces = this.laySpaces();
  }

  /** Places of the events such that short operations have room for what they say. */
  laySpaces() {
    const gaps = new Float32Array(this.events + 1).fill(1);
    for (let k = 0; k < this.length; k++) {
      const [from, span] = [this.from[k], this.to[k] - this.from[k]];
      if (span > WIDENED) continue;
      let room = 0;
      for (let i = 0; i < span; i++) room += gaps[from + i];
      const more = (Math.min(WIDEST, this.columns.letters(this.ops[k])) * LETTER - room) / span;
      for (let i = 0; i < span && more > 0; i++) gaps[from + i] += more;
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
    const rows = new Map();
    this.rowOf = new Uint32Array(this.length);
    this.ops.forEach((place, k) => {
      const process = this.columns.process[place];
      if (!rows.has(process)) rows.set(process, []);
      rows.get(process).push(k);
    });
    const name = (process) => visible(this.columns.story.processes[process]);
    const order = new Intl.Collator('en', { numeric: true });
    this.rows = [...rows]
      .map(([process, ops]) => ({ name: name(process), ops: Uint32Array.from(ops) }))
      .sort((a, b) => order.compare(a.name, b.name));
    this.rows.forEach((row, r) => row.ops.forEach((k) => { this.rowOf[k] = r; }));
  }

  /** The moments at which operations take effect in the witness, or in the longest explanation. */
  layPoints() {
    const { places, states } = this.columns.orders[this.number];
    this.states = states;
    this.order = new Uint32Array(places.length);
    this.stepOf = new Int32Array(this.length).fill(-1);
    this.points = new Float64Array(places.length);
    const isWhole = this.columns.length === this.length;
    let moment = 0;
    for (let step = 0; step < places.length; step++) {
      const k = isWhole ? places[step] : search(this.ops, places[step]);
      this.order[step] = k;
      this.stepOf[k] = step;
      moment = Math.max(moment, this.from[k]);
      this.points[step] = moment;
    }
    // Those between the same two events share the room between them.
    for (let first = 0; first < places.length;) {
      let end = first;
      while (end < places.length && this.points[end] === this.points[first]) end++;
      const share = 1 / (end - first + 1);
      for (let step = first; step < end; step++) this.points[step] += (step - first + 1) * share;
      first = end;
    }
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
    this.last = this.opWith(violation.last);
    this.firstError = this.last >= 0 ? this.to[this.last] : null;
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

  /** The state after a step; null where the page does not hold it. */
  stateAfter(step) {
    if (step < 0) return this.part.initial;
    return this.columns.texts.get(this.states[step]);
  }

  /** What happened beside the operations: by who it was, with places among the events. */
  annotationRows() {
    const rows = new Map();
    for (const [rank, text] of this.columns.story.annotations) {
      const who = visible(text.split(' ', 1)[0]);
      if (!rows.has(who)) rows.set(who, []);
      const what = visible(text.slice(who.length).trim()) || who;
      rows.get(who).push({ at: this.placeOfRank(rank) - 0.5, text: what });
    }
    return [...rows].map(([name, notes]) => ({ name, notes: withSpans(notes) }));
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
  const isOnly = columns.story.parts.length === 1;
  if (isOnly) return Uint32Array.from({ length: columns.length }, (_, i) => i);
  const places = [];
  for (let i = 0; i < columns.length; i++) if (columns.part[i] === number) places.push(i);
  return Uint32Array.from(places);
}
