/**
 * The files of one pushed archive. Readers see complete records only, and no index entry before what it refers to; the rest is held back:
 *
 *     HOST/NAME.meta, .index, .0    complete records
 *     .push/ID.json                 what the archive is (received-archive.ts)
 *     .push/ID.held-meta            8 bytes: size of NAME.meta when this was written; then the bytes that follow there
 *
 * Content is synced before it counts. docs/decisions/push.md
 */
import { constants } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { labelSize } from '../archive/label.ts'
import type { ArchiveVersion } from '../archive/stamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Disk } from '../sys/disk.ts'
import { labelOfPart, type Part, parsePart } from './label-check.ts'
import { coveredEntries, MAX_RECORD, soundEntries, soundRecords, wholeRecords } from './whole-records.ts'

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR, O_WRONLY } = constants
const HELD_HEAD = 8
/** Bytes read at a time when files are checked. */
const CHUNK = 4 << 20

/** Where files are. */
export interface ReceivedFilesOptions {
  readonly disk: Disk
  /** Path without suffix: DIRECTORY/HOST/NAME. */
  readonly base: string
  /** Path of held bytes without suffix. */
  readonly heldBase: string
  readonly label: Uint8Array
  readonly version: ArchiveVersion
  readonly mode: number
  /** The sender repeats removed bytes, so that content may be checked more strictly than it is certain. */
  readonly canResend: boolean
}

/** One file. */
interface PartFile {
  /** Bytes in the file. */
  written: number
  /** Bytes that follow, which readers do not see. */
  held: Uint8Array
}

const NONE = new Uint8Array(0)

/** Reads and appends to the files. Calls must not overlap. */
export class ReceivedFiles {
  readonly #place: ReceivedFilesOptions
  readonly #parts = new Map<Part, PartFile>()

  private constructor(place: ReceivedFilesOptions) {
    this.#place = place
  }

  /** Opens the files after any interruption: creates missing ones and cuts off incomplete records. */
  static async open(place: ReceivedFilesOptions): Promise<ReceivedFiles> {
    const files = new ReceivedFiles(place)
    const { disk, base } = place
    const prefix = `${basename(base)}.`
    const volumes = disk
      .list(dirname(base))
      .flatMap((name) => (name.startsWith(prefix) ? (parsePart(name.slice(prefix.length)) ?? []) : []))
      .filter((part) => typeof part === 'number')
      .sort((a, b) => a - b)
    for (const part of ['meta', ...volumes, 'index'] as const) await files.#recover(part)
    await syncDirectory(disk, dirname(base))
    return files
  }

  /** Bytes received for each file, labels included. */
  get sizes(): Readonly<Record<string, number>> {
    const entries = [...this.#parts.keys()].map((part) => [String(part), this.sizeOf(part)])
    return Object.fromEntries(entries) as Record<string, number>
  }

  /** Bytes received for a file; 0 for a volume that does not exist. */
  sizeOf(part: Part): number {
    const file = this.#parts.get(part)
    return file === undefined ? 0 : file.written + file.held.length
  }

  /** The volume with the highest number. */
  get lastVolume(): number | undefined {
    let last: number | undefined
    for (const part of this.#parts.keys())
      if (typeof part === 'number' && (last === undefined || part > last)) last = part
    return last
  }

  /** Checks that bytes that are received again, from an offset on, are those received before. */
  isSame(part: Part, offset: number, bytes: Uint8Array): boolean {
    const { written, held } = this.#parts.get(part) ?? { written: 0, held: NONE }
    const inFile = Math.max(0, Math.min(bytes.length, written - offset))
    const known = inFile === 0 ? NONE : this.#read(part, offset, inFile)
    const behind = held.subarray(Math.max(0, offset - written), offset + bytes.length - written)
    return Buffer.compare(Buffer.concat([known, behind]), bytes) === 0
  }

  /**
   * Appends to a file; resolves when the bytes are on stable storage. PM_ERR_LOGREC for invalid records, EINVAL for
   * an earlier volume, and errors of the disk; nothing is kept then.
   */
  async append(part: Part, bytes: Uint8Array): Promise<void> {
    const last = this.lastVolume ?? 0
    if (typeof part === 'number' && part < last) throw endedVolume(part, last)
    const known = this.#parts.get(part)
    const all = known === undefined || known.held.length === 0 ? bytes : Buffer.concat([known.held, bytes])
    const whole = part === 'index' ? this.#covered(all) : wholeRecords(all)
    if (all.length - whole > MAX_RECORD)
      throw new PcpError('E2BIG', `More than ${MAX_RECORD} bytes wait for the end of a record`)
    const file = known ?? (await this.begin(part))
    await this.#write(part, file, all.subarray(0, whole))
    file.held = NONE
    const rest = all.slice(whole)
    if (rest.length > 0) await this.#hold(part, file, rest)
    if (part !== 'index') await this.#release()
  }

  /** Begins a volume. EINVAL for an earlier one. */
  async begin(volume: Part): Promise<PartFile> {
    const last = this.lastVolume
    if (typeof volume === 'number' && last !== undefined && volume < last) throw endedVolume(volume, last)
    // The end of the previous volume is not going to be received.
    if (last !== undefined) {
      const before = this.#parts.get(last)!
      await this.#writeHeld(last, before, before.held.length)
    }
    const file = await this.#create(volume)
    await syncDirectory(this.#place.disk, dirname(this.#place.base))
    return file
  }

  /** Writes all held bytes: the sender has nothing more. */
  async finish(): Promise<void> {
    for (const [part, file] of this.#parts) await this.#writeHeld(part, file, file.held.length)
    for (const part of this.#parts.keys()) this.#removeHeld(part)
  }

  #covered(bytes: Uint8Array): number {
    const volume = this.lastVolume
    return coveredEntries(bytes, this.#place.version, {
      metaBytes: this.#parts.get('meta')!.written,
      volume,
      volumeBytes: volume === undefined ? 0 : this.#parts.get(volume)!.written,
    })
  }

  /** Writes index entries that waited for what they refer to. They stay durable as held bytes, so a failure loses nothing. */
  async #release(): Promise<void> {
    const file = this.#parts.get('index')!
    const whole = this.#covered(file.held)
    if (whole > 0) await this.#writeHeld('index', file, whole).catch(() => undefined)
  }

  async #writeHeld(part: Part, file: PartFile, bytes: number): Promise<void> {
    if (bytes === 0) return
    await this.#write(part, file, file.held.subarray(0, bytes))
    file.held = file.held.slice(bytes)
  }

  async #write(part: Part, file: PartFile, bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return
    const { disk } = this.#place
    const fd = disk.open(this.#path(part), O_WRONLY | O_APPEND | O_NOFOLLOW)
    try {
      try {
        writeAll(disk, fd, bytes)
        await (disk.syncAsync?.(fd) ?? disk.sync(fd))
      } catch (error) {
        disk.truncate(fd, file.written)
        throw error
      }
    } finally {
      disk.close(fd)
    }
    file.written += bytes.length
  }

  async #hold(part: Part, file: PartFile, bytes: Uint8Array): Promise<void> {
    const { disk } = this.#place
    const head = Buffer.alloc(HELD_HEAD)
    head.writeBigUInt64BE(BigInt(file.written))
    await replaceDurably(disk, this.#heldPath(part), Buffer.concat([head, bytes]))
    file.held = bytes
  }

  #removeHeld(part: Part): void {
    const path = this.#heldPath(part)
    if (this.#place.disk.lstat(path) !== undefined) this.#place.disk.unlink(path)
  }

  async #create(part: Part): Promise<PartFile> {
    const { disk, label, mode } = this.#place
    const fd = disk.open(this.#path(part), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
    const file = { written: label.length, held: NONE }
    try {
      writeAll(disk, fd, labelOfPart(label, part))
      await (disk.syncAsync?.(fd) ?? disk.sync(fd))
    } catch (error) {
      disk.unlink(this.#path(part))
      throw error
    } finally {
      disk.close(fd)
    }
    this.#parts.set(part, file)
    return file
  }

  async #recover(part: Part): Promise<void> {
    const { disk, label } = this.#place
    const path = this.#path(part)
    const stat = disk.lstat(path)
    const own = labelOfPart(label, part)
    if (stat !== undefined && stat.size < label.length) disk.unlink(path)
    if (stat === undefined || stat.size < label.length) {
      await this.#create(part)
    } else {
      this.#parts.set(part, { written: label.length, held: NONE })
      if (Buffer.compare(this.#read(part, 0, label.length), own) !== 0) {
        // The page with the label did not reach the disk.
        if (this.#read(part, 0, label.length).some((byte) => byte !== 0))
          throw new PcpError('PM_ERR_LABEL', `${path} has another label`)
        disk.unlink(path)
        await this.#create(part)
      }
      const file = this.#parts.get(part)!
      const sound = await this.#soundSize(part, disk.lstat(path)!.size)
      if (sound < disk.lstat(path)!.size) await this.#cut(path, sound)
      file.written = sound
    }
    this.#readHeld(part)
  }

  /** Returns the size up to which a file is complete. */
  async #soundSize(part: Part, size: number): Promise<number> {
    const { version } = this.#place
    let at = labelSize(version)
    for (let length = CHUNK; at < size; ) {
      const bytes = this.#read(part, at, Math.min(length, size - at))
      const sound =
        part === 'index'
          ? Math.min(soundEntries(bytes, version), this.#covered(bytes))
          : soundRecords(bytes, at, this.#place.canResend)
      at += sound
      // A record may be longer than the chunk.
      const isEnd = sound === 0 && (length > MAX_RECORD || at + bytes.length >= size)
      if (isEnd) break
      length = sound === 0 ? MAX_RECORD + CHUNK : CHUNK
      await new Promise((done) => setImmediate(done))
    }
    return at
  }

  async #cut(path: string, size: number): Promise<void> {
    const { disk } = this.#place
    const fd = disk.open(path, O_RDWR | O_NOFOLLOW)
    try {
      disk.truncate(fd, size)
      await (disk.syncAsync?.(fd) ?? disk.sync(fd))
    } finally {
      disk.close(fd)
    }
  }

  /** Reads held bytes. Bytes written since are in front of the rest. */
  #readHeld(part: Part): void {
    const { disk } = this.#place
    const stat = disk.lstat(this.#heldPath(part))
    if (stat === undefined || stat.size < HELD_HEAD) return
    const bytes = readFrom(disk, this.#heldPath(part), 0, stat.size)
    const file = this.#parts.get(part)!
    const from = Number(Buffer.from(bytes).readBigUInt64BE())
    if (from <= file.written) file.held = bytes.slice(HELD_HEAD + file.written - from)
  }

  #read(part: Part, offset: number, length: number): Uint8Array {
    return readFrom(this.#place.disk, this.#path(part), offset, length)
  }

  #path(part: Part): string {
    return `${this.#place.base}.${part}`
  }

  #heldPath(part: Part): string {
    return `${this.#place.heldBase}.held-${part}`
  }
}

function endedVolume(volume: number, last: number): PcpError {
  return new PcpError('EINVAL', `Volume ${volume} has ended: volume ${last} was begun`)
}

function writeAll(disk: Disk, fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += disk.write(fd, bytes.subarray(done))
}

/** Reads part of a file; shorter at its end. */
export function readFrom(disk: Disk, path: string, offset: number, length: number): Uint8Array {
  const fd = disk.open(path, O_RDONLY | O_NOFOLLOW)
  try {
    const bytes = Buffer.alloc(length)
    let done = 0
    while (done < length) {
      const got = disk.read(fd, bytes.subarray(done), offset + done)
      if (got === 0) break
      done += got
    }
    return bytes.subarray(0, done)
  } finally {
    disk.close(fd)
  }
}

/** Replaces a file; resolves when the new content survives a power cut. */
export async function replaceDurably(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.new`
  if (disk.lstat(temporary) !== undefined) disk.unlink(temporary)
  const fd = disk.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    writeAll(disk, fd, bytes)
    await (disk.syncAsync?.(fd) ?? disk.sync(fd))
  } finally {
    disk.close(fd)
  }
  disk.rename(temporary, path)
  await syncDirectory(disk, dirname(path))
}

/** Resolves when the names in a directory survive a power cut. */
export async function syncDirectory(disk: Disk, path: string): Promise<void> {
  await (disk.syncDirectoryAsync?.(path) ?? disk.syncDirectory(path))
}

/** Returns the path of a state file or held bytes. */
export function stateBase(directory: string, id: string): string {
  return join(directory, '.push', id)
}
