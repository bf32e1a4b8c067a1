// The data of the page: one JSON block, with the long columns packed (see `pack.rs`).

import { visible } from './text.js';

/** The return of an operation that never came. */
export const NEVER = 0xffffffff;

/** The block of data. */
export function readDocument() {
  return JSON.parse(document.getElementById('data').textContent);
}

/** The columns of a history, once they are unpacked. */
export async function unpack(story) {
  const stream = new Blob([bytesOf(story.packed)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const reader = new Reader(new Uint8Array(await new Response(stream).arrayBuffer()));
  const length = reader.number();
  const hasTimes = reader.number() === 1;
  const id = reader.differences(new Uint32Array(length));
  const call = reader.differences(new Uint32Array(length));
  const ret = reader.numbers(new Uint32Array(length));
  for (let i = 0; i < length; i++) ret[i] = ret[i] === 0 ? NEVER : call[i] + ret[i];
  const process = reader.numbers(new Uint32Array(length));
  const method = reader.numbers(new Uint32Array(length));
  const argument = reader.sparse(new Uint32Array(length));
  const result = reader.sparse(new Uint32Array(length));
  const line = reader.differences(new Uint32Array(length));
  const part = reader.differences(new Uint32Array(length));
  let times = null;
  if (hasTimes) {
    const from = reader.differences(new Float64Array(length));
    const to = reader.numbers(new Float64Array(length));
    for (let i = 0; i < length; i++) to[i] += from[i];
    times = { from, to };
  }
  const orders = story.parts.map(() => {
    const steps = reader.number();
    const places = reader.differences(new Uint32Array(steps));
    return { places, states: reader.differences(new Uint32Array(steps)) };
  });
  const texts = new Texts(reader);
  return new Columns(story, { length, id, call, ret, process, method, argument, result, line, part, times, orders, texts });
}

function bytesOf(letters) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(letters);
  const binary = atob(letters);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Reads numbers of variable length. */
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  number() {
    const { bytes } = this;
    let byte = bytes[this.at++];
    let number = byte & 0x7f;
    for (let factor = 0x80; byte >= 0x80; factor *= 0x80) {
      byte = bytes[this.at++];
      number += (byte & 0x7f) * factor;
    }
    return number;
  }

  signed() {
    return unfolded(this.number());
  }

  /** Fills a column with what `told` makes of each number; nearly all are of one byte. */
  fill(column, told) {
    const { bytes } = this;
    let { at } = this;
    for (let i = 0; i < column.length; i++) {
      const byte = bytes[at++];
      let number = byte;
      if (byte >= 0x80) {
        this.at = at - 1;
        number = this.number();
        at = this.at;
      }
      column[i] = told(number);
    }
    this.at = at;
    return column;
  }

  numbers(column) {
    return this.fill(column, (number) => number);
  }

  /** Each is told by how far it is from the one before, or all at once. */
  differences(column) {
    if (this.number() === 1) {
      const [first, step] = [this.signed(), this.signed()];
      for (let i = 0; i < column.length; i++) column[i] = first + i * step;
      return column;
    }
    let before = 0;
    return this.fill(column, (number) => (before += unfolded(number)));
  }

  /** Zeros, and others that are close to the one before that is not zero. */
  sparse(column) {
    let before = 0;
    return this.fill(column, (number) => (number === 0 ? 0 : (before += unfolded(number - 1))));
  }
}

/** A number whose sign stood in the lowest bit. */
function unfolded(word) {
  if (word < 0x80000000) return (word & 1) === 0 ? word >> 1 : -((word + 1) >> 1);
  return word % 2 === 0 ? word / 2 : -(word + 1) / 2;
}

/** Texts by number, read when they are asked for; 0 is none. */
class Texts {
  constructor(reader) {
    const count = reader.number();
    this.starts = new Uint32Array(count + 1);
    for (let i = 0; i < count; i++) this.starts[i + 1] = this.starts[i] + reader.number();
    this.bytes = reader.bytes.subarray(reader.at);
    this.decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  }

  /** How long a text is, without reading it. */
  size(number) {
    return number === 0 ? 0 : this.starts[number] - this.starts[number - 1];
  }

  get(number) {
    if (number === 0) return null;
    return this.decoder.decode(this.bytes.subarray(this.starts[number - 1], this.starts[number]));
  }
}

/** The operations of a history that the page holds, by place. */
class Columns {
  constructor(story, columns) {
    Object.assign(this, columns);
    this.story = story;
  }

  /** `method(argument)`. */
  callText(place) {
    const method = this.story.methods[this.method[place]];
    const argument = this.texts.get(this.argument[place]);
    return visible(this.story.is_bare ? method : `${method}(${argument ?? ''})`);
  }

  /** The result; null where there is none to tell. */
  resultText(place) {
    const result = this.texts.get(this.result[place]);
    return result == null ? null : visible(result);
  }

  /** About how many letters an operation takes. */
  letters(place) {
    return this.story.methods[this.method[place]].length + this.texts.size(this.argument[place]) + this.texts.size(this.result[place]) + 7;
  }

  /** The place of the operation with this number, or -1 if the page does not hold it. */
  placeOf(number) {
    return search(this.id, number);
  }
}

/** Where a sorted column holds a number, or -1. */
export function search(column, number) {
  const at = firstAtLeast(column, number);
  return column[at] === number ? at : -1;
}

/** The first place of a sorted column that is at least so large. */
export function firstAtLeast(column, number, low = 0, high = column.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
