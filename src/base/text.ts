/**
 * Bytes and text. PCP never validates an encoding, so names and help texts may hold any bytes.
 * Text is UTF-8; a byte that is not valid UTF-8 becomes one lone surrogate U+DC80..U+DCFF and turns back
 * into that byte when encoded, so what passes through us comes out unchanged.
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

/** Encodes text as UTF-8, turning escaped bytes (see above) back into themselves. */
export function encodeText(text: string): Uint8Array {
  if (!hasEscapedBytes(text)) return encoder.encode(text)
  const parts: number[] = []
  for (let i = 0; i < text.length; ) {
    const code = text.codePointAt(i)!
    if (code >= 0xdc80 && code <= 0xdcff) {
      parts.push(code - 0xdc00)
      i += 1
    } else {
      const char = String.fromCodePoint(code)
      parts.push(...encoder.encode(char))
      i += char.length
    }
  }
  return Uint8Array.from(parts)
}

const SURROGATE = /[\ud800-\udfff]/

function hasEscapedBytes(text: string): boolean {
  if (!SURROGATE.test(text)) return false // most texts: one quick scan
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
  for (let i = 0; i < bytes.length; ) {
    const size = sequenceLength(bytes, i)
    if (size === 0) {
      text += String.fromCharCode(0xdc00 + bytes[i]!)
      i += 1
    } else {
      text += strict.decode(bytes.subarray(i, i + size))
      i += size
    }
  }
  return text
}

/** Length of the valid UTF-8 sequence at `i`, or 0 when there is none. */
function sequenceLength(bytes: Uint8Array, i: number): number {
  const lead = bytes[i]!
  const size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
  if (size === 0 || i + size > bytes.length) return 0
  try {
    strict.decode(bytes.subarray(i, i + size))
    return size
  } catch {
    return 0
  }
}
