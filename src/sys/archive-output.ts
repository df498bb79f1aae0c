/** The files of an archive being written, on disk. pmlogger(1), docs/formats/archive.md */
import { constants } from 'node:fs'
import type { ByteSink } from '../base/byte-source.ts'
import { type Disk, nodeDisk } from './disk.ts'

/** How files are written. */
export interface ArchiveOutputOptions {
  /** Mode of new files, less the umask. Default 0o666. */
  readonly mode?: number
  /**
   * Bytes collected before they are written. Default 0: one write a record, so that nothing is lost when the process is
   * killed.
   */
  readonly collect?: number
  /** Waits at `flush` and `close` until the disk has it, for what must survive a crash of the system. Default false. */
  readonly sync?: boolean
  /** Where the files are. Default this machine's. */
  readonly disk?: Disk
}

/** What an archive writer makes its files with: `BASE.part`, never over something that is there. Throws Node's errors. */
export function archiveOutput(base: string, options: ArchiveOutputOptions = {}): ArchiveOutput {
  return {
    name: base,
    create: (part) => new FileSink(`${base}.${part}`, options),
    remove: (part) => (options.disk ?? nodeDisk).unlink(`${base}.${part}`),
  }
}

/** Files by what follows their base name. */
export interface ArchiveOutput {
  readonly name: string
  create(part: string): ByteSink
  remove(part: string): void
}

/** Appending, so that after a record that was cut off again the next one stands where it began. */
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND

/** A new file that is appended to. A write that fails leaves no part of its record behind. */
class FileSink implements ByteSink {
  readonly #disk: Disk
  readonly #fd: number
  readonly #sync: boolean
  readonly #waiting: Uint8Array
  #waitingSize = 0
  /** Bytes in the file. */
  #written = 0
  #isClosed = false

  constructor(
    path: string,
    { mode = 0o666, collect = 0, sync = false, disk = nodeDisk }: ArchiveOutputOptions,
  ) {
    this.#disk = disk
    this.#fd = disk.open(path, CREATE, mode)
    this.#sync = sync
    this.#waiting = new Uint8Array(collect)
  }

  get size(): number {
    return this.#written + this.#waitingSize
  }

  write(bytes: Uint8Array): void {
    if (this.#waitingSize + bytes.length > this.#waiting.length) this.#writeWaiting()
    if (bytes.length > this.#waiting.length) {
      this.#append(bytes)
      return
    }
    this.#waiting.set(bytes, this.#waitingSize)
    this.#waitingSize += bytes.length
  }

  flush(): void {
    this.#writeWaiting()
    if (this.#sync) this.#disk.sync(this.#fd)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      this.flush()
    } finally {
      this.#disk.close(this.#fd)
    }
  }

  #writeWaiting(): void {
    if (this.#waitingSize === 0) return
    this.#append(this.#waiting.subarray(0, this.#waitingSize))
    this.#waitingSize = 0
  }

  #append(bytes: Uint8Array): void {
    let done = 0
    try {
      while (done < bytes.length) done += this.#disk.write(this.#fd, bytes.subarray(done))
    } catch (error) {
      if (done > 0) this.#disk.truncate(this.#fd, this.#written)
      throw error
    }
    this.#written += bytes.length
  }
}
