/**
 * A directory of archives that are pushed while and after they are recorded, and removed when the server has them. The archive is the queue:
 *
 *     NAME.meta, .index, .0    recorded by pmlogger
 *     NAME.push                the sender's name of the archive, written before anything is sent
 *     lock                     held by the process that records and pushes
 *
 * docs/decisions/push.md
 */
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Backoff, doublingDelays } from '../base/backoff.ts'
import { PcpError } from '../model/errors.ts'
import { archiveFiles } from '../sys/archive-files.ts'
import { nodeDisk } from '../sys/disk.ts'
import { type FileLock, takeLock } from '../sys/file-lock.ts'
import { makeDir } from '../sys/make-dir.ts'
import type { PushAnswer, PushRequests } from './client.ts'
import { parsePart } from './label-check.ts'
import { replaceDurably } from './received-files.ts'
import { ArchiveSender, isFinal } from './sender.ts'
import { SentArchive } from './sent-archive.ts'

/** Time, as an interface for tests. */
export interface SpoolClock {
  /** Wall clock, with which the ages of files are compared. */
  nowMs(): number
  /** Waits; returns early when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** Settings of a spool. */
export interface SpoolOptions {
  readonly directory: string
  readonly requests: PushRequests
  /** Bytes kept while the server is away; beyond, the oldest archives are dropped. */
  readonly maxBytes: number
  /** Age of the oldest archive kept, in milliseconds since its last record. */
  readonly maxAgeMs: number
  readonly clock: SpoolClock
  readonly log: (level: 'info' | 'warning' | 'error', text: string) => void
}

/** An archive in the spool. */
interface Spooled {
  readonly name: string
  readonly archive: SentArchive
  readonly sender: ArchiveSender
  /** Whether it is still recorded. */
  isLive: boolean
  /** Why pushing it cannot succeed; it stays until it is too old, for the administrator. */
  failure: string | undefined
}

/** Interval at which new records are sent. */
const INTERVAL_MS = 1000
const DELAYS = doublingDelays(1000, 60_000)
const UNAUTHORIZED = 401

/** Pushes the archives of a directory, oldest first. */
export class Spool {
  readonly #options: SpoolOptions
  readonly #lock: FileLock
  readonly #archives: Spooled[] = []
  readonly #closing = new AbortController()
  /** The server is away or does not know this sender, so the next archive would fail too. */
  #isHopeless = false
  #work: Promise<void> | undefined
  #failing: string | undefined

  private constructor(options: SpoolOptions, lock: FileLock) {
    this.#options = options
    this.#lock = lock
  }

  /** Opens a spool with what an earlier process left. EBUSY if another process uses it, and errors of the directory. */
  static async open(options: SpoolOptions): Promise<Spool> {
    const { directory } = options
    makeDir(directory, 0o750)
    const lock = await takeLock(join(directory, 'lock'), { limitMs: 0 })
    if (lock === undefined) throw new PcpError('EBUSY', `${directory} is used by another recorder`)
    const spool = new Spool(options, lock)
    const names = archivesIn(directory)
    for (const file of readdirSync(directory)) {
      const [, name] = /^(.*)\.push$/.exec(file) ?? []
      if (name !== undefined && !names.includes(name)) rmSync(join(directory, file))
    }
    for (const name of names) await spool.#add(name, false)
    return spool
  }

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#archives.reduce((sum, each) => sum + this.#sizeOf(each), 0)
  }

  /** Archives that are kept. */
  get count(): number {
    return this.#archives.length
  }

  /** Adds an archive whose recording has begun; `name` is its base name. */
  async begin(name: string): Promise<void> {
    await this.#add(name, true)
  }

  /** Notes the end of a recording. */
  ended(name: string): void {
    for (const each of this.#archives) if (each.name === name) each.isLive = false
  }

  /** Begins to push, until `close`. */
  start(): void {
    this.#work ??= this.#run()
  }

  /** Sends once what the server lacks, also of archives after a refused one; throws the first failure that may pass. */
  async flush(): Promise<void> {
    this.#drop()
    this.#isHopeless = false
    const failures: unknown[] = []
    for (const each of [...this.#archives]) {
      if (each.failure !== undefined) continue
      try {
        await this.#push(each)
      } catch (error) {
        if (isFinal(error)) {
          each.failure = PcpError.from(error).message
          this.#options.log(
            'error',
            `${each.name} cannot be pushed and stays in ${this.#options.directory}: ${each.failure}`,
          )
          continue
        }
        failures.push(error)
        if (this.#isHopeless) break
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Stops pushing after a last attempt, if the server answers; what it lacks stays for the next process. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#work
    try {
      await this.flush()
    } catch {
      // reported below
    }
    const { log, directory } = this.#options
    if (this.#archives.length > 0)
      log('warning', `${this.bytes} bytes of records stay in ${directory} until a recorder pushes them`)
    for (const { archive } of this.#archives) archive.close()
    this.#lock.release()
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#closing
    const backoff = new Backoff({ delaysMs: DELAYS })
    while (!signal.aborted) {
      let waitMs = INTERVAL_MS
      try {
        await this.flush()
        backoff.succeeded(clock.nowMs())
        if (this.#failing !== undefined) log('info', 'Records are pushed again')
        this.#failing = undefined
      } catch (error) {
        const { code, message } = PcpError.from(error)
        // The server forgot the number of the archive: a new label suffices.
        if (code === 'ESRCH' && this.#failing === undefined) waitMs = 0
        else waitMs = backoff.failed(clock.nowMs())
        if (waitMs > 0 && this.#failing !== message)
          log('warning', `Records stay in ${this.#options.directory}, because pushing failed: ${message}`)
        this.#failing = message
      }
      await clock.sleep(waitMs, signal)
    }
  }

  async #push(each: Spooled): Promise<void> {
    if (each.isLive) {
      await each.sender.send()
      return
    }
    if (each.archive.label() !== undefined) await each.sender.finish()
    this.#remove(each)
  }

  /** Drops the oldest archives beyond the limits. */
  #drop(): void {
    const { maxBytes, maxAgeMs, clock, log } = this.#options
    let bytes = this.bytes
    for (const each of [...this.#archives]) {
      const size = this.#sizeOf(each)
      const isOld = clock.nowMs() - this.#lastMs(each) > maxAgeMs
      if (each.isLive || (bytes <= maxBytes && !isOld)) continue
      const why = isOld ? 'it is too old' : `the spool has more than ${maxBytes} bytes`
      log(
        'error',
        `Records are lost: ${each.name}, ${size} bytes, was dropped before the server had all of it: ${why}`,
      )
      bytes -= size
      this.#remove(each)
    }
  }

  #lastMs(each: Spooled): number {
    return Math.max(0, ...this.#filesOf(each).map((path) => statSync(path).mtimeMs))
  }

  #sizeOf(each: Spooled): number {
    return this.#filesOf(each).reduce((sum, path) => sum + statSync(path).size, 0)
  }

  #filesOf({ name }: Spooled): string[] {
    const { directory } = this.#options
    return readdirSync(directory)
      .filter((file) => file.startsWith(`${name}.`) && parsePart(file.slice(name.length + 1)) !== undefined)
      .map((file) => join(directory, file))
  }

  /** Removes the metadata first: without it, an interrupted removal is completed by the next process. */
  #remove(each: Spooled): void {
    each.archive.close()
    this.#archives.splice(this.#archives.indexOf(each), 1)
    const base = join(this.#options.directory, each.name)
    rmSync(`${base}.meta`, { force: true })
    for (const path of this.#filesOf(each)) rmSync(path)
    rmSync(`${base}.push`, { force: true })
  }

  async #add(name: string, isLive: boolean): Promise<void> {
    const base = join(this.#options.directory, name)
    const id = await senderId(`${base}.push`, isLive)
    const archive = new SentArchive(base, archiveFiles())
    const sender = new ArchiveSender(archive, { post: (...request) => this.#post(...request) }, { id })
    this.#archives.push({ name, archive, sender, isLive, failure: undefined })
  }

  async #post(...request: Parameters<PushRequests['post']>): Promise<PushAnswer> {
    this.#isHopeless = true
    const answer = await this.#options.requests.post(...request)
    this.#isHopeless = answer.status === UNAUTHORIZED
    return answer
  }
}

/** Returns the stored id of an archive; a new one for a new archive. */
async function senderId(path: string, isNew: boolean): Promise<string> {
  if (!isNew && existsSync(path)) return readFileSync(path, 'utf8').trim()
  const id = randomUUID()
  await replaceDurably(nodeDisk, path, Buffer.from(`${id}\n`))
  return id
}

/** Returns the names of archives in a directory, oldest first. Files without metadata are the rest of a removed archive. */
function archivesIn(directory: string): string[] {
  const names = new Map<string, number>()
  for (const file of readdirSync(directory)) {
    const [, name, part = ''] = /^(.*)\.(\w+)$/.exec(file) ?? []
    if (name === undefined || parsePart(part) === undefined) continue
    if (!existsSync(join(directory, `${name}.meta`))) rmSync(join(directory, file))
    else names.set(name, statSync(join(directory, `${name}.meta`)).birthtimeMs)
  }
  return [...names].sort(([a, aMs], [b, bMs]) => aMs - bMs || (a < b ? -1 : 1)).map(([name]) => name)
}
