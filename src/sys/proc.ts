/** Small files that are read again and again: /proc, /sys. Synchronous, because the kernel answers at once. */
import { closeSync, existsSync, fstatSync, openSync, read, readSync } from 'node:fs'
import { ascii, Scanner } from '../base/scan.ts'
import { decodeText } from '../base/text.ts'

const FIRST_SIZE = 4096
/** A file in /proc has no size to ask for; beyond this it is not one of ours. */
const MAX_SIZE = 64 * 1024 * 1024
/** The kernel hands out rows of a table by pages of at least this size. */
const PAGE = 4096
/** Files that the kernel writes in one piece: what leaves room is all. */
const IN_ONE_PIECE =
  /^\/proc\/(sys\/.+|meminfo|stat|loadavg|uptime|softirqs|pressure\/\w+|((self|\d+)\/)?net\/(snmp6?|netstat|sockstat6?))$/
/** Tables of sockets, and the room that a row of theirs may need: a read that leaves more has reached the end. */
const SOCKET_TABLE = /^\/proc\/((self|\d+)\/)?net\/(tcp|udp|udplite|raw)6?$/
const SOCKET_ROW = 512

/**
 * One file under `root`, kept open between readings and read from its start into one buffer that is used again: 2 to
 * 7 µs a reading where fs.promises.readFile takes a hundred. What `read` and `scan` return is borrowed: it holds until
 * the next reading of this file.
 *
 * A file whose descriptor stops working (device gone), and a file on disk that was replaced, is opened again.
 */
export class ProcFile {
  readonly path: string
  #fd = -1
  /** Occupies a disk (a test's fixture, a configuration): may be replaced by renaming, which /proc never is. */
  #onDisk = false
  /** A read ends the file when it leaves more room than this, in the buffer and, for a table, in the kernel's page. */
  readonly #rowBytes: number
  readonly #isTable: boolean
  #buffer: Uint8Array = new Uint8Array(FIRST_SIZE)
  readonly #scanner: Scanner = new Scanner()
  /** What `scanLater` reads into, and through: a descriptor that must not be closed before it has finished. */
  #later: Uint8Array = new Uint8Array(0)
  #busy = -1
  #closesLater = false
  /** Why it could not be opened, while there is no such file: an exception costs ten times as much as the question. */
  #absent: unknown

  /** `root` is '/' except in tests; `path` is absolute: '/proc/stat'. Nothing is opened before the first reading. */
  constructor(root: string, path: string) {
    this.path = rooted(root, path)
    this.#isTable = SOCKET_TABLE.test(path)
    this.#rowBytes = this.#isTable ? SOCKET_ROW : IN_ONE_PIECE.test(path) ? 0 : Number.POSITIVE_INFINITY
  }

  /** Opens it while this process still may, as root before it becomes somebody else. What fails is told by the first reading. */
  prepare(): void {
    try {
      if (this.#fd < 0) this.#open()
    } catch {
      // absent, or somebody else's: nobody has asked for it yet
    }
  }

  /** The content now. Borrowed until the next reading. Throws Node's error (ENOENT, EACCES, ENODEV...) with the path. */
  read(): Uint8Array {
    const size = this.#readAll() // first: it may replace the buffer
    return this.#buffer.subarray(0, size)
  }

  /** A scanner at the start of the content now: the same object each time. Borrowed until the next reading. */
  scan(): Scanner {
    const size = this.#readAll()
    return this.#scanner.reset(this.#buffer, size)
  }

  /**
   * As `scan`, read by another thread, for files the kernel takes milliseconds for. Borrowed until the next call, which
   * must not come before this one is settled; `scan` and the others may be called meanwhile. Rejects as `scan` throws.
   */
  async scanLater(): Promise<Scanner> {
    this.#closeReplaced()
    if (this.#fd < 0) this.#open()
    if (this.#later.length === 0) this.#later = new Uint8Array(FIRST_SIZE)
    const fd = this.#fd
    this.#busy = fd
    let size = 0
    try {
      for (;;) {
        const room = this.#later.length - size
        // a table of sockets that goes on has many pages: a thread for each would cost more than it takes to read them
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

  /** The content now as UTF-8 text. */
  text(): string {
    return decodeText(this.read())
  }

  /** The content now as Latin-1 text: cheapest for short files of one line. */
  latin1(): string {
    return ascii(this.read())
  }

  /** Closes the descriptor; a later reading opens it again. */
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
        this.close() // what the descriptor stood for is gone: the path may name something new
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
   * Was a read of `got` bytes into `room` the last? In general one that leaves room may still be short of the end (the
   * kernel stops at page boundaries), so only 0 says so; for a table of TCP sockets that question takes a millisecond.
   */
  #isEnd(got: number, room: number): boolean {
    return got === 0 || (this.#isTable ? Math.min(room, PAGE) : room) - got > this.#rowBytes
  }
}

let shared: Uint8Array = new Uint8Array(65536)

/**
 * A file read once, opened and closed: for sysfs attributes and configuration. Returns UTF-8 text, trailing newline
 * kept. Throws Node's error (ENOENT...) with the path.
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

/** As `readSmallFile`, trimmed; undefined when the file cannot be read, for attributes that not every system has. */
export function readAttribute(root: string, path: string): string | undefined {
  try {
    return readSmallFile(root, path).trim()
  } catch {
    return undefined // absence is the answer here; callers that need the reason use readSmallFile
  }
}

/** The absolute `path` as seen under `root`: rooted('/tmp/x', '/proc/stat') is '/tmp/x/proc/stat'. */
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

/** Adds the path to errors of read(2), which do not know it; keeps `code`. */
function withPath(error: unknown, path: string): Error {
  if (!(error instanceof Error)) return new Error(`${path}: ${String(error)}`)
  if ('syscall' in error && !('path' in error)) error.message = `${error.message}, '${path}'`
  return error
}

/** A file and what its text means. */
export class ParsedFile<T> {
  readonly #file: ProcFile
  readonly #parse: (text: string) => T
  #seen: Uint8Array | undefined
  #value: T | undefined

  /** What `parse` returns is given out again and again: nobody may change it. */
  constructor(file: ProcFile, parse: (text: string) => T) {
    this.#file = file
    this.#parse = parse
  }

  /** What the file says now: the same object as long as its bytes are the same. Throws as `ProcFile.read` and `parse` do. */
  read(): T {
    const bytes = this.#file.read()
    if (this.#seen !== undefined && Buffer.compare(bytes, this.#seen) === 0) return this.#value as T
    this.#value = this.#parse(decodeText(bytes))
    this.#seen = bytes.slice()
    return this.#value
  }
}
