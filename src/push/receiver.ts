/** Receives pushed archives: their numbers, names, expiry and limits. docs/reference/pmproxy.md, docs/decisions/push.md */
import { createHash, randomInt, randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { type Disk, nodeDisk } from '../sys/disk.ts'
import { checkLabel, pushedName } from './label-check.ts'
import { type HostLimits, HostQuota } from './quota.ts'
import {
  type ArchiveState,
  type PushedBytes,
  ReceivedArchive,
  readState,
  writeState,
} from './received-archive.ts'
import { syncDirectory } from './received-files.ts'

/** Settings of a receiver. */
export interface ReceiverOptions {
  /** Directory with a subdirectory per host. */
  readonly directory: string
  readonly limits: HostLimits
  /** Archives in progress. */
  readonly maxArchives: number
  /** Milliseconds without a post until an archive's number expires, unless its sender sets it. */
  readonly timeoutMs: number
  /** Mode of files. Default 0o640. */
  readonly mode?: number
  /** Default: the disk of this machine. */
  readonly disk?: Disk
  /** Wall clock, with which the ages of files are compared. */
  readonly nowMs?: () => number
  /** Logs a failure that no sender gets. */
  readonly log?: (text: string) => void
}

/** A request to begin or to continue an archive. */
export interface PushedLabel {
  readonly label: Uint8Array
  /** Who sends. */
  readonly owner: string
  /** Checks whether the sender may push archives of a host. */
  readonly allows: (host: string) => boolean
  /** The sender's own name of the archive, by which it continues it; undefined for a sender without resumption. */
  readonly id: string | undefined
  readonly timeoutMs: number | undefined
}

/** An archive and its number. */
export interface Begun {
  readonly number: number
  /** Bytes received for each file, labels included. */
  readonly sizes: Readonly<Record<string, number>>
  /** Everything was received before. */
  readonly isFinished: boolean
}

interface Session {
  readonly archive: ReceivedArchive
  readonly owner: string
  readonly timeoutMs: number
  untilMs: number
}

/** Archives of one name and minute; 7.x has as many. */
const MAX_SUFFIX = 100
const MAX_NUMBER = 0x7fff_ffff
/** A first post may take this long, as in 7.x, where the timeout begins with it. */
const FIRST_POST_MS = 600_000
const MAX_TIMEOUT_MS = 24 * 3_600_000
/** How long the state of a finished archive is kept, for a sender that did not get the last answer. */
const FINISHED_MS = 7 * 24 * 3_600_000
/** How long the state of an archive in progress is kept. */
const ABANDONED_MS = 60 * 24 * 3_600_000

/** Receives archives into a directory. */
export class PushReceiver {
  readonly #options: ReceiverOptions
  readonly #disk: Disk
  readonly #nowMs: () => number
  readonly #quota: HostQuota
  readonly #sessions = new Map<number, Session>()
  #queue: Promise<unknown> = Promise.resolve()

  constructor(options: ReceiverOptions) {
    this.#options = options
    this.#disk = options.disk ?? nodeDisk
    this.#nowMs = options.nowMs ?? ((): number => Date.now())
    this.#quota = new HostQuota(this.#disk, options.directory, options.limits, this.#nowMs)
  }

  /** Repairs archives that an earlier process left, for their readers, and forgets old ones. Failures are logged. */
  recover(): Promise<void> {
    return this.#exclusively(async () => {
      const directory = join(this.#options.directory, '.push')
      if (this.#disk.lstat(directory) === undefined) return
      for (const file of this.#disk.list(directory)) {
        const [, id] = /^(.+)\.json$/.exec(file) ?? []
        if (id === undefined) continue
        try {
          await this.#repair(id, join(directory, file))
        } catch (error) {
          const { code, message } = PcpError.from(error)
          if (code !== 'ESTALE') this.#options.log?.(`Pushed archive ${id}: ${message}`)
        }
      }
    })
  }

  /** Archives in progress. */
  get count(): number {
    return this.#sessions.size
  }

  /**
   * Begins an archive, or continues one that this sender began. Errors of `checkLabel`, quotas and the disk, PM_ERR_PERMISSION for
   * another host's archive, EBUSY for too many archives.
   */
  async label(pushed: PushedLabel): Promise<Begun> {
    const { hostname } = checkLabel(pushed.label)
    if (!pushed.allows(hostname))
      throw new PcpError('PM_ERR_PERMISSION', `This sender may not push archives of ${hostname}`)
    return this.#exclusively(() => this.#label(pushed))
  }

  /** Appends bytes to an archive; resolves to the size of the file. ESRCH for an unknown or expired number. */
  async append(number: number, owner: string, bytes: PushedBytes): Promise<number> {
    const { archive } = this.#use(number, owner)
    try {
      return await archive.append(bytes, (count) => this.#quota.admitBytes(archive.host, count))
    } finally {
      this.#touch(number)
    }
  }

  /** Returns the sizes of an archive's files. ESRCH for an unknown or expired number. */
  sizes(number: number, owner: string): Readonly<Record<string, number>> {
    return this.#use(number, owner).archive.sizes
  }

  /** Ends an archive whose files have these sizes; resolves to whether they have. ESRCH for an unknown or expired number. */
  async finish(number: number, owner: string, sizes: Readonly<Record<string, number>>): Promise<boolean> {
    const isDone = await this.#use(number, owner).archive.finish(sizes)
    if (isDone) this.#sessions.delete(number)
    return isDone
  }

  #use(number: number, owner: string): Session {
    const session = this.#sessions.get(number)
    if (session !== undefined && session.untilMs <= this.#nowMs()) this.#sessions.delete(number)
    else if (session?.owner === owner) {
      this.#touch(number)
      return session
    }
    throw new PcpError('ESRCH', `No archive ${number} is in progress: begin with a label`)
  }

  #touch(number: number): void {
    const session = this.#sessions.get(number)
    if (session !== undefined) session.untilMs = this.#nowMs() + session.timeoutMs
  }

  async #label(pushed: PushedLabel): Promise<Begun> {
    const now = this.#nowMs()
    for (const [number, { untilMs }] of this.#sessions) if (untilMs <= now) this.#sessions.delete(number)
    const id = pushed.id === undefined ? randomUUID() : idOf(pushed.owner, pushed.id)
    for (const [number, { archive }] of this.#sessions)
      if (archive.state.id === id) {
        insistOnLabel(archive.state, pushed)
        this.#touch(number)
        return { number, sizes: archive.sizes, isFinished: false }
      }
    const state = pushed.id === undefined ? undefined : readState(this.#disk, this.#options.directory, id)
    if (state !== undefined) insistOnLabel(state, pushed)
    const number = this.#newNumber()
    if (state?.phase === 'finished') return { number, sizes: {}, isFinished: true }
    if (this.#sessions.size >= this.#options.maxArchives)
      throw new PcpError(
        'EBUSY',
        `${this.#sessions.size} archives are being pushed, the limit of this server`,
      )
    const archive = (await this.#continue(state)) ?? (await this.#begin(id, pushed))
    const timeoutMs = Math.min(pushed.timeoutMs ?? this.#options.timeoutMs, MAX_TIMEOUT_MS)
    const untilMs = now + Math.max(timeoutMs, FIRST_POST_MS)
    this.#sessions.set(number, { archive, owner: pushed.owner, timeoutMs, untilMs })
    return { number, sizes: archive.sizes, isFinished: false }
  }

  async #continue(state: ArchiveState | undefined): Promise<ReceivedArchive | undefined> {
    if (state === undefined) return undefined
    try {
      return await this.#open(state)
    } catch (error) {
      // Removed here before it was complete: the sender starts again rather than losing the rest.
      if (PcpError.from(error).code === 'ESTALE') return undefined
      throw error
    }
  }

  async #begin(id: string, { label, owner, id: given }: PushedLabel): Promise<ReceivedArchive> {
    const { directory } = this.#options
    const decoded = checkLabel(label)
    const host = decoded.hostname
    this.#quota.admitArchive(host)
    await this.#makeDirectory(join(directory, '.push'))
    await this.#makeDirectory(join(directory, host))
    const name = this.#freeName(host, pushedName(decoded))
    const state: ArchiveState = { id, owner, name, label, phase: 'named', canResend: given !== undefined }
    await writeState(this.#disk, directory, state)
    return this.#open(state)
  }

  #open(state: ArchiveState): Promise<ReceivedArchive> {
    return ReceivedArchive.open(this.#disk, this.#options.directory, state, this.#options.mode ?? 0o640)
  }

  #freeName(host: string, name: string): string {
    const taken = new Set(this.#disk.list(join(this.#options.directory, host)).map((file) => baseOf(file)))
    for (let i = 0; i < MAX_SUFFIX; i++) {
      const numbered = i === 0 ? name : `${name}-${String(i).padStart(2, '0')}`
      if (!taken.has(numbered)) return `${host}/${numbered}`
    }
    throw new PcpError('EEXIST', `${host} has ${MAX_SUFFIX} archives that begin at ${name}`)
  }

  #newNumber(): number {
    for (;;) {
      const number = randomInt(1, MAX_NUMBER)
      if (!this.#sessions.has(number)) return number
    }
  }

  async #makeDirectory(path: string): Promise<void> {
    const stat = this.#disk.lstat(path)
    if (stat?.isDirectory === true) return
    if (stat !== undefined) throw new PcpError('ENOTDIR', `${path} is not a directory`)
    this.#disk.mkdir(path, 0o750)
    await syncDirectory(this.#disk, dirname(path))
  }

  async #repair(id: string, path: string): Promise<void> {
    const state = readState(this.#disk, this.#options.directory, id)
    const age = this.#nowMs() - this.#disk.lstat(path)!.mtimeMs
    const isOld = age > (state?.phase === 'finished' ? FINISHED_MS : ABANDONED_MS)
    if (state === undefined || isOld) return this.#forget(id)
    if (state.phase === 'begun') await this.#open(state)
  }

  #forget(id: string): void {
    const directory = join(this.#options.directory, '.push')
    for (const file of this.#disk.list(directory))
      if (file.startsWith(`${id}.`)) this.#disk.unlink(join(directory, file))
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => undefined)
    return done
  }
}

/** Returns the name of an archive's state: a sender cannot guess or choose the name of another sender's. */
function idOf(owner: string, id: string): string {
  return createHash('sha256').update(`${owner}\n${id}`).digest('hex').slice(0, 40)
}

function insistOnLabel(state: ArchiveState, { label }: PushedLabel): void {
  if (Buffer.compare(state.label, label) !== 0)
    throw new PcpError('EEXIST', 'Another archive was pushed under this id')
}

/** Returns the archive name of a file: without `.meta`, `.0.xz`... */
function baseOf(file: string): string {
  return /^(.*)\.(?:meta|index|\d{1,9})(?:\.[a-z]\w*)?$/.exec(file)?.[1] ?? file
}
