/** Help files: bytes as written by PCP's newhelp, and damaged files. */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { encodeHelp, HelpFile } from '../../src/pmda/help-file.ts'

const ENTRIES = [
  { kind: 'indom', id: indom(29, 2), name: '29.2', oneline: 'indom', help: '' },
  { kind: 'metric', id: pmid(29, 0, 11), name: 'b', oneline: '', help: 'two\nlines' },
  { kind: 'metric', id: pmid(29, 0, 10), name: 'sample.long.one', oneline: 'one', help: 'text' },
] as const

/** Output of PCP 6.0.3's newhelp for these entries. */
const DIR = [
  '68506350 00003231 03000000',
  '0a004007 3f000000 43000000',
  '0b004007 21000000 22000000',
  '02004087 0f000000 15000000',
]
const PAG = 'PcPh22\n\n@ 29.2 indom\0\0\n@ 29.0.11 \0two\nlines\0\n@ sample.long.one one\0text\0'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const dirBytes = (): Uint8Array => Buffer.from(DIR.join('').replaceAll(' ', ''), 'hex')

test('writes what newhelp writes', () => {
  const files = encodeHelp(
    ENTRIES.map((entry) => (entry.name === 'b' ? { ...entry, name: '29.0.11' } : entry)),
  )
  expect(Buffer.from(files.pag).toString('latin1')).toBe(PAG)
  expect(hex(files.dir)).toBe(hex(dirBytes()))
})

test('reads both byte orders', () => {
  for (const littleEndian of [true, false]) {
    const help = new HelpFile(encodeHelp(ENTRIES, littleEndian))
    expect(help.records.map(({ id }) => id)).toEqual([pmid(29, 0, 10), pmid(29, 0, 11), indom(29, 2)])
    expect(help.find('metric', pmid(29, 0, 11))).toMatchObject({ oneline: '', help: 'two\nlines' })
    expect(help.find('indom', indom(29, 2))).toMatchObject({ oneline: 'indom', help: '' })
    expect(help.find('metric', indom(29, 2))).toBeUndefined()
  }
})

test('refuses a file with any damaged byte', () => {
  const pag = Buffer.from(PAG, 'latin1')
  for (let length = 0; length < dirBytes().length; length++)
    expect(() => new HelpFile({ dir: dirBytes().subarray(0, length), pag })).toThrow(PcpError)
  for (let length = 0; length < pag.length; length++)
    expect(() => new HelpFile({ dir: dirBytes(), pag: pag.subarray(0, length) })).toThrow(PcpError)
  for (let at = 0; at < dirBytes().length; at++)
    for (const byte of [0, 0x7f, 0xff]) {
      const dir = dirBytes()
      dir[at] = byte
      try {
        new HelpFile({ dir, pag })
      } catch (error) {
        expect(error).toBeInstanceOf(PcpError)
      }
    }
})
