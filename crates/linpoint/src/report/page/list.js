// The list of objects and keys: only the rows that can be seen exist.

import { SIGNS, byId, counted, element, grouped } from './text.js';
import { partName } from './view.js';

const ROW = 30;
const ORDER = ['not linearizable', 'undecided', 'linearizable', 'not looked at'];

/** The list; `choose` is called with the item that was chosen. */
export class PartList {
  constructor(histories, choose) {
    const isSeveral = histories.length > 1;
    this.choose = choose;
    this.items = histories.flatMap((history, s) => history.parts.map((part, p) => {
      const name = isSeveral && history.parts.length === 1 && part.object == null && part.key == null
        ? history.name
        : `${isSeveral ? `${history.name}: ` : ''}${partName(part)}`;
      return { history: s, part: p, name, words: `${name} ${part.violation?.core.sentence ?? ''}`.toLowerCase(),
        verdict: part.verdict, operations: part.operations };
    }));
    const rank = new Map(ORDER.map((verdict, i) => [verdict, i]));
    this.items.sort((a, b) => rank.get(a.verdict) - rank.get(b.verdict));
    this.filter = null;
    this.box = byId('list');
    this.inner = element('div', { class: 'inner' });
    this.box.append(this.inner);
    this.box.addEventListener('scroll', () => this.draw());
    this.box.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => requestAnimationFrame(() => this.draw())).observe(this.box);
    byId('search').addEventListener('input', () => this.refresh());
    this.makeFilters();
    byId('parts').hidden = this.items.length < 2;
    this.shown = this.items;
    this.current = this.items[0];
    this.refresh();
  }

  makeFilters() {
    const counts = new Map();
    for (const item of this.items) counts.set(item.verdict, (counts.get(item.verdict) ?? 0) + 1);
    const verdicts = ORDER.filter((verdict) => counts.has(verdict));
    this.buttons = [null, ...verdicts].map((verdict) => {
      const count = verdict ? counts.get(verdict) : this.items.length;
      const label = verdict ? `${SIGNS[verdict]} ${grouped(count)}` : `all ${grouped(count)}`;
      return element('button', { type: 'button', 'data-verdict': verdict ?? 'all', 'aria-pressed': String(verdict === null),
        title: verdict ?? 'all', 'aria-label': verdict ? counted(count, verdict) : 'all', onclick: () => this.filterBy(verdict) }, label);
    });
    if (verdicts.length > 1) byId('filters').append(...this.buttons);
  }

  filterBy(verdict) {
    this.filter = verdict;
    for (const button of this.buttons) {
      button.setAttribute('aria-pressed', String(button.dataset.verdict === (verdict ?? 'all')));
    }
    this.refresh();
  }

  refresh() {
    const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (item) => (this.filter === null || item.verdict === this.filter)
      && words.every((word) => item.words.includes(word));
    this.shown = this.items.filter(fits);
    this.inner.style.height = `${this.shown.length * ROW}px`;
    byId('list-note').textContent = this.shown.length === this.items.length
      ? ''
      : `${grouped(this.shown.length)} of ${grouped(this.items.length)}`;
    this.draw();
  }

  draw() {
    const first = Math.floor(this.box.scrollTop / ROW);
    const count = Math.ceil(this.box.clientHeight / ROW) + 1;
    const rows = this.shown.slice(first, first + count).map((item, i) => this.row(item, first + i));
    this.inner.replaceChildren(...rows);
  }

  row(item, at) {
    const isCurrent = item === this.current;
    return element('div', { class: 'item', role: 'option', id: `item-${at}`, 'aria-selected': String(isCurrent),
      'data-verdict': item.verdict, style: `top:${at * ROW}px`, title: `${item.name}: ${item.verdict}`,
      onclick: () => this.select(item) },
    element('span', { class: 'sign', 'aria-label': item.verdict }, SIGNS[item.verdict]),
    element('span', { class: 'name' }, item.name),
    element('span', { class: 'soft' }, grouped(item.operations)));
  }

  select(item) {
    if (!item) return;
    this.current = item;
    const at = this.shown.indexOf(item);
    if (at >= 0) {
      const top = at * ROW;
      const low = this.box.scrollTop;
      if (top < low) this.box.scrollTop = top;
      else if (top + ROW > low + this.box.clientHeight) this.box.scrollTop = top + ROW - this.box.clientHeight;
      this.box.setAttribute('aria-activedescendant', `item-${at}`);
    }
    this.draw();
    this.choose(item);
  }

  /** The next or the previous one of those that are shown. */
  move(by) {
    const at = this.shown.indexOf(this.current);
    this.select(this.shown[Math.min(this.shown.length - 1, Math.max(0, at + by))]);
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    event.preventDefault();
    event.stopPropagation();
    const by = steps[event.key];
    if (Number.isFinite(by)) this.move(by);
    else this.select(this.shown[by < 0 ? 0 : this.shown.length - 1]);
  }
}
