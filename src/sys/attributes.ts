/** Attributes of sysfs that are read again and again: one short value a file. */
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { decodeText } from '../base/text.ts'
import { type DescriptorReserve, ownDescriptors } from './descriptor-reserve.ts'
import { readAttribute, rooted } from './proc.ts'

/** An attribute is at most a page; a whole page may be the beginning of more. */
const PAGE = 4096
/** Descriptors kept: a machine of usual size needs some hundred. When there are more, all are given up: some are of devices long gone. */
const MAX_OPEN = 256
/** Paths remembered as missing, likewise. */
const MAX_MISSING = 4096

/**
 * Reads attributes below /sys/ of this system through descriptors that stay open: 2 µs in place of 12 for open, read
 * and close. The kernel renders an attribute anew for every reading at its start, and refuses (ENODEV) when the device
 * is gone, upon which the path is opened again. Other files are opened each time.
 */
export class Attributes {
  readonly #root: string
  readonly #descriptors: DescriptorReserve
  readonly #open = new Map<string, number>()
  /** Not there when last looked for. Asking again for what is not there must not cost an exception. */
  readonly #missing = new Set<string>()
  readonly #page = new Uint8Array(PAGE)

  /** `root` is '/' except in tests, whose files may be replaced by renaming and so are opened each time. */
  constructor(root: string, descriptors: DescriptorReserve = ownDescriptors()) {
    this.#root = root
    this.#descriptors = descriptors
  }

  /** The attribute at an absolute path, trimmed; undefined when it cannot be read. */
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

  /** Closes the descriptors; a later reading opens them again. */
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
      return undefined // absence is the answer
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

  /** undefined, and the descriptor closed, when the device is gone or has nothing to say. */
  #readOpen(path: string, fd: number): string | undefined {
    // Some devices refuse an attribute each time (the speed of a loopback): where from is of no use, and costs three quarters.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    try {
      const size = readSync(fd, this.#page, 0, PAGE, 0)
      return size < PAGE ? decodeText(this.#page, 0, size).trim() : readAttribute(this.#root, path)
    } catch (error) {
      // EINVAL: not now. Only what is gone (ENODEV) must be opened again.
      if ((error as NodeJS.ErrnoException).code === 'EINVAL') return undefined
      this.#open.delete(path)
      closeSync(fd)
      return undefined
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
  }
}
