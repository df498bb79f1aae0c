/** Small files that are reread regularly, in /proc and /sys. Synchronous, because the kernel answers without waiting. */
import { closeSync, existsSync, fstatSync, openSync, read, readSync } from 'node:fs'
import { ascii, Scanner } from '../base/scan.ts'
import { decodeText } from '../base/text.ts'

const FIRST_SIZE = 4096
/** Largest file: files in /proc report no size. */
const MAX_SIZE = 64 * 1024 * 1024
/** The kernel returns rows of a table in pages of at least this size. */
const PAGE = 4096
/** Files that the kernel returns in one read: a short read is the last. */
const IN_ONE_PIECE =
  /^\/proc\/(sys\/.+|meminfo|stat|loadavg|uptime|softirqs|pressure\/\w+|((self|\d+)\/)?net\/(snmp6?|netstat|sockstat6?))$/
/** Tables of sockets, and the largest size of a row: a read that leaves more room has reached the end. */
const SOCKET_TABLE = /^\/proc\/((self|\d+)\/)?net\/(tcp|udp|udplite|raw)6?$/
const SOCKET_ROW = 512

/**
 * One file under `root`, kept open between reads and read from its start into a reused buffer: 2 to 7 µs a read, where
 * fs.promises.readFile takes a hundred. `read` and `scan` return borrowed bytes, valid until the next read of this file.
 *
 * A file whose file descriptor fails (the device is gone), and a file on disk that was replaced, is reopened.
 */
export class ProcFile {
  readonly path: string
  #fd = -1
  /** Whether the file is on disk (a test's fixture, a configuration) and may be replaced by renaming, unlike /proc. */
  #onDisk = false
  /** A read is the last if it leaves more room than this, in the buffer and, for a table, in the kernel's page. */
  readonly #rowBytes: number
  readonly #isTable: boolean
  #buffer: Uint8Array = new Uint8Array(FIRST_SIZE)
  readonly #scanner: Scanner = new Scanner()
  /** Buffer and file descriptor of `scanAsync`; the latter must not be closed while a read is in flight. */
  #later: Uint8Array = new Uint8Array(0)
  #busy = -1
  #closesLater = false
  /** The error from opening a missing file, cached because an exception costs ten times as much as checking existence. */
  #absent: unknown

  /** `root` is '/' except in tests; `path` is absolute: '/proc/stat'. The file is opened by the first read. */
  constructor(root: string, path: string) {
    this.path = rooted(root, path)
    this.#isTable = SOCKET_TABLE.test(path)
    this.#rowBytes = this.#isTable ? SOCKET_ROW : IN_ONE_PIECE.test(path) ? 0 : Number.POSITIVE_INFINITY
  }

  /** Opens the file early, for example as root before dropping privileges. The first read reports errors. */
  prepare(): void {
    try {
      if (this.#fd < 0) this.#open()
    } catch {
      // Missing or not permitted; the first read reports it.
    }
  }

  /** Reads the file. The bytes are borrowed until the next read. Throws Node's error (ENOENT, EACCES, ENODEV...) with the path. */
  read(): Uint8Array {
    const size = this.#readAll() // first, as it may replace the buffer
    return this.#buffer.subarray(0, size)
  }

  /** Reads the file; returns a scanner at its start, always the same object, borrowed until the next read. */
  scan(): Scanner {
    const size = this.#readAll()
    return this.#scanner.reset(this.#buffer, size)
  }

  /**
   * As `scan`, read on another thread, for files that take the kernel milliseconds. Borrowed until the next call, which
   * must wait until this one settles; `scan` and the others may be called meanwhile. Rejects as `scan` throws.
   */
  async scanAsync(): Promise<Scanner> {
    this.#closeReplaced()
    if (this.#fd < 0) this.#open()
    if (this.#later.length === 0) this.#later = new Uint8Array(FIRST_SIZE)
    const fd = this.#fd
    this.#busy = fd
    let size = 0
    try {
      for (;;) {
        const room = this.#later.length - size
        // Further pages of a table of sockets are read synchronously: another thread for each would cost more than the reads.
        const isMore = this.#isTable && size > 0
        const got = isMore ? readSync(fd, this.#later, size, room, size) : await this.#readPart(fd, size)
        size += got
        if (this.#isEnd(got, room)) return new Scanner(this.#later, size)
        if (size === this.#later.length) this.#later = grown(this.#later, this.path)
      }
    } catch (error) {
      throw withPath(error, this.path)
    } finally {
      this.#busy = -1
      if (this.#closesLater) closeSync(fd)
      this.#closesLater = false
    }
  }

  #readPart(fd: number, at: number): Promise<number> {
    const buffer = this.#later
    return new Promise((resolve, reject) => {
      read(fd, buffer, at, buffer.length - at, at, (error, got) =>
        error === null ? resolve(got) : reject(error),
      )
    })
  }

  /** Reads the file as UTF-8 text. */
  text(): string {
    return decodeText(this.read())
  }

  /** Reads the file as Latin-1 text: cheapest for short files of one line. */
  latin1(): string {
    return ascii(this.read())
  }

  /** Closes the file descriptor; a later read reopens the file. */
  close(): void {
    if (this.#fd < 0) return
    if (this.#fd === this.#busy) this.#closesLater = true
    else closeSync(this.#fd)
    this.#fd = -1
  }

  #closeReplaced(): void {
    if (this.#fd >= 0 && this.#onDisk && fstatSync(this.#fd).nlink === 0) this.close()
  }

  #readAll(): number {
    this.#closeReplaced()
    if (this.#fd >= 0) {
      try {
        return this.#readOpen()
      } catch {
        this.close() // the file or device is gone: the path may refer to a new one
      }
    }
    try {
      this.#open()
      return this.#readOpen()
    } catch (error) {
      this.close()
      throw withPath(error, this.path)
    }
  }

  #open(): void {
    if (this.#absent !== undefined && !existsSync(this.path)) throw this.#absent
    this.#absent = undefined
    try {
      this.#fd = openSync(this.path, 'r')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#absent = error
      throw error
    }
    this.#onDisk = fstatSync(this.#fd).blocks > 0
  }

  #readOpen(): number {
    let size = 0
    for (;;) {
      const room = this.#buffer.length - size
      const got = readSync(this.#fd, this.#buffer, size, room, size)
      size += got
      if (this.#isEnd(got, room)) return size
      if (size === this.#buffer.length) this.#buffer = grown(this.#buffer, this.path)
    }
  }

  /**
   * Returns whether a read of `got` bytes into `room` was the last. In general the kernel may stop at page boundaries before the
   * end, so only 0 means the end; for a table of TCP sockets that additional read takes a millisecond.
   */
  #isEnd(got: number, room: number): boolean {
    return got === 0 || (this.#isTable ? Math.min(room, PAGE) : room) - got > this.#rowBytes
  }
}

let shared: Uint8Array = new Uint8Array(65536)

/**
 * Opens, reads and closes a file once: for sysfs attributes and configuration. Returns UTF-8 text with its trailing newline.
 * Throws Node's error (ENOENT...) with the path.
 */
export function readSmallFile(root: string, path: string): string {
  const full = rooted(root, path)
  const fd = openSync(full, 'r')
  try {
    let size = 0
    for (;;) {
      const got = readSync(fd, shared, size, shared.length - size, null)
      size += got
      if (got === 0) return decodeText(shared, 0, size)
      if (size === shared.length) shared = grown(shared, full)
    }
  } catch (error) {
    throw withPath(error, full)
  } finally {
    closeSync(fd)
  }
}

/** As `readSmallFile`, trimmed; returns undefined if the file is unreadable, for attributes that not every system has. */
export function readAttribute(root: string, path: string): string | undefined {
  try {
    return readSmallFile(root, path).trim()
  } catch {
    return undefined // callers that need the reason use readSmallFile
  }
}

/** Returns the absolute `path` below `root`: rooted('/tmp/x', '/proc/stat') is '/tmp/x/proc/stat'. */
export function rooted(root: string, path: string): string {
  if (root === '/' || root === '') return path
  return root.endsWith('/') ? root.slice(0, -1) + path : root + path
}

function grown(buffer: Uint8Array, path: string): Uint8Array {
  if (buffer.length >= MAX_SIZE) throw new Error(`${path}: larger than ${MAX_SIZE} bytes`)
  const larger = new Uint8Array(buffer.length * 4)
  larger.set(buffer)
  return larger
}

/** Adds the path to errors of read(2), which lack it; keeps `code`. */
function withPath(error: unknown, path: string): Error {
  if (!(error instanceof Error)) return new Error(`${path}: ${String(error)}`)
  if ('syscall' in error && !('path' in error)) error.message = `${error.message}, '${path}'`
  return error
}

/** Caches the parsed content of a file. */
export class ParsedFile<T> {
  readonly #file: ProcFile
  readonly #parse: (text: string) => T
  #seen: Uint8Array | undefined
  #value: T | undefined

  /** The result of `parse` is returned repeatedly, so callers must not modify it. */
  constructor(file: ProcFile, parse: (text: string) => T) {
    this.#file = file
    this.#parse = parse
  }

  /** Returns the parsed content: the same object as long as the bytes are the same. Throws as `ProcFile.read` and `parse` do. */
  read(): T {
    const bytes = this.#file.read()
    if (this.#seen !== undefined && Buffer.compare(bytes, this.#seen) === 0) return this.#value as T
    this.#value = this.#parse(decodeText(bytes))
    this.#seen = bytes.slice()
    return this.#value
  }
}
