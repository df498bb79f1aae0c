import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeText, encodeText } from '../../src/base/text.ts'

test('valid UTF-8 is ordinary text', () => {
  const bytes = Uint8Array.from([0x4d, 0xc3, 0xbc, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80])
  expect(decodeText(bytes)).toBe('Mü€😀')
  expect(encodeText('Mü€😀')).toEqual(bytes)
})

test('a byte that is not UTF-8 becomes one lone surrogate and comes back as that byte', () => {
  const bytes = Uint8Array.from([0x61, 0xff, 0xc3, 0x28, 0x62])
  expect(decodeText(bytes)).toBe('a\udcff\udcc3(b')
  expect(encodeText(decodeText(bytes))).toEqual(bytes)
})

test('a byte order mark is ordinary text', () => {
  const bytes = Uint8Array.from([0xef, 0xbb, 0xbf, 0x61])
  expect(encodeText(decodeText(bytes))).toEqual(bytes)
})

test('any bytes survive decoding and encoding', () => {
  const survives = (bytes: Uint8Array): void => {
    expect(encodeText(decodeText(bytes))).toEqual(new Uint8Array(bytes))
  }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), survives))
})

test('any text survives encoding and decoding', () => {
  const survives = (text: string): void => {
    expect(decodeText(encodeText(text))).toBe(text)
  }
  fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), survives))
})

test('decodes a part of the bytes', () => {
  expect(decodeText(Uint8Array.from([0x61, 0x62, 0x63, 0x64]), 1, 3)).toBe('bc')
})

test('knows the same bytes for UTF-8 as the runtime does', () => {
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const isValid = (bytes: Uint8Array): boolean => {
    try {
      strict.decode(bytes)
      return true
    } catch {
      return false
    }
  }
  const wrong: string[] = []
  for (let lead = 0x80; lead < 0x100; lead++) {
    for (let second = 0x7f; second <= 0xc0; second++) {
      for (const rest of [[], [0x80], [0x80, 0xbf], [0x80, 0xc0], [0x7f]]) {
        const bytes = Uint8Array.of(lead, second, ...rest)
        // A sequence of three or four bytes is decoded to one character that is not an escape.
        const text = decodeText(bytes).replace(/[\ud800-\udbff][\udc00-\udfff]/g, '')
        if (/[\udc80-\udcff]/.test(text) === isValid(bytes)) wrong.push(`${bytes}`)
      }
    }
  }
  expect(wrong).toEqual([])
})

test('a megabyte of invalid text is decoded and encoded quickly', () => {
  const bytes = new Uint8Array(1 << 20).fill(0xe0)
  expect(encodeText(decodeText(bytes)).length).toBe(bytes.length)
})
