/** Files of processes below /proc/PID, each read on demand once per fetch. proc(5) */
import { closeSync, existsSync, openSync, read, readdirSync, readlinkSync, readSync } from 'node:fs'
import { type Outcome, PcpError } from '../../model/errors.ts'
import type { Ask } from '../../model/source.ts'
import { rooted } from '../../sys/proc.ts'
import type { ProcContext } from './context.ts'
import { unsupported } from './sample.ts'

const NEWLINE = 0x0a
/** Largest file of a process; only maps may be this long. */
const MAX_SIZE = 16 * 1024 * 1024

/** Contents of a file in a buffer that the next read reuses. */
export interface Content {
  /** Starts with an added newline, so that every line has one before it. */
  readonly bytes: Buffer
  /** End of the contents, which start at 1. */
  readonly end: number
}

/** Reads files of processes. */
export interface ProcessReading {
  read(path: string): Content
  readPieces(path: string): Content
  link(path: string): string
  count(path: string): number
}

/** Denies files that the requester may not read. */
const refuse = (): never => {
  throw Object.assign(new Error('Not for this user'), { code: 'EACCES' })
}
const NOTHING: ProcessReading = { read: refuse, readPieces: refuse, link: refuse, count: refuse }

/** Reads files of processes into one buffer. */
export class ProcessFiles implements ProcessReading {
  readonly #base: string
  #buffer: Buffer = Buffer.allocUnsafe(65536)

  constructor(root: string) {
    this.#base = rooted(root, '/proc')
    this.#buffer[0] = NEWLINE
  }

  /** Returns the path of a file of a process, or of a thread. */
  path(pid: number, file: string, isThread: boolean): string {
    return isThread ? `${this.#base}/${pid}/task/${pid}/${file}` : `${this.#base}/${pid}/${file}`
  }

  /** Reads a file that the kernel returns in one piece, as all but maps. Throws Node's error (ENOENT, EACCES, ESRCH...). */
  read(path: string): Content {
    const fd = openSync(path, 'r')
    try {
      return this.readFrom(fd, path)
    } finally {
      closeSync(fd)
    }
  }

  /** As `read`, from the start of an open file. */
  readFrom(fd: number, path: string): Content {
    let end = 1
    for (;;) {
      const room = this.#buffer.length - end
      const got = readSync(fd, this.#buffer, end, room, end - 1)
      end += got
      if (got < room) return { bytes: this.#buffer, end }
      this.#grow(path)
    }
  }

  /** Reads a file that may need several reads. Throws as `read`. */
  readPieces(path: string): Content {
    const fd = openSync(path, 'r')
    try {
      let end = 1
      for (;;) {
        const got = readSync(fd, this.#buffer, end, this.#buffer.length - end, null)
        end += got
        if (got === 0) return { bytes: this.#buffer, end }
        if (end === this.#buffer.length) this.#grow(path)
      }
    } finally {
      closeSync(fd)
    }
  }

  /** Returns the target of a symbolic link. Throws as `read`. */
  link(path: string): string {
    return readlinkSync(path)
  }

  /** Returns the number of entries of a directory. Throws as `read`. */
  count(path: string): number {
    return readdirSync(path).length
  }

  #grow(path: string): void {
    if (this.#buffer.length >= MAX_SIZE)
      throw new PcpError('PM_ERR_TOOBIG', `${path}: larger than ${MAX_SIZE} bytes`)
    const larger = Buffer.allocUnsafe(this.#buffer.length * 4)
    this.#buffer.copy(larger)
    this.#buffer = larger
  }
}

/** Contents of a file of a process; undefined if the requester may not see it. */
export type FileResult<T> = Outcome<T> | undefined

/** Reads one kind of file, given the path of the process's file. */
export type ReadProcess<T> = (files: ProcessReading, path: string, pid: number) => T

/** Most files open for reading in other threads. */
const MOST_AHEAD = 512
/** Most bytes read in other threads; longer files are read again on demand. */
const AHEAD_SIZE = 4096

/** Cached contents of one batch and one user. */
interface Round<T> {
  readonly known: Map<number, FileResult<T>>
  readonly batch: object | undefined
  readonly uid: number | undefined
  readonly gid: number | undefined
  readonly user: string | undefined
  readonly isGuest: boolean
  readonly threads: boolean
  /** Pending reads in other threads. */
  ahead?: Promise<void>
}

/** One kind of file, for all processes. */
export class PerProcess<T> {
  readonly #ctx: ProcContext
  readonly #files: ProcessFiles
  readonly #kept: ProcessReading
  readonly #file: string
  readonly #read: ReadProcess<T>
  readonly #isThread: (ask: Ask) => boolean
  #round: Round<T> = {
    known: new Map(),
    batch: undefined,
    uid: undefined,
    gid: undefined,
    user: undefined,
    isGuest: false,
    threads: false,
  }
  /** Rounds with reads in other threads, as other requests may arrive in the meantime. */
  readonly #prefetched = new WeakMap<object, Round<T>>()

  constructor(
    ctx: ProcContext,
    { files, kept = files }: { readonly files: ProcessFiles; readonly kept?: ProcessReading },
    file: string,
    read: ReadProcess<T>,
    isThread: (ask: Ask) => boolean,
  ) {
    this.#ctx = ctx
    this.#files = files
    this.#kept = kept
    this.#file = file
    this.#read = read
    this.#isThread = isThread
  }

  /** Returns the contents, read once per batch and user. */
  of(pid: number, ask: Ask): FileResult<T> {
    const { known } = this.#roundOf(ask)
    const found = known.get(pid)
    if (found !== undefined || known.has(pid)) return found
    const now = this.#now(pid, ask)
    known.set(pid, now)
    return now
  }

  /**
   * Reads files that the kernel generates slowly in other threads. They are opened here with the requester's rights, as the
   * kernel checks permissions on open. Resolves when `of` has them; `of` reads the rest itself.
   */
  prefetch(pids: () => Int32Array, ask: Ask): Promise<void> | undefined {
    if (ask.batch === undefined || !this.#ctx.maySeeProcesses(ask)) return undefined
    const round = this.#roundOf(ask)
    if (round.ahead !== undefined) return round.ahead
    const reading: Promise<void>[] = []
    for (const pid of pids()) {
      if (reading.length === MOST_AHEAD) break
      if (round.known.has(pid)) continue
      const fd = this.#open(pid, ask)
      if (typeof fd === 'number') reading.push(this.#readAhead(fd, pid, round))
      else round.known.set(pid, fd)
    }
    round.ahead = Promise.all(reading).then(() => {})
    this.#prefetched.set(ask.batch, round)
    return round.ahead
  }

  #readAhead(fd: number, pid: number, { known }: Round<T>): Promise<void> {
    const bytes = Buffer.allocUnsafe(AHEAD_SIZE)
    bytes[0] = NEWLINE
    return new Promise((resolve) => {
      read(fd, bytes, 1, AHEAD_SIZE - 1, null, (error, got) => {
        closeSync(fd)
        if (error !== null) known.set(pid, withoutValue(error))
        else if (got < AHEAD_SIZE - 1)
          known.set(
            pid,
            orWithout(() => this.#read({ ...NOTHING, read: () => ({ bytes, end: got + 1 }) }, '', pid)),
          )
        resolve()
      })
    })
  }

  /** Opens the file, or returns the result if that fails. */
  #open(pid: number, ask: Ask): number | FileResult<T> {
    if (this.#isHidden(pid, ask)) return this.#hidden(pid)
    const path = this.#files.path(pid, this.#file, this.#round.threads)
    const open = (): number => openSync(path, 'r')
    return orWithout(() => (this.#ctx.isOwnUser(ask) ? open() : this.#ctx.asRequester(ask, open)))
  }

  #roundOf(ask: Ask): Round<T> {
    const { batch } = ask
    const { credentials } = ask.requester
    const isOfAsker = (round: Round<T>): boolean =>
      round.batch === batch &&
      round.uid === credentials?.uid &&
      round.gid === credentials?.gid &&
      round.user === credentials?.user &&
      round.isGuest === (credentials?.isGuest === true)
    if (batch === undefined || !isOfAsker(this.#round)) {
      const begun = batch && this.#prefetched.get(batch)
      this.#round =
        begun !== undefined && isOfAsker(begun)
          ? begun
          : {
              known: new Map(),
              batch,
              uid: credentials?.uid,
              gid: credentials?.gid,
              user: credentials?.user,
              isGuest: credentials?.isGuest === true,
              threads: this.#isThread(ask),
            }
    }
    return this.#round
  }

  /** The kernel shows a process all of its own files, even with a changed user; other users must not see them. */
  #isOurs(pid: number): boolean {
    return pid === process.pid || (this.#round.threads && existsSync(`/proc/self/task/${pid}`))
  }

  #isHidden(pid: number, ask: Ask): boolean {
    if (!PRIVATE.has(this.#file) || this.#ctx.isOwnUser(ask)) return false
    return this.#ctx.isGuest(ask) || this.#isOurs(pid)
  }

  #hidden(pid: number): FileResult<T> {
    return orWithout(() => this.#read(NOTHING, '', pid))
  }

  #now(pid: number, ask: Ask): FileResult<T> {
    if (this.#isHidden(pid, ask)) return this.#hidden(pid)
    const path = this.#files.path(pid, this.#file, this.#round.threads)
    return orWithout(() =>
      // open file descriptors were opened with this process's own rights
      this.#ctx.isOwnUser(ask) || !this.#ctx.isKnown(ask)
        ? this.#read(this.#kept, path, pid)
        : this.#ctx.asRequester(ask, () => this.#read(this.#files, path, pid)),
    )
  }
}

function orWithout<T>(read: () => T): FileResult<T> {
  try {
    return read()
  } catch (thrown) {
    return withoutValue(thrown)
  }
}

/** Files that the kernel shows only to the owner of a process and to root. */
const PRIVATE: ReadonlySet<string> = new Set([
  ...['io', 'environ', 'maps', 'smaps_rollup', 'fd', 'exe', 'cwd', 'wchan'],
])

/** Result of a failed read: hidden, not in this kernel, or an error. */
function withoutValue(thrown: unknown): PcpError | undefined {
  switch ((thrown as { code?: unknown }).code) {
    case 'EACCES':
    case 'EPERM':
    case 'EINVAL':
    case 'ESRCH': // the process ended, or is a kernel thread without this file
      return undefined
    case 'ENOENT':
      return unsupported()
    case 'ENODATA':
      return new PcpError('PM_ERR_VALUE', (thrown as Error).message)
    default:
      return PcpError.from(thrown)
  }
}
