// The panel: the operation that is pointed at or chosen, the states around it, and what cannot come next.

import { byId, code, counted, cut, element, grouped, said, visible } from './text.js';

const STEPS = 7;

/** The operation as text. */
export function opText(view, k) {
  return said(view.callText(k), view.resultText(k), view.isOpen(k));
}

/** What is told about an operation. */
export function showOperation(view, k, select) {
  const box = byId('operation');
  if (k < 0) {
    box.replaceChildren(element('p', { class: 'soft small' }, 'Point at an operation, or choose one with the arrow keys.'));
    return;
  }
  const { columns } = view;
  const place = view.ops[k];
  const trace = view.traceWith(k);
  const step = trace.step(k);
  const facts = [['process', view.rows[view.rowOf[k]].name]];
  const events = view.isOpen(k) ? `${grouped(view.from[k])}, never returned` : `${grouped(view.from[k])} to ${grouped(view.to[k])}`;
  facts.push(['events', events]);
  if (columns.times) {
    const { from, to } = columns.times;
    const time = view.isOpen(k) ? grouped(from[place]) : `${grouped(from[place])} to ${grouped(to[place])}`;
    facts.push(['time', `${time} (from the first call on, in the unit of the input)`]);
  }
  const line = columns.line(place);
  if (line > 0) facts.push([columns.history.line_unit, grouped(line)]);
  const mark = view.marks.get(k);
  if (mark) facts.push(['core', mark === 'core' ? '◆ one of those that contradict each other' : '◇ no matter what it answered, and when or whether it took effect, the others contradict each other']);
  if (k === view.last) facts.push(['error', '✗ no order explains the history up to its return']);
  if (step >= 0) {
    const state = (at) => code(cut(trace.stateAfter(at) ?? 'not kept on this page', 2000), { class: 'state' });
    const isOther = trace !== view.trace;
    facts.push(['step', `${grouped(view.part.steps_before + step + 1)}${isOther ? ' of another order than the longest' : ''}`]);
    facts.push(['before', state(step - 1)], ['after', state(step)]);
  } else if (trace.length > 0) {
    facts.push(['step', view.isOpen(k) ? 'took no effect' : 'not in the order']);
  }
  box.replaceChildren(
    element('h3', { class: 'op-text' }, code(opText(view, k))),
    element('dl', {}, ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)])));
  showSteps(view, k, select);
}

/** Steps of the witness, or of the longest explanation that an operation is in, around it. */
export function showSteps(view, selected, select) {
  const box = byId('steps');
  const trace = view.traceWith(selected);
  const step = trace.step(selected);
  const total = trace.length;
  if (total === 0) {
    const why = view.part.undecided ?? (view.part.verdict === 'linearizable' ? 'No witness was asked for.' : '');
    box.replaceChildren(...(why ? [element('p', { class: 'soft small' }, why)] : []));
    return;
  }
  const isBad = view.part.violation != null;
  const middle = step >= 0 ? step : isBad ? total - 1 : 0;
  const first = Math.max(0, Math.min(middle - Math.floor(STEPS / 2), total - STEPS));
  const rows = [];
  for (let at = first; at < Math.min(total, first + STEPS); at++) {
    const k = trace.order[at];
    const state = trace.stateAfter(at);
    rows.push(element('tr', { 'aria-selected': String(at === step), onclick: () => select(k) },
      element('td', { class: 'soft' }, grouped(view.part.steps_before + at + 1)),
      element('td', {}, element('button', { type: 'button', class: 'link' }, code(cut(opText(view, k), 48)))),
      element('td', {}, state == null ? '' : code(cut(state, 80), { class: 'state' }))));
  }
  // Where the longest explanation ends is told beside it.
  for (const { op, expected, returns } of trace.refused) {
    const k = view.opWith(op);
    if (k < 0) continue;
    rows.push(element('tr', { class: 'refused', onclick: () => select(k) }, element('td', {}, '✗'),
      element('td', {}, code(cut(opText(view, k), 48))),
      element('td', {}, returns ? 'would not wait' : expected.length === 0 ? 'would have to wait' : 'would answer ', ...alternatives(expected))));
  }
  const isOther = trace !== view.trace;
  const title = isOther ? 'Longest order with it' : isBad ? 'Longest explanation' : 'Witness';
  const what = isOther
    ? `The longest that was found with this operation, ${counted(total, 'step')}; then nothing can come next.`
    : isBad
      ? `An order of everything before the error, ${counted(total, 'step')}.`
      : `An order that explains every result, ${counted(total, 'step')}.`;
  box.replaceChildren(element('h2', {}, title), element('p', { class: 'soft small' }, what),
    element('table', {}, element('thead', {}, element('tr', {}, element('th', {}, ''), element('th', {}, 'operation'), element('th', {}, 'state after'))),
      element('tbody', {}, ...rows)));
}

/** Answers that would have been right. */
function alternatives(answers) {
  return answers.flatMap((answer, i) => [i ? ' or ' : '', code(cut(answer, 100))]);
}

/** What cannot come next, and why. */
export function showRefused(view, select) {
  const box = byId('refused');
  const refused = view.part.violation?.refused ?? [];
  if (refused.length === 0) {
    box.replaceChildren();
    return;
  }
  const byOp = Map.groupBy(refused, ({ op }) => op);
  const items = [...byOp].map(([op, reasons]) => {
    const k = view.opWith(op);
    const name = k < 0 ? `operation ${op}` : opText(view, k);
    const { recorded, returns } = reasons[0];
    const rows = reasons.map(({ step, state, expected, returns }) => element('tr', {},
      element('td', { class: 'soft' }, step === 0 ? 'at first' : `step ${grouped(step)}`),
      element('td', {}, code(cut(state, 200), { class: 'state' })),
      element('td', {}, ...(returns ? ['to return'] : expected.length === 0 ? ['to wait'] : alternatives(expected)))));
    return element('li', {},
      element('button', { type: 'button', class: 'link', onclick: () => select(k) }, element('span', { class: 'cross', 'aria-label': 'impossible' }, '✗ '), code(cut(name, 80))),
      element('p', { class: 'soft small' }, 'recorded ', returns ? 'as waiting for ever' : recorded === '' ? 'nothing' : code(cut(recorded, 100))),
      element('table', {}, element('thead', {}, element('tr', {}, element('th', {}, 'after'), element('th', {}, 'state'), element('th', {}, 'expected'))),
        element('tbody', {}, ...rows)));
  });
  box.replaceChildren(element('h2', {}, 'Cannot come next'), element('ul', { class: 'plain' }, ...items));
}

/** How the part was decided. */
export function showAbout(view) {
  const { part } = view;
  const facts = [['verdict', part.verdict]];
  if (part.engine) facts.push(['engine', `${part.engine}: ${visible(part.reason)}`]);
  const { violation } = part;
  if (violation?.blocked != null) {
    facts.push(['stuck', 'not linearizable only because the history ends stuck']);
  } else if (violation) {
    facts.push([violation.shortest ? 'shortest bad beginning' : 'bad beginning', counted(violation.prefix_events, 'event')]);
  }
  facts.push(['operations', grouped(part.operations)], ['processes', grouped(view.rows.length)]);
  byId('about').replaceChildren(element('h2', {}, 'About'),
    element('dl', {}, ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)])));
}
