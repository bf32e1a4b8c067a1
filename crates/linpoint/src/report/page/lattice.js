// What still holds of a history that is not linearizable: conditions as a lattice, the stronger ones above.

import { byId, code, counted, drawn, element, visible } from './text.js';

const ROW = 64;
const BOX = 30;
const GAP = 14;
const LETTER = 7.6;

const KINDS = { true: ['holds', '✓'], false: ['fails', '✗'], null: ['open', '?'] };

/** The section of the conditions. `select` chooses an operation by its number. */
export function showLattice(conditions, select) {
  const box = byId('lattice');
  box.hidden = conditions.length === 0;
  if (box.hidden) return;
  const why = element('div', { class: 'note', hidden: true, 'aria-live': 'polite' });
  const holding = conditions.filter((condition) => condition.holds).length;
  const picture = draw(conditions, (condition) => {
    why.hidden = false;
    why.replaceChildren(...reason(condition, select));
  });
  box.replaceChildren(
    element('div', { class: 'bar' }, element('h2', { id: 'lattice-title' }, 'What still holds'),
      element('span', { class: 'soft small' }, `${holding} of ${counted(conditions.length, 'condition')}; what is above implies what it leads to`)),
    element('div', { class: 'picture' }, picture), why);
}

/** How far each condition is below the strongest. */
function layersOf(conditions) {
  const depth = conditions.map(() => 0);
  for (let round = 0; round < conditions.length; round++) {
    conditions.forEach(({ implies }, i) => implies.forEach((weaker) => { depth[weaker] = Math.max(depth[weaker], depth[i] + 1); }));
  }
  const layers = Array.from({ length: Math.max(...depth) + 1 }, () => []);
  depth.forEach((layer, i) => layers[layer].push(i));
  return layers;
}

function draw(conditions, show) {
  const layers = layersOf(conditions);
  const widths = conditions.map(({ name }) => (visible(name).length + 2) * LETTER + 18);
  const widthOf = (layer) => layer.reduce((sum, i) => sum + widths[i] + GAP, -GAP);
  const width = Math.max(...layers.map(widthOf)) + 2 * GAP;
  const height = layers.length * ROW;
  const places = [];
  layers.forEach((layer, row) => {
    let x = (width - widthOf(layer)) / 2;
    for (const i of layer) {
      places[i] = { x, y: row * ROW + 8, middle: x + widths[i] / 2 };
      x += widths[i] + GAP;
    }
  });
  const lines = conditions.flatMap(({ implies }, i) => implies.map((weaker) => drawn('path', {
    class: 'lane', d: `M${places[i].middle} ${places[i].y + BOX} L${places[weaker].middle} ${places[weaker].y}`,
  })));
  const boxes = conditions.map((condition, i) => {
    const [kind, sign] = KINDS[String(condition.holds ?? null)];
    const { x, y, middle } = places[i];
    return drawn('g', {
      class: `condition ${kind}`, tabindex: '0', role: 'button', 'aria-label': `${condition.name}: ${kind}`,
      onclick: () => show(condition),
      onkeydown: (event) => { if (event.key === 'Enter') show(condition); },
    },
    drawn('rect', { class: 'shape', x, y, width: widths[i], height: BOX, rx: 6 }),
    drawn('text', { x: middle, y: y + BOX / 2 + 5, 'text-anchor': 'middle' }, `${sign} ${visible(condition.name)}`));
  });
  return drawn('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Conditions' }, ...lines, ...boxes);
}

function reason(condition, select) {
  const [kind] = KINDS[String(condition.holds ?? null)];
  const head = element('div', {}, code(condition.name), ` ${{ holds: 'holds', fails: 'fails', open: 'is not known' }[kind]}`,
    condition.why ? `: ${visible(condition.why)}` : '');
  const core = condition.core.map((number) => element('button', { type: 'button', onclick: () => select(number) }, `operation ${number}`));
  return core.length > 0 ? [head, element('div', { class: 'tools' }, ...core)] : [head];
}
