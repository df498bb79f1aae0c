/** The files of an archive being written, on disk. pmlogger(1), docs/formats/archive.md */
import { constants, linkSync, renameSync, rmSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
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
    remove: (part) => unlinkSync(`${base}.${part}`),
  }
}

/** An archive that has its name only when it is complete. */
export interface TemporaryOutput extends ArchiveOutput {
  /**
   * Gives the files their names: `.meta`, without which there is no archive, last. When one of the names is taken the files
   * are removed and Node's EEXIST is thrown. All sinks must be closed.
   */
  commit(): void
  /**
   * As `commit`, in the place of `old`, the files of the archive of that name, its metadata first. When that fails these are as they
   * were.
   */
  replace(old: readonly string[]): void
  /** Removes the files; nothing after `commit`. */
  abandon(): void
}

/** As `archiveOutput`, under other names in the same directory until `commit`. */
export function temporaryOutput(base: string, options: ArchiveOutputOptions = {}): TemporaryOutput {
  const hidden = join(dirname(base), `.${basename(base)}.${process.pid}.new`)
  const output = archiveOutput(hidden, options)
  const parts: string[] = []
  return {
    name: base,
    create(part) {
      // Left by a process of the same id that died: nobody else has this name.
      rmSync(`${hidden}.${part}`, { force: true })
      try {
        const sink = output.create(part)
        parts.push(part)
        return sink
      } catch (error) {
        // Nobody has heard of the name that the file has until it is complete.
        if (error instanceof Error) error.message = error.message.replaceAll(hidden, base)
        throw error
      }
    },
    remove(part) {
      output.remove(part)
      parts.splice(parts.indexOf(part), 1)
    },
    commit() {
      const named: string[] = []
      try {
        for (const part of parts.sort((a, b) => Number(a === 'meta') - Number(b === 'meta'))) {
          linkSync(`${hidden}.${part}`, `${base}.${part}`)
          named.push(part)
        }
      } catch (error) {
        for (const part of named) unlinkSync(`${base}.${part}`)
        throw error
      } finally {
        this.abandon()
      }
    },
    replace(old) {
      const kept: string[] = []
      try {
        old.forEach((path, i) => {
          renameSync(path, `${hidden}.old${i}`)
          kept.push(path)
        })
        this.commit()
      } catch (error) {
        // The metadata, without which there is no archive, comes back last.
        for (let i = kept.length - 1; i >= 0; i--) renameSync(`${hidden}.old${i}`, kept[i]!)
        throw error
      } finally {
        this.abandon()
      }
      for (let i = 0; i < kept.length; i++) rmSync(`${hidden}.old${i}`, { force: true })
    },
    abandon() {
      for (const part of parts.splice(0)) rmSync(`${hidden}.${part}`, { force: true })
    },
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
