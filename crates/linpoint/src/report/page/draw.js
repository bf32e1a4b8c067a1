// Drawing on the canvas of the timeline: only what can be seen.

import { cut } from './text.js';
import { firstAtLeast } from './data.js';

export const ROW = 38;
export const BAR = 24;
export const GUTTER = 116;
export const AXIS = 26;
const MOST_POINTS = 1500;
const LETTER_FONT = '12px ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const NAME_FONT = '12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

/** The colours of the style sheet. */
export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const names = ['paper', 'card', 'ink', 'soft', 'faint', 'line', 'bar', 'edge', 'bad', 'bad-fill', 'point', 'note', 'note-fill', 'relaxed-fill'];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** Makes a canvas as sharp as the screen; its context in CSS pixels. */
export function prepared(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.direction = 'ltr';
  return context;
}

/** One picture of the timeline. */
export class Painter {
  /** `at` gives the pixel of a place among the events, `to` where the picture ends. */
  constructor(context, theme, size, at) {
    Object.assign(this, { context, theme, at, ...size });
    context.font = LETTER_FONT;
    this.letter = context.measureText('m').width;
  }

  axis(ticks) {
    const { context, theme } = this;
    context.font = NAME_FONT;
    context.textBaseline = 'middle';
    for (const { x, text } of ticks) {
      context.fillStyle = theme.line;
      context.fillRect(Math.round(x), AXIS - 6, 1, this.height - AXIS + 6);
      context.fillStyle = theme.soft;
      context.fillText(text, x + 5, AXIS / 2);
    }
  }

  /** The line on which a row stands. */
  lane(y, isOdd) {
    const { context, theme } = this;
    if (isOdd) {
      context.fillStyle = theme.paper;
      context.fillRect(GUTTER, y - ROW / 2, this.width - GUTTER, ROW);
    }
    context.fillStyle = theme.line;
    context.fillRect(GUTTER, Math.round(y), this.width - GUTTER, 1);
  }

  /** The name of a row. */
  name(name, y) {
    const { context, theme } = this;
    context.fillStyle = theme.soft;
    context.font = NAME_FONT;
    context.textBaseline = 'middle';
    context.fillText(this.fitted(name, GUTTER - 22), 12, y);
  }

  /** What happened beside the operations: a flag, and a bar while it lasts. */
  notes(notes, y) {
    const { context, theme } = this;
    context.font = NAME_FONT;
    context.textBaseline = 'middle';
    let free = -Infinity;
    for (const { at, until, text } of notes) {
      const x = this.at(at);
      const end = until == null ? x : Math.min(this.width, this.at(until));
      if (end < GUTTER || x > this.width) continue;
      if (until != null) {
        context.fillStyle = theme['note-fill'];
        context.fillRect(Math.max(GUTTER, x), y - 9, end - Math.max(GUTTER, x), 18);
        context.globalAlpha = 0.35;
        context.fillRect(Math.max(GUTTER, x), y + 9, end - Math.max(GUTTER, x), this.height - y);
        context.globalAlpha = 1;
      }
      if (x < GUTTER - 1) continue;
      context.fillStyle = theme.note;
      context.fillRect(Math.round(x), y - 11, 2, 22);
      context.beginPath();
      context.moveTo(x + 1, y - 11);
      context.lineTo(x + 9, y - 7);
      context.lineTo(x + 1, y - 3);
      context.fill();
      if (x < free) continue;
      const label = cut(text, 40);
      context.fillStyle = theme.ink;
      context.fillText(label, x + 12, y);
      free = x + 24 + context.measureText(label).width;
    }
  }

  /** The operations of one process, as far as they can be seen. */
  row(view, ops, y, chosen) {
    const { context } = this;
    const left = GUTTER;
    // Operations of a process come one after the other: the first that can be seen is the last that began before.
    const starts = { low: 0, high: ops.length };
    while (starts.low < starts.high) {
      const middle = (starts.low + starts.high) >> 1;
      if (this.at(view.from[ops[middle]]) < left) starts.low = middle + 1;
      else starts.high = middle;
    }
    let i = Math.max(0, starts.low - 1);
    while (i < ops.length) {
      const k = ops[i];
      const x1 = this.at(view.from[k]);
      if (x1 > this.width) break;
      const next = i + 1 < ops.length ? this.at(view.from[ops[i + 1]]) : Infinity;
      const isOpen = view.isOpen(k);
      const x2 = isOpen ? Math.min(this.width + 10, next - 3) : this.at(view.to[k]);
      if (x2 < left) { i++; continue; }
      if (next - x1 < 2.5 && !view.marks.has(k)) {
        // Too many to tell apart: one stroke for all that begin here.
        context.fillStyle = this.theme.edge;
        context.fillRect(x1, y - BAR / 2, 2, BAR);
        i = this.firstFrom(view, ops, i + 1, x1 + 2);
        continue;
      }
      this.bar(view, k, x1, x2, y, isOpen, chosen);
      i++;
    }
    // Marks must not drown.
    for (const [k, mark] of view.marks) {
      if (view.rowOf[k] === chosen.row) this.flag(view, k, mark, y);
    }
  }

  /** The first operation from `i` on that begins at this pixel or later. */
  firstFrom(view, ops, i, x) {
    let low = i;
    let high = ops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(view.from[ops[middle]]) < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  bar(view, k, x1, x2, y, isOpen, chosen) {
    const { context, theme } = this;
    const mark = view.marks.get(k);
    const isLast = k === view.last;
    const width = Math.max(2, x2 - x1);
    const top = y - BAR / 2;
    context.fillStyle = mark === 'core' || isLast ? theme['bad-fill'] : mark === 'relaxed' ? theme['relaxed-fill'] : theme.bar;
    context.strokeStyle = mark || isLast ? theme.bad : theme.edge;
    context.lineWidth = mark === 'core' || isLast ? 2 : 1;
    context.setLineDash(mark === 'relaxed' || isOpen ? [4, 3] : []);
    context.beginPath();
    if (isOpen) {
      context.moveTo(x2, top);
      context.lineTo(x1, top);
      context.lineTo(x1, top + BAR);
      context.lineTo(x2, top + BAR);
    } else if (width > 6) {
      context.roundRect(x1, top, width, BAR, 4);
    } else {
      context.rect(x1, top, width, BAR);
    }
    context.fill();
    if (width > 3) context.stroke();
    context.setLineDash([]);
    if (k === chosen.selected || k === chosen.hovered) {
      context.strokeStyle = theme.ink;
      context.lineWidth = k === chosen.selected ? 2 : 1;
      context.strokeRect(x1 - 3, top - 3, width + 6, BAR + 6);
    }
    const from = Math.max(x1, GUTTER) + 6;
    const room = Math.min(x2, this.width) - from - 4;
    if (room > 2 * this.letter) {
      context.font = LETTER_FONT;
      context.textBaseline = 'middle';
      context.fillStyle = theme.ink;
      context.fillText(this.label(view, k, room), from, y + 0.5);
    }
  }

  /** A sign for operations of the core, so that they are seen however small they are. */
  flag(view, k, mark, y) {
    const x1 = this.at(view.from[k]);
    if (x1 < GUTTER - 8 || x1 > this.width) return;
    const { context, theme } = this;
    const top = y - BAR / 2 - 2;
    context.beginPath();
    context.moveTo(x1, top - 5);
    context.lineTo(x1 + 5, top);
    context.lineTo(x1, top + 5);
    context.lineTo(x1 - 5, top);
    context.closePath();
    context.fillStyle = mark === 'core' ? theme.bad : theme.card;
    context.strokeStyle = theme.bad;
    context.lineWidth = 1.5;
    context.fill();
    context.stroke();
  }

  /** As much of an operation as there is room for. */
  label(view, k, room) {
    const call = view.callText(k);
    const result = view.isOpen(k) ? '?' : view.resultText(k);
    return this.fitted(result == null ? call : `${call} → ${result}`, room);
  }

  fitted(text, room) {
    // No letter is narrower than half of a usual one, so most of a long text need not be measured.
    let short = cut(text, Math.max(1, Math.ceil((2 * room) / this.letter)));
    while (short.length > 1 && this.context.measureText(short).width > room) {
      const share = room / this.context.measureText(short).width;
      short = cut(short, Math.max(1, Math.min(Array.from(short).length - 1, Math.floor(short.length * share))));
    }
    return short;
  }

  /** The line through the moments at which operations take effect, unless it would cover everything. */
  through(trace, yOf) {
    const { context, theme } = this;
    const { points, order } = trace;
    const [low, end] = this.visiblePoints(points);
    if (end - low > MOST_POINTS) return;
    context.strokeStyle = theme.point;
    context.lineWidth = 1.5;
    context.globalAlpha = 0.8;
    context.beginPath();
    for (let step = low; step < end; step++) {
      const x = this.at(points[step]);
      const y = yOf(order[step]);
      if (step === low) context.moveTo(x, y);
      else context.lineTo(x, y);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  /** The moments themselves, unless they are too many to tell apart. */
  points(trace, yOf, selected) {
    const { context, theme } = this;
    const { points, order } = trace;
    const [low, end] = this.visiblePoints(points);
    if (end - low > MOST_POINTS) return;
    for (let step = low; step < end; step++) {
      context.beginPath();
      context.arc(this.at(points[step]), yOf(order[step]), order[step] === selected ? 5 : 3.5, 0, 2 * Math.PI);
      context.fillStyle = theme.point;
      context.fill();
      context.strokeStyle = theme.card;
      context.lineWidth = 1.5;
      context.stroke();
    }
  }

  /** The steps that can be seen, and one on each side. */
  visiblePoints(points) {
    const low = this.firstPoint(points, GUTTER);
    const high = this.firstPoint(points, this.width);
    return [Math.max(0, low - 1), Math.min(points.length, high + 1)];
  }

  firstPoint(points, x) {
    let low = 0;
    let high = points.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(points[middle]) < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** From here on nothing explains the history. */
  error(x, text) {
    if (x < GUTTER || x > this.width) return;
    const { context, theme } = this;
    context.fillStyle = theme.bad;
    context.fillRect(Math.round(x) - 1, AXIS - 4, 2, this.height - AXIS + 4);
    context.font = NAME_FONT;
    context.textBaseline = 'middle';
    const width = context.measureText(text).width + 12;
    const left = Math.min(x, this.width - width);
    context.fillRect(left, 3, width, AXIS - 7);
    context.fillStyle = theme.card;
    context.fillText(text, left + 6, AXIS / 2);
  }

  /** Hides what reaches into the names of the rows. */
  gutter(names) {
    const { context, theme } = this;
    context.fillStyle = theme.card;
    context.fillRect(0, 0, GUTTER, this.height);
    names();
    context.fillStyle = theme.line;
    context.fillRect(GUTTER - 1, 0, 1, this.height);
  }
}

/** Round numbers between two others, about as many as fit. */
export function roundNumbers(from, to, most) {
  const span = Math.max(to - from, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => span / size <= most) ?? 10 * power;
  const numbers = [];
  for (let number = Math.ceil(from / step) * step; number <= to; number += step) numbers.push(number);
  return { numbers, step };
}

/** The place among the events, with a part between two, at which something stands on an axis. */
export function placeOn(axis, unit) {
  const last = axis.length - 1;
  const after = firstAtLeast(axis, unit);
  if (after === 0) return 0;
  if (after > last) return last;
  const span = axis[after] - axis[after - 1];
  return after - 1 + (span > 0 ? (unit - axis[after - 1]) / span : 0);
}
