/** Attributes of sysfs that are reread regularly: one short value per file. */
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { decodeText } from '../base/text.ts'
import { type DescriptorReserve, processDescriptorReserve } from './descriptor-reserve.ts'
import { readAttribute, rooted } from './proc.ts'

/** An attribute is at most a page; a whole page may be truncated. */
const PAGE = 4096
/** Most open file descriptors; a usual machine needs some hundred. At the limit all are closed: some are of devices long gone. */
const MAX_OPEN = 256
/** Most paths remembered as missing; cleared likewise. */
const MAX_MISSING = 4096

/**
 * Reads attributes below /sys/ through file descriptors that stay open: 2 µs instead of 12 for open, read and close. The kernel
 * renders an attribute anew for every read at offset 0, and fails with ENODEV when the device is gone; then the path is reopened.
 * Files elsewhere are opened each time.
 */
export class Attributes {
  readonly #root: string
  readonly #descriptors: DescriptorReserve
  readonly #open = new Map<string, number>()
  /** Paths that did not exist at the last attempt, because an exception for each is expensive. */
  readonly #missing = new Set<string>()
  readonly #page = new Uint8Array(PAGE)

  /** `root` is '/' except in tests. Files below another root may be replaced by renaming, so they are opened each time. */
  constructor(root: string, descriptors: DescriptorReserve = processDescriptorReserve()) {
    this.#root = root
    this.#descriptors = descriptors
  }

  /** Returns the trimmed attribute at an absolute path; undefined if it is unreadable. */
  read(path: string): string | undefined {
    if (this.#root !== '/' || !path.startsWith('/sys/')) return readAttribute(this.#root, path)
    const known = this.#open.get(path)
    if (known !== undefined) {
      const text = this.#readOpen(path, known)
      if (text !== undefined || this.#open.has(path)) return text
    }
    if (this.#missing.has(path) && !existsSync(rooted(this.#root, path))) return undefined
    return this.#readClosed(path)
  }

  /** Closes the file descriptors; a later read reopens the files. */
  close(): void {
    for (const fd of this.#open.values()) closeSync(fd)
    this.#open.clear()
  }

  #readClosed(path: string): string | undefined {
    if (this.#open.size >= MAX_OPEN) this.close()
    try {
      this.#open.set(path, openSync(path, 'r'))
    } catch {
      if (this.#missing.size >= MAX_MISSING) this.#missing.clear()
      this.#missing.add(path)
      return undefined
    }
    this.#missing.delete(path)
    const text = this.#readOpen(path, this.#open.get(path)!)
    const fd = this.#open.get(path)
    if (fd !== undefined && !this.#descriptors.mayKeep(fd)) {
      this.#open.delete(path)
      closeSync(fd)
    }
    return text
  }

  /** Returns undefined, and closes the file descriptor, if the device is gone or has no value. */
  #readOpen(path: string, fd: number): string | undefined {
    // Some devices reject an attribute each time (the speed of a loopback). The stack trace would be three quarters of the cost.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    try {
      const size = readSync(fd, this.#page, 0, PAGE, 0)
      return size < PAGE ? decodeText(this.#page, 0, size).trim() : readAttribute(this.#root, path)
    } catch (error) {
      // EINVAL means no value now. Only missing devices (ENODEV) have to be reopened.
      if ((error as NodeJS.ErrnoException).code === 'EINVAL') return undefined
      this.#open.delete(path)
      closeSync(fd)
      return undefined
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
  }
}
