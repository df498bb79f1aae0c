/** The files of single processes below /proc/PID: each read when first asked for, and once a fetch. proc(5) */
import { closeSync, existsSync, openSync, read, readdirSync, readlinkSync, readSync } from 'node:fs'
import { type Outcome, PcpError } from '../../model/errors.ts'
import type { Ask } from '../../model/source.ts'
import { rooted } from '../../sys/proc.ts'
import type { ProcContext } from './context.ts'
import { unsupported } from './sample.ts'

const NEWLINE = 0x0a
/** No file of a process is larger, but for the maps of the strangest. */
const MAX_SIZE = 16 * 1024 * 1024

/** A file's content in a buffer that the next reading uses again. */
export interface Content {
  /** Begins with a newline that is not the file's, so that every line of the file has one before it. */
  readonly bytes: Buffer
  /** Where the content ends; it begins at 1. */
  readonly end: number
}

/** How files of processes are read. */
export interface ProcessReading {
  read(path: string): Content
  readPieces(path: string): Content
  link(path: string): string
  count(path: string): number
}

/** For files that are not for who asks. */
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

  /** The path of a process's file; of a thread's own file when it is asked for as a thread. */
  path(pid: number, file: string, isThread: boolean): string {
    return isThread ? `${this.#base}/${pid}/task/${pid}/${file}` : `${this.#base}/${pid}/${file}`
  }

  /** A file that the kernel gives in one piece, which is every one but maps. Throws Node's error (ENOENT, EACCES, ESRCH...). */
  read(path: string): Content {
    const fd = openSync(path, 'r')
    try {
      return this.readFrom(fd, path)
    } finally {
      closeSync(fd)
    }
  }

  /** As `read`, from the start of a file that is open. */
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

  /** A file that may come in several pieces. Throws as `read` does. */
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

  /** Where a symbolic link points to. Throws as `read` does. */
  link(path: string): string {
    return readlinkSync(path)
  }

  /** How many entries a directory has. Throws as `read` does. */
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

/** What a file says of a process; undefined when it says nothing to who asks. */
export type Known<T> = Outcome<T> | undefined

/** Reads one kind of file: gets the path of the process's file. */
export type ReadProcess<T> = (files: ProcessReading, path: string, pid: number) => T

/** No more files are open for other threads to read at once. */
const MOST_AHEAD = 512
/** One that is longer is read again when it is asked for. */
const AHEAD_SIZE = 4096

/** What is known of a moment, for one user. */
interface Round<T> {
  readonly known: Map<number, Known<T>>
  readonly moment: object | undefined
  readonly uid: number | undefined
  readonly gid: number | undefined
  readonly user: string | undefined
  readonly isGuest: boolean
  readonly threads: boolean
  /** Files that other threads read for it. */
  ahead?: Promise<void>
}

/** One kind of file, of every process somebody asks about. */
export class PerProcess<T> {
  readonly #ctx: ProcContext
  readonly #files: ProcessFiles
  readonly #kept: ProcessReading
  readonly #file: string
  readonly #read: ReadProcess<T>
  readonly #isThread: (ask: Ask) => boolean
  #round: Round<T> = {
    known: new Map(),
    moment: undefined,
    uid: undefined,
    gid: undefined,
    user: undefined,
    isGuest: false,
    threads: false,
  }
  /** Rounds whose files other threads read: other requests may come before that is over. */
  readonly #aheadAt = new WeakMap<object, Round<T>>()

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

  /** What it says, read once a moment for one user. */
  of(pid: number, ask: Ask): Known<T> {
    const { known } = this.#roundOf(ask)
    const found = known.get(pid)
    if (found !== undefined || known.has(pid)) return found
    const now = this.#now(pid, ask)
    known.set(pid, now)
    return now
  }

  /**
   * Has other threads read the files of these processes, for files the kernel takes long for. They are opened here, with
   * the rights of who asks: it is then that the kernel decides. Resolves when `of` knows them; what it does not, it reads.
   */
  ahead(pids: () => Int32Array, ask: Ask): Promise<void> | undefined {
    if (ask.moment === undefined || !this.#ctx.mayLook(ask)) return undefined
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
    this.#aheadAt.set(ask.moment, round)
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

  /** The descriptor, or what is known without one. */
  #open(pid: number, ask: Ask): number | Known<T> {
    if (this.#isHidden(pid, ask)) return this.#hidden(pid)
    const path = this.#files.path(pid, this.#file, this.#round.threads)
    const open = (): number => openSync(path, 'r')
    return orWithout(() => (this.#ctx.isOurUser(ask) ? open() : this.#ctx.asRequester(ask, open)))
  }

  #roundOf(ask: Ask): Round<T> {
    const { moment } = ask
    const { credentials } = ask.requester
    const isOfAsker = (round: Round<T>): boolean =>
      round.moment === moment &&
      round.uid === credentials?.uid &&
      round.gid === credentials?.gid &&
      round.user === credentials?.user &&
      round.isGuest === (credentials?.isGuest === true)
    if (moment === undefined || !isOfAsker(this.#round)) {
      const begun = moment && this.#aheadAt.get(moment)
      this.#round =
        begun !== undefined && isOfAsker(begun)
          ? begun
          : {
              known: new Map(),
              moment,
              uid: credentials?.uid,
              gid: credentials?.gid,
              user: credentials?.user,
              isGuest: credentials?.isGuest === true,
              threads: this.#isThread(ask),
            }
    }
    return this.#round
  }

  /** The kernel shows a process all of itself, whatever user it is for the moment; other users may not see that. */
  #isOurs(pid: number): boolean {
    return pid === process.pid || (this.#round.threads && existsSync(`/proc/self/task/${pid}`))
  }

  #isHidden(pid: number, ask: Ask): boolean {
    if (!PRIVATE.has(this.#file) || this.#ctx.isOurUser(ask)) return false
    return this.#ctx.isGuest(ask) || this.#isOurs(pid)
  }

  #hidden(pid: number): Known<T> {
    return orWithout(() => this.#read(NOTHING, '', pid))
  }

  #now(pid: number, ask: Ask): Known<T> {
    if (this.#isHidden(pid, ask)) return this.#hidden(pid)
    const path = this.#files.path(pid, this.#file, this.#round.threads)
    return orWithout(() =>
      // what is open is open as ourselves
      this.#ctx.isOurUser(ask) || !this.#ctx.isKnown(ask)
        ? this.#read(this.#kept, path, pid)
        : this.#ctx.asRequester(ask, () => this.#read(this.#files, path, pid)),
    )
  }
}

function orWithout<T>(read: () => T): Known<T> {
  try {
    return read()
  } catch (thrown) {
    return withoutValue(thrown)
  }
}

/** Files that the kernel shows to the owner of a process and to root. */
const PRIVATE: ReadonlySet<string> = new Set([
  ...['io', 'environ', 'maps', 'smaps_rollup', 'fd', 'exe', 'cwd', 'wchan'],
])

/** What a failed reading is for a metric: nothing to see, not in this kernel, or an error. */
function withoutValue(thrown: unknown): PcpError | undefined {
  switch ((thrown as { code?: unknown }).code) {
    case 'EACCES':
    case 'EPERM':
    case 'EINVAL':
    case 'ESRCH': // the process ended, or is the kernel's own and has nothing of the kind
      return undefined
    case 'ENOENT':
      return unsupported()
    case 'ENODATA':
      return new PcpError('PM_ERR_VALUE', (thrown as Error).message)
    default:
      return PcpError.from(thrown)
  }
}
