/** Help files of PCP's agents: a table of keys (.dir) and the texts (.pag). docs/formats/help.md §2 */
import { PcpError } from '../model/errors.ts'
import type { HelpEntry } from './help-source.ts'

/** Both files of a help text database. */
export interface HelpFiles {
  readonly dir: Uint8Array
  readonly pag: Uint8Array
}

/** Help texts of one metric or instance domain. */
export interface HelpRecord {
  readonly kind: 'metric' | 'indom'
  readonly id: number
  readonly oneline: string
  readonly help: string
}

const MAGIC = 0x50635068
/** Two characters, '2' and '1', and two zeros. */
const VERSION = 0x31320000
const PAG_HEADER = 'PcPh22\n'
const INDOM_BIT = 0x80000000
const RECORD = 12

/**
 * Encodes entries as help files. Texts hold one byte per character (latin1). The table has the byte order of the machine
 * that writes it: little-endian by default.
 */
export function encodeHelp(entries: readonly HelpEntry[], littleEndian = true): HelpFiles {
  const rows: { readonly key: number; readonly oneline: number; readonly help: number }[] = []
  let pag = PAG_HEADER
  for (const { kind, id, name, oneline, help } of entries) {
    pag += `\n@ ${name} `
    rows.push({
      key: kind === 'indom' ? id + INDOM_BIT : id,
      oneline: pag.length,
      help: pag.length + oneline.length + 1,
    })
    pag += `${oneline}\0${help}\0`
  }
  rows.sort((a, b) => orderOf(a.key) - orderOf(b.key))
  const dir = new Uint8Array(RECORD * (rows.length + 1))
  const view = new DataView(dir.buffer)
  const put = (at: number, words: readonly number[]): void =>
    words.forEach((word, i) => {
      view.setUint32(at + 4 * i, word, littleEndian)
    })
  put(0, [MAGIC, VERSION, rows.length])
  rows.forEach(({ key, oneline, help }, i) => {
    put(RECORD * (i + 1), [key, oneline, help])
  })
  return { dir, pag: Buffer.from(pag, 'latin1') }
}

/** Sort key: metrics before instance domains, each by the identifier without its domain. */
function orderOf(key: number): number {
  return (key >= INDOM_BIT ? INDOM_BIT : 0) + (key & 0x3fffff)
}

/** Texts of a help text database, by key. */
export class HelpFile {
  readonly #records: readonly HelpRecord[]
  readonly #byKey = new Map<number, HelpRecord>()

  /**
   * Decodes both files, of either byte order. PM_ERR_CONV (with the number of the record) if they are not help files of this
   * version or a record points outside the texts.
   */
  constructor({ dir, pag }: HelpFiles) {
    this.#records = decode(dir, pag)
    for (const record of this.#records) {
      const key = keyOf(record.kind, record.id)
      // PCP's library stops at the first match.
      if (!this.#byKey.has(key)) this.#byKey.set(key, record)
    }
  }

  /** All records, in the order of the table. */
  get records(): readonly HelpRecord[] {
    return this.#records
  }

  /** Returns the texts of a metric or instance domain, or undefined. */
  find(kind: 'metric' | 'indom', id: number): HelpRecord | undefined {
    return this.#byKey.get(keyOf(kind, id))
  }
}

function keyOf(kind: 'metric' | 'indom', id: number): number {
  return kind === 'indom' ? id + INDOM_BIT : id
}

function decode(dir: Uint8Array, pag: Uint8Array): readonly HelpRecord[] {
  const view = new DataView(dir.buffer, dir.byteOffset, dir.byteLength)
  const isLittle = dir.length >= RECORD && view.getUint32(0, true) === MAGIC
  const isHelp = dir.length >= RECORD && (isLittle || view.getUint32(0) === MAGIC)
  if (!isHelp || view.getUint32(4, isLittle) !== VERSION)
    throw new PcpError('PM_ERR_CONV', 'Bad format, not version 2 PCP help text')
  const count = view.getUint32(8, isLittle)
  const room = Math.floor(dir.length / RECORD) - 1
  if (count !== room || dir.length % RECORD !== 0)
    throw new PcpError(
      'PM_ERR_CONV',
      `Header has a count of ${count} entries, the file has space for ${room}`,
    )
  const texts = Buffer.from(pag.buffer, pag.byteOffset, pag.byteLength)
  if (texts.toString('latin1', 0, PAG_HEADER.length) !== PAG_HEADER)
    throw new PcpError('PM_ERR_CONV', 'Bad format: the texts (.pag) are not of version 2')
  const records: HelpRecord[] = []
  for (let i = 1; i <= count; i++) {
    const key = view.getUint32(RECORD * i, isLittle)
    const textAt = (field: number): string => {
      const start = view.getUint32(RECORD * i + field, isLittle)
      const end = start < PAG_HEADER.length ? -1 : texts.indexOf(0, start)
      if (end < 0)
        throw new PcpError(
          'PM_ERR_CONV',
          `Entry ${i} of ${count}: no text ends after offset ${start} of .pag`,
        )
      return texts.toString('utf8', start, end)
    }
    const isIndom = key >= INDOM_BIT
    records.push({
      kind: isIndom ? 'indom' : 'metric',
      id: isIndom ? key - INDOM_BIT : key,
      oneline: textAt(4),
      help: textAt(8),
    })
  }
  return records
}
