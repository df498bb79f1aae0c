/** The files of an archive that is pushed, while it grows or afterwards. docs/formats/archive.md */
import { basename, dirname, join } from 'node:path'
import { decodeLabel, labelSize } from '../archive/label.ts'
import { indexEntrySize } from '../archive/temporal-index.ts'
import { type ArchiveFiles, type ByteSource, readBytes } from '../base/byte-source.ts'
import { PcpError } from '../model/errors.ts'
import { type Part, parsePart } from './label-check.ts'
import { MAX_RECORD, wholeRecords } from './whole-records.ts'

/** Bytes read at a time to find the ends of records. */
const CHUNK = 1 << 20

interface OpenPart {
  readonly source: ByteSource
  /** End of the complete records found so far. */
  end: number
}

/** Reads an archive that one process at most appends to. */
export class SentArchive {
  readonly base: string
  readonly #files: ArchiveFiles
  readonly #parts = new Map<Part, OpenPart>()
  #label: Uint8Array | undefined

  /** `base`: path without suffix. */
  constructor(base: string, files: ArchiveFiles) {
    this.base = base
    this.#files = files
  }

  /** The label of the metadata; undefined while it is not written. Throws PM_ERR_LABEL for a bad one. */
  label(): Uint8Array | undefined {
    if (this.#label !== undefined) return this.#label
    const bytes = this.#read('meta', 0, labelSize(3))
    if (bytes.length < labelSize(2)) return undefined
    const size = labelSize(decodeLabel(bytes, this.base).version)
    this.#label = bytes.slice(0, size)
    return this.#label
  }

  /**
   * Returns the parts in the order in which a receiver needs them, and the end of their complete records: metadata, volumes, index. Sizes are
   * taken in the opposite order, so that nothing refers to missing records.
   */
  ends(): ReadonlyMap<Part, number> {
    const index = this.#end('index')
    const volumes = this.#volumes().map((volume) => [volume, this.#end(volume)] as const)
    return new Map<Part, number>([['meta', this.#end('meta')], ...volumes, ['index', index]])
  }

  /** Reads bytes of a part. */
  read(part: Part, offset: number, length: number): Uint8Array {
    return this.#read(part, offset, length)
  }

  close(): void {
    for (const { source } of this.#parts.values()) source.close()
    this.#parts.clear()
  }

  #volumes(): number[] {
    const prefix = `${basename(this.base)}.`
    const numbers = this.#files.list(dirname(this.base)).flatMap((name) => {
      const part = name.startsWith(prefix) ? partOf(name.slice(prefix.length)) : undefined
      return typeof part === 'number' ? part : []
    })
    return numbers.sort((a, b) => a - b)
  }

  #end(part: Part): number {
    const open = this.#open(part)
    const { source } = open
    const { size } = source
    const label = this.#label!.length
    if (size < label) return 0
    open.end = Math.max(open.end, label)
    if (part === 'index') {
      const entry = indexEntrySize(label === labelSize(2) ? 2 : 3)
      open.end = label + Math.floor((size - label) / entry) * entry
      return open.end
    }
    for (let length = CHUNK; open.end < size; ) {
      const bytes = readBytes(source, open.end, Math.min(length, size - open.end))
      const whole = wholeOf(bytes, this.base, part)
      open.end += whole
      if (whole > 0) length = CHUNK
      else if (length > CHUNK || open.end + bytes.length >= size) break
      else length = MAX_RECORD
    }
    return open.end
  }

  #read(part: Part, offset: number, length: number): Uint8Array {
    return readBytes(this.#open(part).source, offset, length)
  }

  #open(part: Part): OpenPart {
    const known = this.#parts.get(part)
    if (known !== undefined) return known
    const open = { source: this.#files.open(this.#pathOf(part)), end: 0 }
    this.#parts.set(part, open)
    return open
  }

  /** Returns the path of a part, which may be compressed. */
  #pathOf(part: Part): string {
    const name = `${basename(this.base)}.${part}`
    const found = this.#files
      .list(dirname(this.base))
      .find(
        (each) =>
          each === name ||
          (each.startsWith(`${name}.`) && partOf(each.slice(name.length - `${part}`.length)) === part),
      )
    return join(dirname(this.base), found ?? name)
  }
}

/** Returns the part of a file by its suffix, which may end in one of a compression. */
function partOf(suffix: string): Part | undefined {
  return parsePart(suffix.replace(/\.(?:xz|lzma|bz2|bz|gz|Z|z|zst)$/, ''))
}

function wholeOf(bytes: Uint8Array, base: string, part: Part): number {
  try {
    return wholeRecords(bytes)
  } catch (error) {
    throw new PcpError('PM_ERR_LOGREC', `${base}.${part}: ${PcpError.from(error).message}`, { cause: error })
  }
}
