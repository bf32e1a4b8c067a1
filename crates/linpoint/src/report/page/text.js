// Text: everything that comes from a history is shown as text, and what cannot be seen is spelled out.

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g;

/** The text with characters that cannot be seen, or that turn the others around, spelled out. */
export function visible(text) {
  return text.replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** What a process is called; a name of several words says by itself what it is. */
export function who(process) {
  return /^\p{L}+ \S/u.test(process) ? visible(process) : `process ${visible(process)}`;
}

/** An element with these attributes and children; strings become text, never markup. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  return filled(made, attributes, children);
}

/** The same for drawings. */
export function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  return filled(made, attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child != null && child !== false));
  return made;
}

/** The element of the page with this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Code: what was called and what came back. */
export function code(text, attributes = {}) {
  return element('code', attributes, visible(text));
}

/** `1,234`. */
export function grouped(number) {
  return number.toLocaleString('en-US');
}

/** `1 operation`, `2 operations`. */
export function counted(number, what) {
  const plural = what.endsWith('s') ? 'es' : 's';
  return `${grouped(number)} ${what}${number === 1 ? '' : plural}`;
}

/** The beginning of a text. */
export function cut(text, longest) {
  const letters = text.length > longest ? Array.from(text) : [];
  return letters.length > longest ? `${letters.slice(0, longest - 1).join('')}…` : text;
}

/** What an operation says: `call → result`; an open one has no result yet. */
export function said(call, result, isOpen) {
  if (isOpen) return `${call} → ?`;
  return result == null ? call : `${call} → ${result}`;
}

/** Signs for verdicts: never the colour alone. */
export const SIGNS = {
  'linearizable': '✓',
  'not linearizable': '✗',
  'undecided': '?',
  'not looked at': '·',
};
