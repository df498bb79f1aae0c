/** The files of an archive being written, on disk. pmlogger(1), docs/formats/archive.md */
import { constants } from 'node:fs'
import { dirname } from 'node:path'
import type { ByteSink } from '../base/byte-source.ts'
import { ARCHIVE_MODE, type ArchiveAccess, type FileOwner } from './archive-access.ts'
import { type Disk, nodeDisk } from './disk.ts'

/** How files are written. */
export interface ArchiveOutputOptions extends Partial<ArchiveAccess> {
  /** Mode of new files, less the umask unless it is kept. Default 0o640. */
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
  const { disk = nodeDisk, sync = false } = options
  const directory = dirname(base)
  /** Files made and removed so far, and how many of these changes are known to survive a power cut. */
  let changes = 0
  let durable = 0
  return {
    name: base,
    create(part) {
      const sink = new FileSink(`${base}.${part}`, options)
      changes++
      return sink
    },
    remove(part) {
      disk.unlink(`${base}.${part}`)
      changes++
    },
    async syncNames() {
      const seen = changes
      if (seen === durable) return
      if (disk.syncDirectoryLater === undefined) disk.syncDirectory(directory)
      else await disk.syncDirectoryLater(directory)
      durable = seen
    },
    close() {
      if (!sync || changes === durable) return
      disk.syncDirectory(directory)
      durable = changes
    },
  }
}

/** Files by what follows their base name. */
export interface ArchiveOutput {
  readonly name: string
  create(part: string): ByteSink
  remove(part: string): void
  syncNames?(): Promise<void>
  close?(): void
}

/** Appending, so that after a record that was cut off again the next one stands where it began. */
const GROUP_RIGHTS = 0o070
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND

/** Opens a new file. One that replaces others is at first closed to the group, which it may not get. */
function openNew(path: string, options: ArchiveOutputOptions, disk: Disk): number {
  const { mode = ARCHIVE_MODE, keepsMode = false, owner } = options
  const closed = mode & ~GROUP_RIGHTS
  const fd = disk.open(path, CREATE, keepsMode ? closed : mode)
  try {
    const isGiven = owner === undefined || mayGive(fd, owner, disk)
    if (keepsMode) disk.setMode(fd, isGiven ? mode : closed)
    return fd
  } catch (error) {
    disk.close(fd)
    throw error
  }
}

function mayGive(fd: number, { uid, gid }: FileOwner, disk: Disk): boolean {
  try {
    disk.setOwner(fd, uid, gid)
    return true
  } catch {
    return false // the file stays ours
  }
}

/**
 * A new file that is appended to. A write that fails leaves no part of its record behind: what is there of it is cut off, if need be
 * by the next write or by `close`.
 */
class FileSink implements ByteSink {
  readonly #disk: Disk
  readonly #fd: number
  readonly #sync: boolean
  readonly #waiting: Uint8Array
  #waitingSize = 0
  /** Bytes of whole records in the file. */
  #written = 0
  /** Is part of a record behind them? */
  #isTorn = false
  /** Bytes known to survive a power cut. */
  #durable = 0
  #isClosed = false

  constructor(path: string, options: ArchiveOutputOptions) {
    const { collect = 0, sync = false, disk = nodeDisk } = options
    this.#disk = disk
    this.#fd = openNew(path, options, disk)
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
    if (!this.#sync || this.#durable === this.#written) return
    this.#disk.sync(this.#fd)
    this.#durable = this.#written
  }

  async sync(): Promise<void> {
    if (this.#isClosed) return
    this.#writeWaiting()
    const size = this.#written
    if (size === this.#durable) return
    try {
      if (this.#disk.syncLater === undefined) this.#disk.sync(this.#fd)
      else await this.#disk.syncLater(this.#fd)
      this.#durable = Math.max(this.#durable, size)
    } catch (error) {
      // Closed meanwhile, which waited for the disk itself: the descriptor may be another file's.
      if (!this.#isClosed) throw error
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      if (this.#isTorn) this.#cutOff()
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
    if (this.#isTorn) this.#cutOff()
    let done = 0
    try {
      while (done < bytes.length) done += this.#disk.write(this.#fd, bytes.subarray(done))
    } catch (error) {
      this.#isTorn = done > 0
      try {
        if (this.#isTorn) this.#cutOff()
      } catch {
        // Tried again before the next write; the first failure is the one to report.
      }
      throw error
    }
    this.#written += bytes.length
  }

  #cutOff(): void {
    this.#disk.truncate(this.#fd, this.#written)
    this.#isTorn = false
  }
}
