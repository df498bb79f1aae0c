import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ascii, Scanner } from '../../src/base/scan.ts'

const scan = (text: string): Scanner => new Scanner(new TextEncoder().encode(text))

describe('numbers', () => {
  test('uint reads digits, skips blanks and tabs before them, stops at anything else', () => {
    const s = scan(' \t12:34 x')
    expect(s.uint()).toBe(12)
    expect(s.peek()).toBe(0x3a)
    expect(s.uint()).toBeNaN()
    expect(s.accept(':')).toBe(true)
    expect(s.uint()).toBe(34)
    expect(s.uint()).toBeNaN()
    expect(s.word()).toBe('x')
  })

  test('uint does not pass the end of the line', () => {
    expect(scan('\n7').uint()).toBeNaN()
    expect(scan('').uint()).toBeNaN()
  })

  test('int takes a sign only directly before digits', () => {
    expect(scan('-5').int()).toBe(-5)
    expect(scan('5').int()).toBe(5)
    expect(Object.is(scan('-0').int(), 0)).toBe(true)
    for (const text of ['-', '- 5', '--5', '']) {
      const s = scan(text)
      expect(s.int()).toBeNaN()
      expect(s.pos).toBe(0)
    }
  })

  test('uintExact gives a bigint where a double is not exact', () => {
    expect(scan('9007199254740991').uintExact()).toBe(9007199254740991)
    expect(scan('9007199254740993').uintExact()).toBe(9007199254740993n)
    expect(scan(' 18446744073709551615 ').uintExact()).toBe(18446744073709551615n)
    expect(scan('x').uintExact()).toBeNaN()
  })

  test('hex takes upper and lower case, with and without 0x', () => {
    const s = scan('0000fFe 0x10 0x 0xg')
    expect(s.hex()).toBe(0xffe)
    expect(s.hex()).toBe(16)
    expect(s.hex()).toBe(0)
    expect(s.word()).toBe('x')
    expect(s.hex()).toBe(0)
    expect(scan('ghi').hex()).toBeNaN()
  })

  test('decimal reads fractions and a sign', () => {
    const s = scan('0.25 -1.50 3. .5 7 - . x')
    expect([s.decimal(), s.decimal(), s.decimal(), s.decimal(), s.decimal()]).toEqual([0.25, -1.5, 3, 0.5, 7])
    expect(s.decimal()).toBeNaN()
    expect(s.word()).toBe('-')
    expect(s.decimal()).toBeNaN()
    expect(s.word()).toBe('.')
  })

  test('any safe integer is read back as it was printed', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (n) => {
        expect(scan(`${n}\n`).int()).toBe(n === 0 ? 0 : n)
        expect(scan(Math.abs(n).toString(16)).hex()).toBe(Math.abs(n))
      }),
    )
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (n) => {
        expect(BigInt(scan(`${n}`).uintExact())).toBe(n)
      }),
    )
  })

  test('decimals with few digits are exact', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), (n) => {
        const text = (n / 100).toFixed(2)
        expect(scan(text).decimal()).toBe(Number(text))
      }),
    )
  })
})

describe('lines and words', () => {
  test('walks words and lines', () => {
    const s = scan('cpu  1 2\ncpu0 3 4\n\nintr 5')
    expect(s.accept('cpu0')).toBe(false)
    expect(s.accept('cpu ')).toBe(true)
    s.skipWords(1)
    expect(s.uint()).toBe(2)
    expect(s.atLineEnd).toBe(true)
    expect(s.nextLine()).toBe(true)
    expect(s.word()).toBe('cpu0')
    expect(s.rest()).toBe(' 3 4')
    expect(s.nextLine()).toBe(true)
    expect(s.word()).toBe('')
    expect(s.nextLine()).toBe(true)
    s.skipWords(9)
    expect(s.atEnd).toBe(true)
    expect(s.nextLine()).toBe(false)
    expect(s.peek()).toBe(-1)
  })

  test('an expected word or rest is returned itself, any other is read', () => {
    const s = scan('eth0 eth01 eth0\teth eth0 up\nlast')
    for (const word of ['eth0', 'eth01', 'eth0', 'eth']) expect(s.word('eth0')).toBe(word)
    expect(s.rest(' eth0')).toBe(' eth0 up')
    s.nextLine()
    expect([s.word('last'), s.word('last'), s.atEnd]).toEqual(['last', '', true])
    expect(scan('a b\nc').rest('a b')).toBe('a b')
  })

  test('until stops at its character or at the end of the line', () => {
    const s = scan('eth0:1 2\nlo')
    expect(s.until(':')).toBe('eth0')
    expect(s.uint()).toBe(1)
    expect(s.until(':')).toBe(' 2')
    s.nextLine()
    expect(s.until(':')).toBe('lo')
    expect(s.atEnd).toBe(true)
  })

  test('a limit hides everything after it', () => {
    const bytes = new TextEncoder().encode('12 34\n56')
    const s = new Scanner(bytes, 4)
    expect(s.uint()).toBe(12)
    expect(s.uint()).toBe(3)
    expect(s.nextLine()).toBe(false)
    s.reset(bytes, 5)
    expect(s.rest()).toBe('12 34')
    expect(s.accept('\n5')).toBe(false)
  })

  test('Latin-1 text keeps every byte', () => {
    expect(ascii(Uint8Array.of(0x41, 0xe9, 0xff), 1)).toBe('éÿ')
  })

  test('words are what a split at white space gives', () => {
    const chars = fc.constantFrom('a', '1', ' ', '\t', '\n', ':')
    fc.assert(
      fc.property(fc.string({ unit: chars }), (text) => {
        const s = scan(text)
        const words: string[] = []
        do {
          for (let word = s.word(); word !== ''; word = s.word()) words.push(word)
        } while (s.nextLine())
        expect(words).toEqual(text.split(/\s+/).filter((word) => word !== ''))
      }),
    )
  })
})
