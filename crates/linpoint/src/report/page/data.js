// The data of the page: one JSON block, with the long columns packed (see `pack.rs`).

import { visible } from './text.js';

/** The return of an operation that never came. */
export const NEVER = 0xffffffff;

/** The block of data. */
export function readDocument() {
  return JSON.parse(document.getElementById('data').textContent);
}

/** The columns of a history, once they are unpacked. */
export async function unpack(history) {
  const stream = new DecompressionStream('deflate-raw');
  const writer = stream.writable.getWriter();
  writer.write(bytesOf(history.packed));
  writer.close();
  const reader = new Reader(new Uint8Array(await new Response(stream.readable).arrayBuffer()));
  const length = reader.number();
  const hasTimes = reader.number() === 1;
  const column = () => new Uint32Array(length);
  // Numbers of operations, and parts, where they do not go without saying.
  const id = history.embedded < history.operations ? reader.differences(column()) : null;
  const call = reader.differences(column());
  const ret = reader.numbers(column());
  for (let i = 0; i < length; i++) ret[i] = ret[i] === 0 ? NEVER : call[i] + ret[i];
  const process = reader.numbers(column());
  const method = reader.numbers(column());
  const argument = reader.sparse(column());
  const result = reader.sparse(column());
  const part = history.parts.length > 1 ? reader.differences(column()) : null;
  let times = null;
  if (hasTimes) {
    const from = reader.differences(new Float64Array(length));
    const to = reader.numbers(new Float64Array(length));
    for (let i = 0; i < length; i++) to[i] += from[i];
    times = { from, to };
  }
  const texts = new Texts(reader);
  return new Columns(history, reader, { length, id, call, ret, process, method, argument, result, part, times, texts });
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
    this.scratch = new Float64Array(0);
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

  /** So many numbers, until more are read. A large page waits for this loop more than for anything else. */
  raw(count) {
    if (this.scratch.length < count) this.scratch = new Float64Array(count);
    const { bytes, scratch } = this;
    let { at } = this;
    for (let i = 0; i < count; i++) {
      let byte = bytes[at++];
      if (byte >= 0x80) {
        const low = byte & 0x7f;
        byte = bytes[at++];
        if (byte >= 0x80) {
          this.at = at - 2;
          scratch[i] = this.number();
          at = this.at;
        } else {
          scratch[i] = low | (byte << 7);
        }
      } else {
        scratch[i] = byte;
      }
    }
    this.at = at;
    return scratch;
  }

  numbers(column) {
    column.set(this.raw(column.length).subarray(0, column.length));
    return column;
  }

  /** Each is told by how far it is from the one before, or all at once. */
  differences(column) {
    if (this.number() === 1) {
      const [first, step] = [this.signed(), this.signed()];
      for (let i = 0; i < column.length; i++) column[i] = first + i * step;
      return column;
    }
    const raw = this.raw(column.length);
    let before = 0;
    for (let i = 0; i < column.length; i++) {
      before += unfolded(raw[i]);
      column[i] = before;
    }
    return column;
  }

  /** Zeros, and others that are close to the one before that is not zero. */
  sparse(column) {
    const raw = this.raw(column.length);
    let before = 0;
    for (let i = 0; i < column.length; i++) {
      if (raw[i] === 0) continue;
      before += unfolded(raw[i] - 1);
      column[i] = before;
    }
    return column;
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
    // How long each is; that can be told without reading it.
    this.sizes = new Uint32Array(count + 1);
    reader.numbers(this.sizes.subarray(1));
    this.starts = new Uint32Array(count + 1);
    for (let i = 1; i <= count; i++) this.starts[i] = this.starts[i - 1] + this.sizes[i];
    this.bytes = reader.bytes.subarray(reader.at, reader.at + this.starts[count]);
    reader.at += this.starts[count];
    this.decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  }

  get(number) {
    if (number === 0) return null;
    return this.decoder.decode(this.bytes.subarray(this.starts[number - 1], this.starts[number]));
  }
}

/** The operations of a history that the page holds, by place. */
class Columns {
  constructor(history, reader, columns) {
    Object.assign(this, columns);
    this.history = history;
    this.reader = reader;
  }

  /** For each part its order, with the states after some steps in a row. They are read when they are asked for. */
  orders() {
    const { reader } = this;
    this.allOrders ??= this.history.parts.map(() => {
      const places = reader.differences(new Uint32Array(reader.number()));
      const firstState = reader.number();
      return { places, firstState, states: reader.differences(new Uint32Array(reader.number())) };
    });
    return this.allOrders;
  }

  /** The line of the input; 0 where unknown. */
  line(place) {
    this.orders();
    this.lines ??= this.reader.differences(new Uint32Array(this.length));
    return this.lines[place];
  }

  /** `method(argument)`. */
  callText(place) {
    const method = this.history.methods[this.method[place]];
    const argument = this.texts.get(this.argument[place]);
    return visible(this.history.is_bare ? method : `${method}(${argument ?? ''})`);
  }

  /** The result; null where there is none to tell. */
  resultText(place) {
    const result = this.texts.get(this.result[place]);
    return result == null ? null : visible(result);
  }

  /** The place of the operation with this number, or -1 if the page does not hold it. */
  placeOf(number) {
    if (this.id) return search(this.id, number);
    return number < this.length ? number : -1;
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
