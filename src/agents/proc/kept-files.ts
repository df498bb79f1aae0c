/** Keeps files of processes open between fetches, which halves the cost of reading them. */
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { every } from '../../base/every.ts'
import {
  type DescriptorReserve,
  descriptorLimit,
  processDescriptorReserve,
} from '../../sys/descriptor-reserve.ts'
import type { Content, ProcessFiles, ProcessReading } from './process-files.ts'

/** Files not read for one to two of these intervals are closed. */
const IDLE_MS = 10_000
/** Most files kept open, as each takes some 6 KB of kernel memory; also at most a quarter of the file descriptor limit. */
const MOST = 4096

interface OpenFile {
  readonly fd: number
  /** Turn of the timer in which it was last read. */
  turn: number
}

/**
 * Reads files through file descriptors that stay open. A file descriptor belongs to one process: the kernel refuses to read
 * files of ended processes, so a new process with the same PID is opened again.
 */
export class KeptFiles implements ProcessReading {
  readonly #files: ProcessFiles
  readonly #kept = new Map<string, OpenFile>()
  readonly #most: number
  readonly #descriptors: DescriptorReserve
  /** Since Linux 6.2 the number of file descriptors is available without listing them. */
  readonly #knowsCounts: boolean
  #turn = 0
  #timer: NodeJS.Timeout | undefined

  constructor(files: ProcessFiles, descriptors: DescriptorReserve = processDescriptorReserve()) {
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
        this.#close(path, kept) // the process ended: the path may belong to another one
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
    accessSync(path, constants.R_OK) // its size is public, its list is not
    return statSync(path).size
  }

  /** Closes all files. */
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
          () => undefined, // already closed
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

  #close(path: string, { fd }: OpenFile): void {
    this.#kept.delete(path)
    closeSync(fd)
  }
}
