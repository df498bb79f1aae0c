/** Files of an archive that is being written. pmlogger(1), docs/formats/archive.md */
import { constants } from 'node:fs'
import { dirname } from 'node:path'
import type { ByteSink } from '../base/byte-source.ts'
import { type OldFields, renameFields } from '../base/deprecated.ts'
import { ARCHIVE_MODE, type ArchiveAccess, type FileOwner } from './archive-access.ts'
import { type Disk, nodeDisk } from './disk.ts'

/** How files are written. */
export interface ArchiveOutputOptions extends Partial<ArchiveAccess> {
  /** Mode of new files, less the umask unless `keepsMode`. Default 0o640. */
  readonly mode?: number
  /**
   * Bytes collected before they are written. Default 0: each record is written on its own, so that nothing is lost when the
   * process is killed.
   */
  readonly bufferBytes?: number
  /** @deprecated Use `bufferBytes`. */
  readonly collect?: number
  /** Makes `flush` and `close` wait for the disk, for data that must survive a system crash. Default false. */
  readonly sync?: boolean
  /** Default: the disk of this machine. */
  readonly disk?: Disk
}

const OLD_OPTIONS: OldFields<ArchiveOutputOptions> = { collect: ['bufferBytes', 'PCP_DEP0008'] }

/** Returns the output for an archive writer, which creates `BASE.part` and never overwrites a file. Throws Node's errors. */
export function archiveOutput(base: string, given: ArchiveOutputOptions = {}): ArchiveOutput {
  const options = renameFields({ ...given }, OLD_OPTIONS)
  const { disk = nodeDisk, sync = false } = options
  const directory = dirname(base)
  /** Files created and removed so far, and how many of these changes are known to survive a power cut. */
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
      if (disk.syncDirectoryAsync === undefined) disk.syncDirectory(directory)
      else await disk.syncDirectoryAsync(directory)
      durable = seen
    },
    close() {
      if (!sync || changes === durable) return
      disk.syncDirectory(directory)
      durable = changes
    },
  }
}

/** Files by the suffix after their base name. */
export interface ArchiveOutput {
  readonly name: string
  create(part: string): ByteSink
  remove(part: string): void
  syncNames?(): Promise<void>
  close?(): void
}

/** O_APPEND: after a torn record is truncated, the next one is written in its place. */
const GROUP_RIGHTS = 0o070
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND

/** Opens a new file. A replacement starts without group access, as its group may still have to be changed. */
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
    return false // the file keeps this process's owner
  }
}

/**
 * Appends to a new file. A failed write leaves no partial record: it is truncated immediately or, if that fails, by the next
 * write or by `close`.
 */
class FileSink implements ByteSink {
  readonly #disk: Disk
  readonly #fd: number
  readonly #sync: boolean
  readonly #waiting: Uint8Array
  #waitingSize = 0
  /** Bytes of complete records in the file. */
  #written = 0
  /** Whether a partial record follows them. */
  #isTorn = false
  /** Bytes known to survive a power cut. */
  #durable = 0
  #isClosed = false

  constructor(path: string, options: ArchiveOutputOptions) {
    const { bufferBytes = 0, sync = false, disk = nodeDisk } = options
    this.#disk = disk
    this.#fd = openNew(path, options, disk)
    this.#sync = sync
    this.#waiting = new Uint8Array(bufferBytes)
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
      if (this.#disk.syncAsync === undefined) this.#disk.sync(this.#fd)
      else await this.#disk.syncAsync(this.#fd)
      this.#durable = Math.max(this.#durable, size)
    } catch (error) {
      // Closed meanwhile, after waiting for the disk: the file descriptor may refer to another file.
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
        // Retried before the next write; the first failure is reported.
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
