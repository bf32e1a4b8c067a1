// The core of a violation, drawn large: only the operations that matter, and the constraints that contradict each other.

import { byId, code, counted, cut, drawn, element, said, visible, who } from './text.js';

const ROW = 78;
const BAR = 48;
const TOP = 26;
const LETTER = 8.6;
const LONGEST = 34;
const CIRCLED = ['①', '②', '③', '④', '⑤', '⑥', '⑦', '⑧', '⑨', '⑩', '⑪', '⑫', '⑬', '⑭', '⑮', '⑯', '⑰', '⑱', '⑲', '⑳'];

const sign = (i) => CIRCLED[i] ?? `(${i + 1})`;

/** The section of the core. `actions` are what can be done with its operations. */
export class CorePicture {
  constructor(core, actions) {
    this.core = core;
    this.actions = actions;
    this.attempt = 0;
    this.sticky = false;
    this.lay();
    this.picture = this.draw();
    this.points = drawn('g');
    this.picture.append(this.points);
    this.table = element('div', { class: 'attempt' });
    byId('core').replaceChildren(...this.section());
    byId('core').hidden = false;
    // What does not fit is cut at the beginning: the contradiction is at the end.
    this.picture.parentElement.scrollLeft = this.width;
    this.showAttempt(0);
  }

  section() {
    const { core } = this;
    const all = core.operations + core.relaxed;
    return [
      element('div', { class: 'bar' },
        element('h2', { id: 'core-title' }, 'Core'),
        element('span', { class: 'soft small' }, `${counted(core.operations, 'operation')}, ${core.extent}, ${core.confirmation}`),
        element('span', { class: 'space' }),
        element('div', { class: 'tools' },
          element('button', { type: 'button', id: 'in-history', title: 'The same operations in the whole history (h)',
            onclick: () => this.actions.showInHistory() }, 'Show in the whole history'))),
      element('p', { class: 'sentence' }, `${visible(core.sentence)}.`),
      core.anchor && element('p', { class: 'note', id: 'anchor' }, `The core starts here: ${visible(core.anchor)}.`),
      core.rows.length < all && element('p', { class: 'note' }, `The last ${core.rows.length} of ${counted(all, 'operation')} are drawn.`),
      element('div', { class: 'picture' }, this.picture),
      element('div', { class: 'why' }, this.constraints(), core.attempts.length > 0 && this.attempts()),
    ].filter(Boolean);
  }

  /** Widths between events, so that every label fits into its bar. */
  lay() {
    const { rows, events } = this.core;
    const order = new Intl.Collator('en', { numeric: true });
    this.processes = [...new Set(rows.map((row) => row.process))].sort(order.compare);
    this.labels = rows.map((row) => ({
      call: cut(visible(row.call), LONGEST),
      result: row.to == null ? '→ ?' : row.result == null ? null : cut(`→ ${visible(row.result)}`, LONGEST),
    }));
    const heads = this.processes.map((process) => cut(who(process), 22));
    this.heads = heads;
    this.left = Math.max(...heads.map((head) => head.length)) * 7.2 + 26;
    const gaps = new Array(events).fill(30);
    // An open operation is drawn up to the next one of its process.
    this.ends = rows.map((row) => row.to ?? Math.min(events, ...rows.filter((other) => other.process === row.process && other.from > row.from).map((other) => other.from)));
    const bySpan = rows.map((row, i) => ({ from: row.from, to: this.ends[i], i }))
      .sort((a, b) => (a.to - a.from) - (b.to - b.from));
    for (const { from, to, i } of bySpan) {
      const letters = Math.max(this.labels[i].call.length, this.labels[i].result?.length ?? 0);
      const needed = letters * LETTER + 34;
      const there = gaps.slice(from, to).reduce((sum, gap) => sum + gap, 0);
      const more = Math.max(0, needed - there) / (to - from);
      for (let gap = from; gap < to; gap++) gaps[gap] += more;
    }
    this.x = [this.left + 16];
    for (const gap of gaps) this.x.push(this.x.at(-1) + gap);
    this.width = this.x.at(-1) + 24;
    this.height = TOP + this.processes.length * ROW + 8;
  }

  y(row) {
    return TOP + this.processes.indexOf(row.process) * ROW;
  }

  at(position) {
    const floor = Math.min(Math.floor(position), this.x.length - 2);
    return this.x[floor] + (position - floor) * (this.x[floor + 1] - this.x[floor]);
  }

  draw() {
    const { rows, arrows } = this.core;
    const lanes = this.processes.map((process, i) => drawn('g', {},
      drawn('text', { x: 2, y: TOP + i * ROW + BAR / 2 + 4, class: 'lane-name' }, this.heads[i]),
      drawn('line', { x1: this.left, x2: this.width, y1: TOP + i * ROW + BAR / 2, y2: TOP + i * ROW + BAR / 2, class: 'lane' })));
    this.bars = rows.map((row, i) => this.bar(row, i));
    this.through = drawn('g');
    const paths = arrows.map(([a, b], i) => this.arrow(rows[a], rows[b], i));
    const names = rows.map((row) => said(row.call, row.result, row.to == null)).join('; ');
    return drawn('svg', { style: `width:100%;max-width:${this.width}px;min-width:${Math.round(this.width * 0.68)}px`, viewBox: `0 0 ${this.width} ${this.height}`, role: 'group',
      'aria-label': `The operations of the core: ${visible(cut(names, 2000))}` },
    ...lanes, ...paths.map(({ line }) => line), this.through, ...this.bars, ...paths.map(({ badge }) => badge));
  }

  bar(row, i) {
    const { call, result } = this.labels[i];
    const x1 = this.x[row.from];
    const isOpen = row.to == null;
    const x2 = this.x[this.ends[i]] - (isOpen && this.ends[i] < this.core.events ? 10 : 0);
    const y = this.y(row);
    const shape = isOpen
      ? drawn('path', { class: 'shape', d: `M${x2} ${y} H${x1 + 6} Q${x1} ${y} ${x1} ${y + 6} V${y + BAR - 6} Q${x1} ${y + BAR} ${x1 + 6} ${y + BAR} H${x2}` })
      : drawn('rect', { class: 'shape', x: x1, y, width: x2 - x1, height: BAR, rx: 6 });
    const label = said(row.call, row.result, isOpen);
    const note = row.relaxed ? ' (no matter what it answered, and when or whether it took effect)' : '';
    const lines = result == null
      ? [drawn('text', { x: x1 + 14, y: y + BAR / 2 + 5 }, call)]
      : [drawn('text', { x: x1 + 14, y: y + 20 }, call), drawn('text', { x: x1 + 14, y: y + 38, class: 'result' }, result)];
    const bar = drawn('g', { class: `op${row.relaxed ? ' relaxed' : ''}`, tabindex: 0, role: 'button', 'data-row': i,
      'aria-label': cut(`${visible(label)} by ${who(row.process)}${note}`, 300) },
    drawn('title', {}, cut(`${visible(label)} by ${who(row.process)}${note}`, 600)), shape, ...lines);
    const choose = () => this.choose(i);
    bar.addEventListener('click', choose);
    bar.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      choose();
    });
    for (const name of ['pointerenter', 'focus']) bar.addEventListener(name, () => this.hover(i));
    for (const name of ['pointerleave', 'blur']) bar.addEventListener(name, () => this.hover(null));
    return bar;
  }

  /** From a return to a call that came later: a line, and its number. */
  arrow(before, after, i) {
    const [x1, x2] = [this.x[before.to], this.x[after.from]];
    const [y1, y2] = [this.y(before) + BAR / 2, this.y(after) + BAR / 2];
    const isOver = y1 === y2 && after.from > before.to + 1;
    const top = y1 - BAR / 2 - 22;
    const bend = Math.max(14, (x2 - x1) / 2);
    const path = isOver
      ? `M${x1} ${y1 - 12} C${x1 + 26} ${top} ${x2 - 40} ${top} ${x2 - 8} ${y2 - 4}`
      : `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 8} ${y2}`;
    const [x, y] = [(x1 + x2) / 2, isOver ? y1 - BAR / 2 - 15 : (y1 + y2) / 2 - (y1 === y2 ? 14 : 0)];
    return {
      line: drawn('g', { class: 'arrow' }, drawn('path', { d: path }), drawn('path', { class: 'head', d: `M${x2 - 1} ${y2} l-10 -5 v10 z` })),
      badge: drawn('g', { class: 'arrow' }, drawn('circle', { cx: x, cy: y, r: 9 }), drawn('text', { x, y: y + 4 }, String(i + 1))),
    };
  }

  constraints() {
    const { rows, arrows } = this.core;
    const text = (row) => (row.relaxed ? row.call : said(row.call, row.result, false));
    const isAlone = (row) => rows.filter((other) => text(other) === text(row)).length === 1;
    const by = (several) => (isAlone(several[0]) ? '' : ` by ${several.map((row) => who(row.process)).join(', ')}`);
    const name = (...several) => element('span', {}, code(cut(text(several[0]), 80)), by(several));
    // What is said of several alike is said once.
    const alike = Map.groupBy(arrows.map(([a, b], i) => ({ a: rows[a], b: rows[b], i })), ({ a, b }) => `${b.op} ${text(a)}`);
    const items = [...alike.values()].map((same) => element('li', {},
      element('span', { class: 'number', 'aria-hidden': 'true' }, same.map(({ i }) => sign(i)).join(' ')),
      name(...same.map(({ a }) => a)), ' returned before ', name(same[0].b), ' was called.'));
    const relaxed = rows.filter((row) => row.relaxed).length;
    const ending = arrows.length === 0
      ? 'No order of these operations that keeps to the order of each process gives the recorded results.'
      : arrows.length === 1
        ? 'No order that keeps to this gives the recorded results.'
        : 'No order that keeps to all of these gives the recorded results.';
    return element('div', { class: 'constraints' },
      element('h3', {}, arrows.length === 0 ? 'Why' : 'What contradicts'),
      element('ul', { class: 'plain' }, ...items),
      element('p', {}, this.core.attempts.length === 0 && arrows.length === 0 ? 'No order of these operations gives the recorded results.' : ending),
      relaxed > 0 && element('p', { class: 'soft small' }, `Dashed: ${relaxed === 1 ? 'this one' : 'these'} may have happened at any time after the call, with any result, or not at all. That does not help.`));
  }

  attempts() {
    this.chips = this.core.attempts.map((_, i) => element('button', { type: 'button', class: 'chip', title: `Attempt ${i + 1}`,
      onclick: () => { this.sticky = true; this.showAttempt(i); } }, String(i + 1)));
    return element('div', {},
      element('h3', {}, this.chips.length > 1 ? 'How far orders get ' : 'How far an order gets', ...(this.chips.length > 1 ? this.chips : [])),
      this.table);
  }

  /** Shows an attempt as a table, and as points and a line in the picture. */
  showAttempt(number) {
    this.attempt = number;
    const attempt = this.core.attempts[number];
    this.chips?.forEach((chip, i) => chip.setAttribute('aria-pressed', String(i === number)));
    if (!attempt) return;
    const { rows } = this.core;
    const name = (i) => said(rows[i].call, rows[i].result, false);
    const row = (first, what, state, attributes = {}) => element('tr', attributes, element('td', { class: 'soft' }, first),
      element('td', {}, code(cut(what, 60))), element('td', {}, state));
    const state = (text) => code(cut(text, 120), { class: 'state' });
    const why = ({ op, expected, returns }) => {
      if (returns) return 'would not wait';
      if (expected.length === 0) return 'would have to wait';
      const allowed = expected.flatMap((answer, i) => [i === 0 ? '' : ' or ', code(cut(answer, 60))]);
      return element('span', {}, rows[op].result == null ? 'cannot have its result; would answer ' : 'would answer ', ...allowed);
    };
    const steps = attempt.steps.map(([i, after], step) => row(String(step + 1), name(i), state(after)));
    const refused = attempt.refused.map((one) => row('✗', name(one.op), why(one), { class: 'refused' }));
    this.table.replaceChildren(element('table', {},
      element('thead', {}, element('tr', {}, element('th', {}, ''), element('th', {}, 'operation'), element('th', {}, 'state after'))),
      element('tbody', {}, row('', 'at first', state(this.core.initial), { class: 'start' }), ...steps, ...refused)));
    this.table.querySelector('.start code').replaceWith('at first');
    this.drawAttempt(attempt);
  }

  drawAttempt(attempt) {
    const { rows } = this.core;
    const moments = [];
    let moment = 0;
    const after = [...attempt.steps.map(([i]) => i), ...attempt.refused.slice(0, 1).map(({ op }) => op)];
    for (const i of after) {
      moment = Math.max(moment, rows[i].from);
      moments.push(moment);
    }
    const places = moments.map((at, i) => {
      const first = moments.indexOf(at);
      const count = moments.lastIndexOf(at) - first + 1;
      return this.at(at + (i - first + 1) / (count + 1));
    });
    const points = places.map((x, i) => [x, this.y(rows[after[i]]) + BAR]);
    const steps = points.slice(0, attempt.steps.length);
    const last = points[attempt.steps.length];
    // The line runs behind the operations, the points stand before them.
    this.through.replaceChildren(
      drawn('polyline', { class: 'through', points: steps.map((point) => point.join(',')).join(' ') }),
      ...(last && steps.length ? [drawn('line', { class: 'through dead', x1: steps.at(-1)[0], y1: steps.at(-1)[1], x2: last[0], y2: last[1] })] : []));
    this.points.replaceChildren(
      ...steps.map(([cx, cy]) => drawn('circle', { class: 'point', cx, cy, r: 5 })),
      ...(last ? [drawn('path', { class: 'dead-end', d: `M${last[0] - 5} ${last[1] - 5} l10 10 m0 -10 l-10 10` })] : []));
  }

  hover(row) {
    if (this.sticky) return;
    const has = (attempt) => attempt.steps.some(([i]) => i === row);
    const found = row == null ? 0 : this.core.attempts.findIndex(has);
    if (found >= 0 && found !== this.attempt) this.showAttempt(found);
  }

  choose(row) {
    this.sticky = false;
    this.hover(row);
    this.sticky = true;
    this.bars.forEach((bar, i) => bar.classList.toggle('chosen', i === row));
    this.actions.select(this.core.rows[row].op);
  }
}
