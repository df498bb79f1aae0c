/** Pass 0: checks each file on its own: its label and record boundaries. */

import { truncateSync } from 'node:fs'
import { type ArchiveLabel, decodeLabel, labelSize } from '../../archive/label.ts'
import { indexEntrySize } from '../../archive/temporal-index.ts'
import { type ByteSource, readBytes } from '../../base/byte-source.ts'
import { PcpError } from '../../model/errors.ts'
import type { PartFile } from '../lib/archive-input.ts'
import { openProblem } from '../lib/open-error.ts'
import type { Check } from './check.ts'

/** Bytes per read: covers many small records, but wastes little on the ends of large ones. */
const WINDOW = 64 * 1024

/** Reads length words anywhere in a file through a moving window. */
class WordReader {
  readonly #source: ByteSource
  readonly size: number
  readonly #bytes = new Uint8Array(WINDOW)
  readonly #view = new DataView(this.#bytes.buffer)
  #from = 0
  #length = 0

  constructor(source: ByteSource) {
    this.#source = source
    this.size = source.size
  }

  /** Returns the signed word at an offset; undefined at the end of the file. */
  at(offset: number): number | undefined {
    if (offset < this.#from || offset + 4 > this.#from + this.#length) {
      this.#from = offset
      this.#length = this.#source.readInto(this.#bytes, offset)
      if (this.#length < 4) return undefined
    }
    return this.#view.getInt32(offset - this.#from)
  }

  /** Returns how many of `wanted` bytes the file has from an offset on. */
  available(offset: number, wanted: number): number {
    return Math.max(0, Math.min(wanted, this.size - offset))
  }
}

const MAGIC = 0x50052600
/** Metadata record types with their names and the first archive version that has them. */
const RECORD_TYPES: { readonly [type: number]: readonly [string, number] } = {
  1: ['DESC', 0],
  2: ['INDOM_V2', 2],
  3: ['LABEL_V2', 2],
  4: ['TEXT', 0],
  5: ['INDOM', 3],
  6: ['INDOM_DELTA', 3],
  7: ['LABEL', 3],
}
const FIRST_TYPE = 1
const LAST_TYPE = 7

/** Result of pass 0 for a file. */
export interface FileReport {
  readonly file: PartFile
  /** Whether damage makes further passes useless. */
  readonly isDamaged: boolean
  /** End of the last good record, if the file can be truncated there. */
  readonly goodEnd: number | undefined
  readonly size: number
}

/** Checks one file. `goodEnd` is undefined if nothing has to be cut, or if the label is damaged. */
export function checkFile(check: Check, file: PartFile): FileReport {
  if (check.wanted.verbose) check.io.stderr.write(`${file.path}: start pass0 ... `)
  let source: ByteSource
  try {
    source = check.files.open(file.path)
  } catch (error) {
    check.say(`${file.path}: cannot open file: ${openProblem(error)}`)
    return { file, isDamaged: true, goodEnd: undefined, size: 0 }
  }
  try {
    return { file, size: source.size, ...new FileCheck(check, file, source).run() }
  } finally {
    source.close()
  }
}

type Verdict = Pick<FileReport, 'isDamaged' | 'goodEnd'>

const DAMAGED: Verdict = { isDamaged: true, goodEnd: undefined }

/** Checks one file. */
class FileCheck {
  readonly #check: Check
  readonly #file: PartFile
  readonly #source: ByteSource
  readonly #words: WordReader
  #hasProblem = false

  constructor(check: Check, file: PartFile, source: ByteSource) {
    this.#check = check
    this.#file = file
    this.#source = source
    this.#words = new WordReader(source)
  }

  run(): Verdict {
    if (this.#words.size === 0) {
      this.#complain(': contains no PCP data')
      return { isDamaged: false, goodEnd: undefined }
    }
    if (!this.#labelFrame()) return DAMAGED
    const { label, isBad } = this.#label()
    const verdict = this.#file.part === 'index' ? this.#entries(label) : this.#records(label)
    return isBad ? DAMAGED : verdict
  }

  /** Reports a problem, ending the line that -v began. */
  #complain(problem: string): void {
    if (!this.#hasProblem && this.#check.wanted.verbose) this.#check.say('')
    this.#hasProblem = true
    this.#check.say(`${this.#file.path}${problem}`)
  }

  /** Checks the label's record framing. */
  #labelFrame(): boolean {
    const words = this.#words
    const length = words.at(0)
    if (length === undefined) {
      this.#complain(`[record 0]: unexpected EOF in record header, wanted 4, got ${words.size} bytes`)
      return false
    }
    const body = length - 8
    if (body < 0) {
      this.#complain(`: illegal header record length (${length}) in label record`)
      return false
    }
    const got = words.available(4, body)
    if (got < body) {
      this.#complain(`: unexpected EOF in label record body, wanted ${body}, got ${got} bytes`)
      return false
    }
    const trailer = words.at(length - 4)
    if (trailer === undefined) {
      const rest = words.available(length - 4, 4)
      this.#complain(`: unexpected EOF in label record trailer, wanted 4, got ${rest} bytes`)
      return false
    }
    if (trailer <= 0) {
      this.#complain(`: illegal trailer record length (${trailer}) in label record`)
      return false
    }
    if (trailer !== length) {
      this.#complain(`: label record length mismatch: header ${length} != trailer ${trailer}`)
      return false
    }
    return true
  }

  /** Reads the label. Without a usable one the version is unknown and the file is bad. */
  #label(): { readonly label: ArchiveLabel | undefined; readonly isBad: boolean } {
    const { path } = this.#file
    const magic = this.#words.at(4) ?? 0
    const version = magic & 0xff
    if ((magic & ~0xff) !== MAGIC) {
      const shown = ((magic & ~0xff) >>> 0).toString(16)
      this.#note(`: bad label magic number: 0x${shown} not 0x${MAGIC.toString(16)} as expected`)
    }
    if (version !== 2 && version !== 3) this.#note(`: bad label version: ${version} not 2 or 3 as expected`)
    try {
      return { label: decodeLabel(readBytes(this.#source, 0, labelSize(3)), path), isBad: false }
    } catch (error) {
      const { text } = PcpError.from(error)
      const isUsable = version === 2 || version === 3
      if (!isUsable) this.#note(`: cannot load label record: ${text}`)
      return { label: undefined, isBad: !isUsable }
    }
  }

  /** Reports a problem with the label, on the line that -v began. */
  #note(problem: string): void {
    this.#check.say(`${this.#file.path}${problem}`)
  }

  #records(label: ArchiveLabel | undefined): Verdict {
    const words = this.#words
    const { size } = words
    let at = words.at(0)!
    let record = 1
    for (; at < size; record++) {
      const problem = this.#frameProblem(at)
      if (problem !== undefined) {
        this.#complain(`[record ${record}]: ${problem}`)
        this.#check.say(`${this.#file.path}: last valid record ends at offset ${at}`)
        return { isDamaged: true, goodEnd: at }
      }
      const length = words.at(at)!
      if (this.#file.part === 'meta' && length >= 12) this.#checkType(record, words.at(at + 4)!, label)
      at += length
    }
    this.#found(record)
    return { isDamaged: false, goodEnd: undefined }
  }

  #frameProblem(at: number): string | undefined {
    const words = this.#words
    const length = words.at(at)
    if (length === undefined)
      return `unexpected EOF in record header, wanted 4, got ${words.available(at, 4)} bytes`
    if (length <= 8) return `illegal header record length (${length})`
    const body = length - 8
    const got = words.available(at + 4, body)
    if (got < body) return `unexpected EOF in record body, wanted ${body}, got ${got} bytes`
    const trailer = words.at(at + length - 4)
    if (trailer === undefined) {
      const rest = words.available(at + length - 4, 4)
      return `unexpected EOF in record trailer, wanted 4, got ${rest} bytes`
    }
    if (trailer <= 0) return `illegal trailer record length (${trailer})`
    if (trailer !== length) return `length mismatch: header ${length} != trailer ${trailer}`
    return undefined
  }

  #checkType(record: number, type: number, label: ArchiveLabel | undefined): void {
    if (label === undefined) return
    const [name, version] = RECORD_TYPES[type] ?? ['?', -1]
    if (type >= FIRST_TYPE && type <= LAST_TYPE && (version === 0 || version === label.version)) return
    this.#complain(
      `[record ${record}]: unexpected record type ${name} (${type}) for V${label.version} archive`,
    )
  }

  #entries(label: ArchiveLabel | undefined): Verdict {
    const { size } = this.#words
    const entry = indexEntrySize(label?.version ?? 2)
    const start = this.#words.at(0)!
    const whole = Math.floor((size - start) / entry)
    const rest = size - start - whole * entry
    if (rest > 0) {
      this.#complain(
        `[record ${whole + 1}]: unexpected EOF in index entry, wanted ${entry}, got ${rest} bytes`,
      )
      return { isDamaged: true, goodEnd: start + whole * entry }
    }
    this.#found(whole + 1)
    return { isDamaged: false, goodEnd: undefined }
  }

  #found(records: number): void {
    if (!this.#check.wanted.verbose || this.#hasProblem) return
    this.#check.say(`found ${records} records`)
  }
}

/** Truncates a file if requested, possible and confirmed. Returns whether it is intact now. */
export async function repairFile(check: Check, { file, goodEnd, size }: FileReport): Promise<boolean> {
  const { wanted, io } = check
  if (wanted.repair === undefined || goodEnd === undefined) return false
  if (file.isCompressed) {
    check.say(`${file.path}: compressed, cannot be repaired`)
    return false
  }
  if (wanted.repair === 'ask' && !(await agrees(check, file.path))) return false
  try {
    truncateSync(file.path, goodEnd)
  } catch (error) {
    check.say(`${io.progname}: ${file.path}: ${(error as Error).message}`)
    return false
  }
  check.say(`Info: ${file.path}: truncated from ${size} to ${goodEnd} bytes`)
  return true
}

async function agrees({ io }: Check, path: string): Promise<boolean> {
  const answers = lines(io.stdin)
  for (;;) {
    io.stdout.write(`${path}: Truncate? [yes|no] `)
    await io.stdout.flush()
    const { value, done } = await answers.next()
    if (done === true || value === 'no') return false
    if (value === 'yes') return true
    io.stdout.write('Please answer the question, yes or no\n')
  }
}

async function* lines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const part of input) {
    const texts = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = texts.pop()!
    for (const text of texts) yield text.trim()
  }
  if (rest !== '') yield rest.trim()
}
