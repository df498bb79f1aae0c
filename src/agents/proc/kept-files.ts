/** Files of processes that stay open while somebody reads them again and again: a reading costs half as much then. */
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { every } from '../../base/every.ts'
import { type DescriptorReserve, descriptorLimit, ownDescriptors } from '../../sys/descriptor-reserve.ts'
import type { Content, ProcessFiles, ProcessReading } from './process-files.ts'

/** What was not read for one to two of these is closed. */
const IDLE_MS = 10_000
/** No more are kept, for each takes some 6 KB of the kernel; and no more than a quarter of what this process may open. */
const MOST = 4096

interface Kept {
  readonly fd: number
  /** Which turn of the timer it was read in last. */
  turn: number
}

/**
 * Reads files through descriptors that stay open. A descriptor belongs to one process for ever: another one with the same
 * number is opened anew, because the kernel refuses to read the files of processes that are gone.
 */
export class KeptFiles implements ProcessReading {
  readonly #files: ProcessFiles
  readonly #kept = new Map<string, Kept>()
  readonly #most: number
  readonly #descriptors: DescriptorReserve
  /** Kernels since 6.2 say how many descriptors a process has without listing them. */
  readonly #knowsCounts: boolean
  #turn = 0
  #timer: NodeJS.Timeout | undefined

  constructor(files: ProcessFiles, descriptors: DescriptorReserve = ownDescriptors()) {
    this.#files = files
    this.#descriptors = descriptors
    this.#most = Math.min(MOST, Math.floor(descriptorLimit() / 4))
    this.#knowsCounts = (statSync('/proc/self/fd', { throwIfNoEntry: false })?.size ?? 0) > 0
  }

  read(path: string): Content {
    const kept = this.#kept.get(path)
    if (kept !== undefined) {
      try {
        const content = this.#files.readFrom(kept.fd, path)
        kept.turn = this.#turn
        return content
      } catch {
        this.#close(path, kept) // the process is gone: the path may be another's
      }
    }
    if (this.#kept.size >= this.#most) return this.#files.read(path)
    return this.#open(path)
  }

  readPieces(path: string): Content {
    return this.#files.readPieces(path)
  }

  link(path: string): string {
    return this.#files.link(path)
  }

  count(path: string): number {
    if (!this.#knowsCounts) return this.#files.count(path)
    accessSync(path, constants.R_OK) // its size is for everybody to see, what it lists is not
    return statSync(path).size
  }

  /** Closes all of them. */
  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const [path, kept] of this.#kept) this.#close(path, kept)
  }

  #open(path: string): Content {
    const fd = openSync(path, 'r')
    try {
      const content = this.#files.readFrom(fd, path)
      if (!this.#descriptors.mayKeep(fd)) {
        closeSync(fd)
        return content
      }
      this.#kept.set(path, { fd, turn: this.#turn })
      if (this.#timer === undefined) {
        this.#timer = every(
          IDLE_MS,
          () => this.#sweep(),
          () => undefined, // what cannot be closed is closed already
        ).unref()
      }
      return content
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }

  #sweep(): void {
    for (const [path, kept] of this.#kept) if (kept.turn < this.#turn) this.#close(path, kept)
    this.#turn++
    if (this.#kept.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #close(path: string, { fd }: Kept): void {
    this.#kept.delete(path)
    closeSync(fd)
  }
}
