/** Words for mutations: the literals of the functions that inputs have reached. */

const TEXT = /'((?:[^'\\\n]|\\.){1,40})'|"((?:[^"\\\n]|\\.){1,40})"|`((?:[^`\\$]|\\.){1,40})`/g
const NUMBER = /\b(0x[\da-f_]+|\d[\d_]*)n?\b/gi
const REGEXP = /\/((?:[^/\\\n[ ]|\\.|\[(?:[^\]\\\n]|\\.)*\]){2,60})\/[dgimsuvy]*/g
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0' }
/** Mutations try smaller numbers anyway. */
const SMALL = 64

/** Returns the texts and numbers that a source compares with. */
export function literalsOf(source: string): Uint8Array[] {
  const words: Uint8Array[] = []
  const encoder = new TextEncoder()
  for (const match of source.matchAll(TEXT))
    words.push(encoder.encode(plain(match[1] ?? match[2] ?? match[3] ?? '')))
  for (const match of source.matchAll(REGEXP))
    for (const word of match[1]!.matchAll(/[A-Za-z_][\w.-]+/g)) words.push(encoder.encode(word[0]))
  for (const match of source.matchAll(NUMBER)) {
    const value = Number(match[1]!.replaceAll('_', ''))
    if (!Number.isSafeInteger(value) || value < SMALL) continue
    words.push(encoder.encode(String(value)))
    if (value < 2 ** 32) words.push(bigEndian(value, value > 0xffff ? 4 : value > 0xff ? 2 : 1))
    if (value < 2 ** 32) words.push(bigEndian(value, 4), bigEndian(value, 4).reverse())
  }
  return words.filter((word) => word.length > 0)
}

function plain(literal: string): string {
  return literal
    .replace(/\\u\{?([\da-f]+)\}?|\\x([\da-f]{2})/gi, (_, unicode?: string, byte?: string) => {
      const code = Number.parseInt(unicode ?? byte ?? '', 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : ''
    })
    .replace(/\\(.)/g, (_, char: string) => ESCAPES[char] ?? char)
}

function bigEndian(value: number, size: 1 | 2 | 4): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes.slice(4 - size)
}
