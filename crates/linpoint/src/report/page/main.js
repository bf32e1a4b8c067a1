// Puts the page together.

import { SIGNS, byId, code, counted, cut, element, grouped, visible, who } from './text.js';
import { readDocument, unpack } from './data.js';
import { PartView, partName } from './view.js';
import { PartList } from './list.js';
import { CorePicture } from './core.js';
import { showLattice } from './lattice.js';
import { Timeline } from './timeline.js';
import { opText, showAbout, showOperation, showRefused, showSteps } from './panel.js';

const KEYS = [
  ['c', 'the core'],
  ['h', 'the core in the whole history'],
  ['e', 'the first error'],
  ['← →', 'the previous, the next operation of the process'],
  ['↑ ↓', 'the operation in the row above, below'],
  ['n p', 'the next, the previous step of the order'],
  ['+ −', 'zoom in, out'],
  ['0', 'the whole history'],
  ['Shift ← →', 'to the left, to the right'],
  ['t', 'real times, or the order of events'],
  ['l', 'points and line, or none'],
  ['/', 'search objects and keys'],
  ['[ ]', 'the previous, the next object or key'],
  ['Esc', 'choose nothing'],
  ['?', 'this help'],
];
const MOUSE = 'With a mouse: drag to move, Ctrl and wheel or a pinch to zoom, double click to zoom in, click to choose.';

class ReportPage {
  constructor(report) {
    this.report = report;
    this.columns = new Map();
    this.timeline = new Timeline({
      select: (k) => this.select(k, false),
      point: (k, x, y) => this.point(k, x, y),
    });
    this.showVerdict();
    this.makeHelp();
    this.makeTools();
    addEventListener('keydown', (event) => this.key(event));
    this.list = new PartList(report.histories, (item) => this.show(item));
    if (this.list.items.length > 0) this.show(this.list.items[0]);
    else document.body.dataset.ready = 'empty';
  }

  // The verdict, in one sentence.

  showVerdict() {
    const { histories } = this.report;
    const parts = histories.flatMap((history) => history.parts);
    const count = (verdict) => parts.filter((part) => part.verdict === verdict).length;
    const bad = count('not linearizable');
    const open = count('undecided');
    const verdict = bad > 0 ? 'not linearizable' : open > 0 ? 'undecided' : 'linearizable';
    const what = histories.length > 1 ? 'parts' : parts.some((part) => part.key != null) ? 'keys' : 'objects';
    let sentence;
    if (bad === 1) {
      const part = parts.find((one) => one.violation);
      const { operations } = part.violation.core;
      const where = parts.length > 1 ? ` on ${partName(part)} (one of ${grouped(parts.length)} ${what})` : '';
      const all = `${counted(part.operations, 'operation')}${where}`;
      sentence = operations === 1
        ? `Not linearizable: one of ${all} is impossible.`
        : `Not linearizable: ${grouped(operations)} of ${all} contradict each other.`;
    } else if (bad > 1) {
      sentence = `Not linearizable: ${grouped(bad)} of ${grouped(parts.length)} ${what} contradict themselves.`;
    } else if (open === 1 && parts.length === 1) {
      sentence = `Undecided: ${parts[0].undecided}.`;
    } else if (open > 0) {
      sentence = `Undecided: a limit came first for ${grouped(open)} of ${grouped(parts.length)} ${what}.`;
    } else if (parts.length === 0) {
      sentence = 'Linearizable: nothing happened.';
    } else {
      sentence = parts.length === 1
        ? `Linearizable: some order explains all ${counted(parts[0].operations, 'operation')}.`
        : `Linearizable: an order was found for each of ${grouped(parts.length)} ${what}.`;
    }
    if (histories.length === 1 && histories[0].headline) sentence = `${visible(histories[0].headline)}.`;
    byId('verdict').textContent = cut(sentence, 400);
    byId('mark').textContent = SIGNS[verdict];
    document.body.dataset.verdict = verdict;
    const first = histories[0];
    const facts = histories.length === 1
      ? [first.name, first.object_type, counted(first.operations, 'operation'), counted(first.processes.length, 'process')]
      : [`${grouped(histories.length)} histories`, counted(histories.reduce((sum, history) => sum + history.operations, 0), 'operation')];
    byId('facts').textContent = facts.filter(Boolean).map(visible).join(' · ');
    document.title = `${SIGNS[verdict]} ${histories.length === 1 ? visible(first.name) : 'linpoint'}`;
  }

  // One part.

  async show(item) {
    this.item = item;
    const history = this.report.histories[item.history];
    const part = history.parts[item.part];
    byId('core').hidden = true;
    this.core = null;
    if (part.violation) {
      this.core = new CorePicture(part.violation.core, {
        select: (number) => this.selectNumber(number),
        showInHistory: () => this.showCore(),
      });
    }
    this.showExecution(history);
    showLattice(history.lattice ?? [], (number) => this.selectNumber(number));
    document.body.dataset.ready = 'core';
    if (!this.columns.has(item.history)) this.columns.set(item.history, unpack(history));
    const columns = await this.columns.get(item.history);
    if (this.item !== item) return;
    this.view = new PartView(columns, item.part);
    this.timeline.show(this.view);
    showOperation(this.view, -1);
    showRefused(this.view, (k) => this.select(k));
    showAbout(this.view);
    this.showNotes(history, part);
    document.body.dataset.part = item.name;
    // What takes longest comes when all the rest is there.
    await new Promise(requestAnimationFrame);
    await new Promise(setTimeout);
    if (this.item !== item) return;
    this.view.layOrders();
    this.timeline.redraw();
    byId('line').hidden = this.view.trace.length === 0;
    showSteps(this.view, this.timeline.selected, (k) => this.select(k));
    document.body.dataset.ready = 'history';
  }

  showNotes(history, part) {
    const isSeveral = this.list.items.length > 1;
    byId('history-note').textContent = `${isSeveral ? `${cut(this.item.name, 60)}, ` : ''}${counted(this.view.length, 'operation')}`;
    const isCut = this.view.length < part.operations;
    byId('cut-note').hidden = !isCut;
    byId('cut-note').textContent = `This page holds ${grouped(this.view.length)} of the ${counted(part.operations, 'operation')}${part.violation ? ', those around the core' : ''}; see --html-limit.`;
    byId('to-error').hidden = this.view.firstError == null;
    byId('to-core').hidden = this.core == null;
    byId('scale').hidden = this.view.times == null;
    const kinds = [['plain', 'operation, from call to return'], ['open', 'open: never returned']];
    if (part.verdict !== 'undecided') kinds.push(['dot', part.violation ? 'a moment at which it could take effect' : 'the moment at which it takes effect']);
    if (this.core) kinds.push(['core', '◆ core'], ['relaxed', '◇ no matter what it did']);
    byId('legend').replaceChildren(...kinds.map(([kind, text]) => element('li', {}, element('span', { class: `key ${kind}` }), text)));
  }

  /** How the history came about, move by move. */
  showExecution(history) {
    const box = byId('execution');
    const [moves, notes] = [history.execution ?? [], history.notes ?? []];
    box.hidden = moves.length === 0 && notes.length === 0;
    if (box.hidden) return;
    const processes = [...new Set(moves.map((move) => move.process))].sort(new Intl.Collator('en', { numeric: true }).compare);
    const hasMemory = moves.some((move) => move.memory);
    const head = element('tr', {}, element('th', {}, ''), ...processes.map((process) => element('th', {}, who(process))),
      hasMemory ? element('th', {}, 'memory after') : '');
    const rows = moves.map((move, i) => element('tr', {}, element('td', { class: 'soft' }, String(i + 1)),
      ...processes.map((process) => element('td', {}, process === move.process ? code(move.text) : '')),
      hasMemory ? element('td', {}, code(move.memory ?? '', { class: 'state' })) : ''));
    box.replaceChildren(element('div', { class: 'bar' }, element('h2', { id: 'execution-title' }, 'Execution'),
      element('span', { class: 'soft small' }, hasMemory ? `${counted(moves.length, 'move')} of the algorithm, and the shared memory after each` : `${counted(moves.length, 'step')} of the threads`)),
    element('div', { class: 'scroll' }, element('table', { class: 'moves' }, element('thead', {}, head), element('tbody', {}, ...rows))),
    element('ul', { class: 'plain' }, ...notes.map((note) => element('li', {}, code(cut(note, 1000))))));
  }

  // Choosing and pointing.

  select(k, isMoving = true) {
    if (!this.view) return;
    this.timeline.select(k, isMoving);
    showOperation(this.view, k, (other) => this.select(other));
    document.body.dataset.selected = k < 0 ? '' : opText(this.view, k);
  }

  selectNumber(number) {
    if (this.view) this.select(this.view.opWith(number));
  }

  point(k, x, y) {
    const tip = byId('tip');
    tip.hidden = k < 0;
    if (k < 0) return;
    const { view } = this;
    const trace = view.traceWith(k);
    const step = trace.step(k);
    const state = step < 0 ? null : trace.stateAfter(step);
    const lines = [element('div', {}, code(cut(opText(view, k), 200)))];
    if (state != null) lines.push(element('div', { class: 'soft' }, `step ${grouped(view.part.steps_before + step + 1)}, then `, code(cut(state, 120), { class: 'state' })));
    tip.replaceChildren(...lines);
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 8))}px`;
    tip.style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18}px`;
  }

  showCore() {
    const { view } = this;
    if (!view || view.marks.size === 0) return;
    const ops = [...view.marks.keys()];
    const from = Math.min(...ops.map((k) => view.from[k]));
    const ends = ops.map((k) => (view.isOpen(k) || view.marks.get(k) === 'relaxed' ? view.from[k] : view.to[k]));
    this.timeline.lookAt(from, Math.max(...ends));
    this.select(ops.find((k) => view.marks.get(k) === 'core') ?? ops[0], false);
    byId('history').scrollIntoView({ block: 'start' });
    this.timeline.canvas.focus({ preventScroll: true });
  }

  showError() {
    const { view } = this;
    if (view?.firstError == null) return;
    this.timeline.center(view.firstError, this.timeline.readable());
    this.select(view.last);
    byId('history').scrollIntoView({ block: 'nearest' });
    this.timeline.canvas.focus({ preventScroll: true });
  }

  step(by) {
    const { view } = this;
    if (!view || view.trace.length === 0) return;
    const trace = view.traceWith(this.timeline.selected);
    const at = trace.step(this.timeline.selected);
    const next = at < 0 ? (by > 0 ? 0 : trace.length - 1) : Math.min(trace.length - 1, Math.max(0, at + by));
    this.select(trace.order[next]);
  }

  // Tools and keys.

  makeTools() {
    const toggle = (id, set) => byId(id).addEventListener('click', () => {
      const isOn = byId(id).getAttribute('aria-pressed') !== 'true';
      byId(id).setAttribute('aria-pressed', String(isOn));
      set(isOn);
    });
    toggle('scale', (isOn) => this.timeline.setTimed(isOn));
    toggle('line', (isOn) => {
      this.timeline.hasLine = isOn;
      this.timeline.redraw();
    });
    const on = (id, act) => byId(id).addEventListener('click', act);
    on('to-error', () => this.showError());
    on('to-core', () => this.showCore());
    on('zoom-in', () => this.timeline.zoom(1.6));
    on('zoom-out', () => this.timeline.zoom(1 / 1.6));
    on('fit', () => this.timeline.fit());
    on('help-button', () => byId('help').showModal());
  }

  makeHelp() {
    const rows = KEYS.map(([keys, what]) => element('tr', {}, element('td', {}, ...keys.split(' ').map((key) => element('kbd', {}, key))), element('td', {}, what)));
    byId('help').append(element('h2', { id: 'help-title' }, 'Keyboard'), element('table', {}, element('tbody', {}, ...rows)),
      element('p', { class: 'soft small' }, MOUSE),
      element('form', { method: 'dialog' }, element('button', { autofocus: true }, 'Close')));
  }

  key(event) {
    const isTyping = event.target.matches?.('input, textarea, select');
    if (isTyping && event.key === 'Escape') event.target.blur();
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || byId('help').open || !this.view) return;
    const { timeline } = this;
    const arrow = (across, down) => {
      if (event.shiftKey && across !== 0) timeline.pan(across * 0.25);
      else this.select(timeline.neighbour(across, down));
    };
    const acts = {
      'c': () => { byId('core').scrollIntoView({ block: 'start' }); byId('core').querySelector('.op')?.focus(); },
      'h': () => this.showCore(),
      'e': () => this.showError(),
      'ArrowLeft': () => arrow(-1, 0),
      'ArrowRight': () => arrow(1, 0),
      'ArrowUp': () => arrow(0, -1),
      'ArrowDown': () => arrow(0, 1),
      'n': () => this.step(1),
      'p': () => this.step(-1),
      '+': () => timeline.zoom(1.6),
      '=': () => timeline.zoom(1.6),
      '-': () => timeline.zoom(1 / 1.6),
      '0': () => timeline.fit(),
      't': () => { if (this.view.times) byId('scale').click(); },
      'l': () => byId('line').click(),
      '/': () => byId('search').focus(),
      '[': () => this.list.move(-1),
      ']': () => this.list.move(1),
      'Escape': () => this.select(-1),
      '?': () => byId('help').showModal(),
    };
    const act = acts[event.key];
    // Up and down scroll the page, unless the timeline has the focus or an operation is selected.
    const isElsewhere = document.activeElement !== timeline.canvas && timeline.selected < 0;
    if (!act || (isElsewhere && /^Arrow(Up|Down)$/.test(event.key))) return;
    event.preventDefault();
    act();
  }
}

new ReportPage(readDocument());
