/**
 * Conversion between bytes and text. PCP never validates an encoding, so names and help texts may contain any bytes.
 * Text is UTF-8; an invalid byte is decoded to a lone surrogate U+DC80..U+DCFF and encoded to that byte again, so
 * text that passes through is unchanged.
 */

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

/** Decodes `bytes[start, end)`; never fails. Pure ASCII of up to 64 bytes takes a path without TextDecoder. */
export function decodeText(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  if (end - start <= 64) {
    let text = ''
    let i = start
    for (; i < end; i++) {
      const byte = bytes[i]!
      if (byte >= 0x80) break
      text += String.fromCharCode(byte)
    }
    if (i === end) return text
  }
  const part = bytes.subarray(start, end)
  try {
    return strict.decode(part)
  } catch {
    return decodeLossless(part)
  }
}

/** Writes ASCII text into `bytes` at `at`, which must have room. Returns false if the text has other characters. */
export function writeAscii(text: string, bytes: Uint8Array, at: number): boolean {
  const { read, written } = encoder.encodeInto(text, bytes.subarray(at, at + text.length))
  return read === text.length && written === text.length
}

/** Encodes text as UTF-8, turning escaped bytes (see above) back into themselves. */
export function encodeText(text: string): Uint8Array {
  if (!hasEscapedBytes(text)) return encoder.encode(text)
  const bytes = new Uint8Array(text.length * 3)
  let size = 0
  let start = 0
  const encodeUpTo = (end: number): void => {
    if (start < end) size += encoder.encodeInto(text.slice(start, end), bytes.subarray(size)).written
  }
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i)!
    if (code > 0xffff) i++
    else if (code >= 0xdc80 && code <= 0xdcff) {
      encodeUpTo(i)
      bytes[size++] = code - 0xdc00
      start = i + 1
    }
  }
  encodeUpTo(text.length)
  return bytes.slice(0, size)
}

const SURROGATE = /[\ud800-\udfff]/

function hasEscapedBytes(text: string): boolean {
  if (!SURROGATE.test(text)) return false // most texts need only one quick scan
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0xd800 || unit > 0xdfff) continue
    if (unit >= 0xdc00) return true // a low surrogate without its high half
    i++
  }
  return false
}

function decodeLossless(bytes: Uint8Array): string {
  let text = ''
  let start = 0
  for (let i = 0; i < bytes.length; ) {
    const size = sequenceLength(bytes, i)
    i += size
    if (size > 0) continue
    if (start < i) text += strict.decode(bytes.subarray(start, i))
    text += String.fromCharCode(0xdc00 + bytes[i]!)
    start = ++i
  }
  return text + strict.decode(bytes.subarray(start))
}

/**
 * Returns the length of the valid UTF-8 sequence at `i`, or 0. Not by TextDecoder, which costs an exception for
 * each bad byte: eight seconds for a megabyte of them.
 */
function sequenceLength(bytes: Uint8Array, i: number): number {
  const lead = bytes[i]!
  const size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
  if (size < 2) return size
  if (i + size > bytes.length) return 0
  // No overlong form, no surrogates, nothing beyond U+10FFFF.
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  const second = bytes[i + 1]!
  if (second < low || second > high) return 0
  for (let k = i + 2; k < i + size; k++) if ((bytes[k]! & 0xc0) !== 0x80) return 0
  return size
}
