// The timeline: zoom, pan, choose.

import { byId, grouped, who } from './text.js';
import { AXIS, BAR, GUTTER, Painter, ROW, placeOn, prepared, readTheme, roundNumbers } from './draw.js';

const OVERVIEW = 40;
const MOST_HEIGHT = 620;
const READABLE_GAP = 24;
const READABLE_PLAIN_GAP = 40;

/** The timeline of one part at a time. `actions` hear of what is chosen and what is pointed at. */
export class Timeline {
  constructor(actions) {
    this.actions = actions;
    this.canvas = byId('timeline');
    this.overview = byId('overview');
    this.isTimed = false;
    this.hasLine = true;
    this.theme = readTheme();
    this.listen();
  }

  show(view) {
    this.view = view;
    this.notes = view.annotationRows();
    this.isTimed = this.isTimed && view.times != null;
    this.selected = -1;
    this.hovered = -1;
    this.scroll = 0;
    this.seen = this.canvas.parentElement.clientWidth;
    this.resize();
    const readable = this.readable();
    const [first, last] = this.extent();
    if (last - first <= 1.5 * readable) this.fit();
    else if (view.firstError == null) this.look(first, first + readable);
    else this.center(view.firstError, readable);
  }

  // Places and pixels.

  /** Where the events stand: at their times, or so that they can be read; null if they are equally far apart. */
  axis() {
    return this.isTimed ? this.view.times : this.view.spaces;
  }

  /** From a place among the events to a place on the axis. */
  unit(place) {
    const axis = this.axis();
    if (!axis || axis.length === 0) return place;
    const last = axis.length - 1;
    const step = this.isTimed ? (axis[last] - axis[0]) / Math.max(1, last) || 1 : 1;
    if (place <= 0) return axis[0] + place * step;
    if (place >= last) return axis[last] + (place - last) * step;
    const floor = Math.floor(place);
    return axis[floor] + (place - floor) * (axis[floor + 1] - axis[floor]);
  }

  place(unit) {
    const axis = this.axis();
    return axis ? placeOn(axis, unit) : Math.min(Math.max(0, this.view.events - 1), Math.max(0, unit));
  }

  at(place) {
    return GUTTER + ((this.unit(place) - this.low) / (this.high - this.low)) * (this.width - GUTTER);
  }

  extent() {
    const { events } = this.view;
    const [low, high] = [this.unit(0), this.unit(Math.max(1, events - 1))];
    const margin = this.isTimed ? (high - low) * 0.02 : Math.min(4, Math.max(0.7, (high - low) * 0.02));
    return [low - margin, high + 2 * margin || 1];
  }

  y(k) {
    return this.rowTop(this.view.rowOf[k]);
  }

  rowTop(row) {
    return AXIS + (this.notes.length + row) * ROW + ROW / 2 - this.scroll;
  }

  // Where to look.

  look(low, high) {
    const [first, last] = this.extent();
    const least = this.isTimed ? (last - first) * 1e-9 : 1.5;
    let width = Math.min(last - first, Math.max(least, high - low));
    if (!(width > 0)) width = 1;
    const start = Math.min(last - width, Math.max(first, low));
    [this.low, this.high] = [start, start + width];
    this.redraw();
  }

  /** How much of the axis can be read at a time. */
  readable() {
    const [first, last] = this.extent();
    const width = (this.width - GUTTER) / (this.view.spaces ? READABLE_GAP : READABLE_PLAIN_GAP);
    return this.isTimed ? ((last - first) * width) / Math.max(1, this.view.events) : width;
  }

  fit() {
    this.look(...this.extent());
  }

  /** Shows what is around a place, so much of the axis. */
  center(place, width = this.high - this.low) {
    const middle = this.unit(place);
    this.look(middle - width / 2, middle + width / 2);
  }

  /** Shows everything between two places. */
  lookAt(from, to) {
    const margin = Math.max(1, (to - from) * 0.08);
    this.look(this.unit(from - margin), this.unit(to + margin));
  }

  zoom(factor, x = (GUTTER + this.width) / 2) {
    const share = (x - GUTTER) / (this.width - GUTTER);
    const middle = this.low + share * (this.high - this.low);
    const width = (this.high - this.low) / factor;
    this.look(middle - share * width, middle + (1 - share) * width);
  }

  pan(share) {
    const by = share * (this.high - this.low);
    this.look(this.low + by, this.high + by);
  }

  setTimed(isTimed) {
    if (!this.view.times || isTimed === this.isTimed) return;
    const [low, high] = [this.place(this.low), this.place(this.high)];
    this.isTimed = isTimed;
    this.density = null;
    this.look(this.unit(low), this.unit(high));
  }

  scrollTo(scroll) {
    const most = Math.max(0, this.contentHeight() - this.height);
    const next = Math.min(most, Math.max(0, scroll));
    if (next === this.scroll) return false;
    this.scroll = next;
    this.redraw();
    return true;
  }

  contentHeight() {
    return AXIS + (this.notes.length + this.view.rows.length) * ROW + 6;
  }

  /** Chooses an operation and brings it into sight; none for -1. */
  select(k, isMoving = true) {
    this.selected = k;
    if (k >= 0 && isMoving) {
      const row = this.rowTop(this.view.rowOf[k]);
      if (row < AXIS + ROW) this.scrollTo(this.scroll + row - AXIS - ROW);
      if (row > this.height - ROW) this.scrollTo(this.scroll + row - this.height + ROW);
      const x = this.at(this.view.from[k]);
      if (x < GUTTER || x > this.width - 20) this.center(this.view.from[k]);
    }
    this.redraw();
  }

  /** The operation beside the chosen one: in its row, or in another one at about the same place. */
  neighbour(across, down) {
    const { view } = this;
    if (this.selected < 0) return this.firstVisible();
    const row = view.rowOf[this.selected];
    if (across !== 0) {
      const { ops } = view.rows[row];
      return ops[ops.indexOf(this.selected) + across] ?? this.selected;
    }
    const other = view.rows[row + down];
    if (!other) return this.selected;
    const from = view.from[this.selected];
    const distance = (k) => Math.abs(view.from[k] - from);
    const near = Math.min(other.ops.length - 1, lowerBound(other.ops, (k) => view.from[k] < from));
    const before = Math.max(0, near - 1);
    return distance(other.ops[before]) < distance(other.ops[near]) ? other.ops[before] : other.ops[near];
  }

  firstVisible() {
    const { view } = this;
    const k = lowerBound(view.from, (from) => this.at(from) < GUTTER);
    return view.length === 0 ? -1 : Math.min(k, view.length - 1);
  }

  // Drawing.

  resize() {
    const { parentElement } = this.canvas;
    const { paddingLeft, paddingRight } = getComputedStyle(parentElement);
    this.width = Math.max(320, Math.floor(parentElement.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)) - 2);
    this.height = Math.min(MOST_HEIGHT, this.view ? this.contentHeight() : 200);
    for (const [canvas, height] of [[this.canvas, this.height], [this.overview, OVERVIEW]]) {
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${height}px`;
    }
    this.density = null;
  }

  redraw() {
    if (this.pending || !this.view) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.draw();
    });
  }

  draw() {
    const { view, theme, width, height } = this;
    const context = prepared(this.canvas, width, height);
    const painter = new Painter(context, theme, { width, height }, (place) => this.at(place));
    const rows = view.rows.map((row, r) => ({ row, r, y: this.rowTop(r) })).filter(({ y }) => y > AXIS - ROW && y < height + ROW);
    for (const { row, r, y } of rows) painter.lane(y, r % 2 === 1);
    painter.axis(this.ticks());
    this.notes.forEach(({ notes }, i) => painter.notes(notes, AXIS + i * ROW + ROW / 2 - this.scroll));
    const pointY = (k) => this.y(k) + BAR / 2;
    const trace = view.traceWith(this.hovered >= 0 ? this.hovered : this.selected);
    if (this.hasLine) painter.through(trace, pointY);
    for (const { row, r, y } of rows) painter.row(view, row.ops, y, { selected: this.selected, hovered: this.hovered, row: r });
    if (this.hasLine) painter.points(trace, pointY, this.selected);
    if (view.firstError != null) painter.error(this.at(view.firstError), view.isExact ? '✗ first error' : '✗ error by here');
    painter.gutter(() => {
      this.notes.forEach(({ name }, i) => painter.name(name, AXIS + i * ROW + ROW / 2 - this.scroll));
      for (const { row, y } of rows) painter.name(who(row.name), y);
      context.fillStyle = theme.card;
      context.fillRect(0, 0, GUTTER, AXIS);
    });
    this.drawOverview();
    this.canvas.dataset.low = this.place(this.low);
    this.canvas.dataset.high = this.place(this.high);
    this.canvas.dataset.drawn = (Number(this.canvas.dataset.drawn) || 0) + 1;
  }

  ticks() {
    const most = Math.max(2, (this.width - GUTTER) / 110);
    if (!this.isTimed) {
      const { events } = this.view;
      const { numbers } = roundNumbers(this.place(this.low), this.place(this.high), most);
      const whole = numbers.filter((number) => Number.isInteger(number) && number >= 0 && number < events);
      return whole.map((number) => ({ x: this.at(number), text: grouped(Math.abs(number)) }));
    }
    const { numbers, step } = roundNumbers(this.low, this.high, most);
    const scale = (this.width - GUTTER) / (this.high - this.low);
    const digits = Math.max(0, -Math.floor(Math.log10(step)));
    return numbers.filter((number) => number >= 0).map(Math.abs)
      .map((number) => ({ x: GUTTER + (number - this.low) * scale, text: step < 1 ? number.toFixed(digits) : grouped(Math.round(number)) }));
  }

  drawOverview() {
    const { view, theme, width } = this;
    const context = prepared(this.overview, width, OVERVIEW);
    const [low, high] = this.extent();
    const x = (unit) => GUTTER + ((unit - low) / (high - low)) * (width - GUTTER);
    if (!this.density) {
      this.density = new Uint32Array(Math.ceil(width - GUTTER) + 1);
      const axis = this.axis();
      const scale = (width - GUTTER) / (high - low);
      for (let k = 0; k < view.length; k++) this.density[Math.floor(((axis ? axis[view.from[k]] : view.from[k]) - low) * scale)]++;
    }
    const most = this.density.reduce((a, b) => Math.max(a, b), 1);
    context.fillStyle = theme.edge;
    this.density.forEach((count, i) => {
      if (count > 0) context.fillRect(GUTTER + i, OVERVIEW - 6 - 22 * (count / most), 1, 22 * (count / most) + 1);
    });
    context.fillStyle = theme.bad;
    for (const [k, mark] of view.marks) {
      if (mark === 'core') context.fillRect(x(this.unit(view.from[k])) - 1, 4, 3, OVERVIEW - 10);
    }
    if (view.firstError != null) {
      const at = x(this.unit(view.firstError));
      context.beginPath();
      context.moveTo(at - 5, 0);
      context.lineTo(at + 5, 0);
      context.lineTo(at, 8);
      context.fill();
    }
    const [from, to] = [x(this.low), x(this.high)];
    context.fillStyle = theme.point;
    context.globalAlpha = 0.13;
    context.fillRect(from, 2, to - from, OVERVIEW - 6);
    context.globalAlpha = 1;
    context.strokeStyle = theme.point;
    context.strokeRect(from + 0.5, 2.5, Math.max(2, to - from - 1), OVERVIEW - 7);
    context.fillStyle = theme.faint;
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.fillText('overview', 12, OVERVIEW / 2);
  }

  // Pointers.

  listen() {
    const { canvas } = this;
    let drag = null;
    canvas.addEventListener('pointerdown', (event) => {
      drag = { x: event.clientX, y: event.clientY, low: this.low, high: this.high, scroll: this.scroll, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!drag) return this.point(event);
      const by = event.clientX - drag.x;
      if (Math.abs(by) + Math.abs(event.clientY - drag.y) > 3) drag.moved = true;
      if (!drag.moved) return undefined;
      canvas.classList.add('dragging');
      const units = (by / (this.width - GUTTER)) * (drag.high - drag.low);
      this.look(drag.low - units, drag.high - units);
      this.scrollTo(drag.scroll - (event.clientY - drag.y));
      return undefined;
    });
    const release = (event) => {
      if (drag && !drag.moved && event.type === 'pointerup') this.actions.select(this.hit(event));
      drag = null;
      canvas.classList.remove('dragging');
    };
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
    canvas.addEventListener('pointerleave', () => {
      this.hovered = -1;
      this.actions.point(-1);
      this.redraw();
    });
    canvas.addEventListener('dblclick', (event) => this.zoom(3, event.offsetX));
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    const goTo = (event) => {
      const share = (event.offsetX - GUTTER) / (this.width - GUTTER);
      const [low, high] = this.extent();
      const middle = low + share * (high - low);
      const half = (this.high - this.low) / 2;
      this.look(middle - half, middle + half);
    };
    this.overview.addEventListener('pointerdown', (event) => {
      this.overview.setPointerCapture(event.pointerId);
      goTo(event);
    });
    this.overview.addEventListener('pointermove', (event) => { if (event.buttons) goTo(event); });
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (!this.view || canvas.parentElement.clientWidth === this.seen) return;
      this.seen = canvas.parentElement.clientWidth;
      this.resize();
      this.redraw();
    })).observe(canvas.parentElement);
    const repaint = () => {
      this.theme = readTheme();
      if (this.view) this.draw();
    };
    for (const media of ['(prefers-color-scheme: dark)', 'print']) matchMedia(media).addEventListener('change', repaint);
  }

  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.004), event.offsetX);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.pan((event.deltaX || event.deltaY) / (this.width - GUTTER));
    } else if (this.scrollTo(this.scroll + event.deltaY)) {
      event.preventDefault();
    }
  }

  point(event) {
    const k = this.hit(event);
    if (k === this.hovered) return;
    this.hovered = k;
    this.actions.point(k, event.clientX, event.clientY);
    this.redraw();
  }

  /** The operation under the pointer, or -1. */
  hit(event) {
    const { view } = this;
    const row = Math.floor((event.offsetY + this.scroll - AXIS) / ROW) - this.notes.length;
    if (event.offsetX < GUTTER || event.offsetY < AXIS || !view.rows[row]) return -1;
    const { ops } = view.rows[row];
    const next = lowerBound(ops, (k) => this.at(view.from[k]) <= event.offsetX + 3);
    const k = ops[next - 1];
    if (k === undefined) return -1;
    return view.isOpen(k) || Math.max(this.at(view.to[k]), this.at(view.from[k]) + 3) >= event.offsetX - 3 ? k : -1;
  }
}

/** The first place at which `isBefore` no longer holds. */
function lowerBound(column, isBefore) {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(column[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}
