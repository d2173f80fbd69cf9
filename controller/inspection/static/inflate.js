// Unpacks the compressed calls in an entry of bytes (RFC 1950, RFC 1951), at once: the browser's own
// DecompressionStream takes longer to begin than a hundred bytes take to unpack.
"use strict";

/* exported unpacked */

/**
 * Return what was compressed. Throw if it is damaged, longer than `limit` bytes, or does not end
 * with the bytes.
 * @param {Uint8Array} bytes
 * @param {number} limit
 */
function unpacked(bytes, limit) {
  const LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31];
  LENGTHS.push(35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258);
  const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  const END = 256;
  const MAX_BITS = 15;
  let at = 2;
  let held = 0;
  let heldBits = 0;
  let size = 0;
  let out = new Uint8Array(Math.min(limit, 8 * bytes.length + 64));

  const damaged = () => new Error("compressed bytes are damaged");
  if (bytes.length < 6 || (bytes[0] & 15) !== 8 || bytes[1] & 32) throw damaged();
  if (((bytes[0] << 8) | bytes[1]) % 31 !== 0) throw damaged();
  for (let last = 0; !last;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) copy();
    else if (kind === 1) codes(...fixed());
    else if (kind === 2) codes(...dynamic());
    else throw damaged();
  }
  at -= heldBits >> 3;
  if (
    at + 4 !== bytes.length ||
    checksum() !== new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0)
  ) {
    throw damaged();
  }
  return out.subarray(0, size);

  function bits(count) {
    while (heldBits < count) {
      if (at >= bytes.length) throw damaged();
      held |= bytes[at] << heldBits;
      at += 1;
      heldBits += 8;
    }
    const found = held & ((1 << count) - 1);
    held >>>= count;
    heldBits -= count;
    return found;
  }

  function put(byte) {
    if (size === limit) throw new Error("compressed bytes are too long");
    if (size === out.length) {
      const larger = new Uint8Array(Math.min(limit, 2 * out.length));
      larger.set(out);
      out = larger;
    }
    out[size] = byte;
    size += 1;
  }

  /** A block that is not compressed. */
  function copy() {
    at -= heldBits >> 3;
    held = 0;
    heldBits = 0;
    const length = bits(16);
    if (length !== (bits(16) ^ 0xffff)) throw damaged();
    for (let index = 0; index < length; index += 1) put(bits(8));
  }

  /** A Huffman code from the lengths of its symbols: how many there are of each, and the symbols. */
  function code(lengths) {
    const counts = new Uint16Array(MAX_BITS + 1);
    for (const length of lengths) counts[length] += 1;
    counts[0] = 0;
    const offsets = new Uint16Array(MAX_BITS + 2);
    for (let length = 1; length <= MAX_BITS; length += 1) {
      offsets[length + 1] = offsets[length] + counts[length];
    }
    const symbols = new Uint16Array(lengths.length);
    for (const [each, length] of lengths.entries()) {
      if (length) {
        symbols[offsets[length]] = each;
        offsets[length] += 1;
      }
    }
    return { counts, symbols };
  }

  function symbol({ counts, symbols }) {
    let value = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length <= MAX_BITS; length += 1) {
      value |= bits(1);
      const count = counts[length];
      if (value - first < count) return symbols[index + value - first];
      index += count;
      first = (first + count) << 1;
      value <<= 1;
    }
    throw damaged();
  }

  function fixed() {
    const lengths = Array.from({ length: 288 }, (_, each) =>
      each < 144 ? 8 : each < 256 ? 9 : each < 280 ? 7 : 8,
    );
    return [code(lengths), code(new Array(30).fill(5))];
  }

  function dynamic() {
    const [literals, distances, given] = [bits(5) + 257, bits(5) + 1, bits(4) + 4];
    const sizes = new Array(19).fill(0);
    for (const place of ORDER.slice(0, given)) sizes[place] = bits(3);
    const lengthCode = code(sizes);
    const lengths = [];
    while (lengths.length < literals + distances) {
      const found = symbol(lengthCode);
      if (found < 16) lengths.push(found);
      else {
        if (found === 16 && lengths.length === 0) throw damaged();
        const value = found === 16 ? lengths[lengths.length - 1] : 0;
        const times = found === 16 ? 3 + bits(2) : found === 17 ? 3 + bits(3) : 11 + bits(7);
        for (let count = 0; count < times; count += 1) lengths.push(value);
      }
    }
    if (lengths.length > literals + distances) throw damaged();
    return [code(lengths.slice(0, literals)), code(lengths.slice(literals))];
  }

  /** A compressed block. */
  function codes(literals, distances) {
    for (;;) {
      const found = symbol(literals);
      if (found === END) return;
      if (found < END) put(found);
      else {
        const place = found - END - 1;
        if (place >= LENGTHS.length) throw damaged();
        const extra = place < 8 || place === 28 ? 0 : (place >> 2) - 1;
        const length = LENGTHS[place] + bits(extra);
        const far = symbol(distances);
        if (far > 29) throw damaged();
        const more = far < 4 ? 0 : (far >> 1) - 1;
        const back = (far < 4 ? far + 1 : 1 + ((2 + (far & 1)) << more)) + bits(more);
        if (back > size) throw damaged();
        for (let count = 0; count < length; count += 1) put(out[size - back]);
      }
    }
  }

  /** The Adler-32 of what was unpacked. */
  function checksum() {
    let [low, high] = [1, 0];
    for (let index = 0; index < size; index += 1) {
      low = (low + out[index]) % 65521;
      high = (high + low) % 65521;
    }
    return high * 65536 + low;
  }
}
