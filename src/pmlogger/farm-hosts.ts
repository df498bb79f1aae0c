/** The hosts of a farm: lines of its file, which is followed, and what its sources find. docs/reference/pmlogger.md */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { onAbort } from '../base/on-abort.ts'
import { decodeText } from '../base/text.ts'
import { Debounce } from '../discovery/debounce.ts'
import { FollowedSource } from '../discovery/followed.ts'
import type { DiscoveredHost } from '../discovery/host.ts'
import type { HostSource, SourceIo } from '../discovery/source.ts'
import { PcpError } from '../model/errors.ts'
import { entryOf, type FarmEntry, type FarmFile, type FarmSource, parseFarm } from './farm-file.ts'
import type { LoggerLog } from './settings.ts'

/** Environment of a farm's hosts. */
export interface FarmHostsIo extends SourceIo {
  readonly log: LoggerLog
  /** Reads a configuration; throws if it is invalid. */
  readonly check: (config: string) => void
  /** All hosts to record, after a change. */
  readonly changed: (entries: readonly FarmEntry[]) => void
}

/** Interval in milliseconds at which the file is read. */
const LOOK_MS = 2_000
const CALM_MS = 1_000
const MOST_CALM_MS = 5_000

interface Following {
  readonly line: FarmSource
  readonly source: FollowedSource
  readonly end: AbortController
  readonly done: Promise<void>
  /** Hosts of the same source with other options, which stay until its first answer. */
  readonly before: ReadonlyMap<string, DiscoveredHost>
}

export class FarmHosts {
  readonly #path: string
  readonly #io: FarmHostsIo
  #text: string
  #file: FarmFile
  #problem = ''
  readonly #following = new Map<string, Following>()
  readonly #debounce: Debounce

  /** Reads the file. Throws ENOENT, PM_ERR_CONV... naming it. */
  constructor(path: string, io: FarmHostsIo) {
    this.#path = path
    this.#io = io
    this.#text = this.#read()
    this.#file = this.#parse(this.#text)
    const { clock } = io
    this.#debounce = new Debounce(() => io.changed(this.entries()), {
      calmMs: CALM_MS,
      mostMs: MOST_CALM_MS,
      now: () => clock.now(),
    })
  }

  /** Whether the hosts change by themselves, because the file names sources. */
  get hasSources(): boolean {
    return this.#file.sources.length > 0
  }

  /** Follows the file and the sources until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, changed } = this.#io
    this.#follow(signal)
    changed(this.entries())
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal).catch(() => undefined)
      if (!signal.aborted) this.#look(signal)
    }
    this.#debounce.close()
    const ending = [...this.#following.values()]
    for (const { end } of ending) end.abort()
    await Promise.all(ending.map(({ done }) => done))
  }

  /** Returns the hosts. Lines that name a host come first; a host of several sources is recorded by the first of them. */
  entries(): readonly FarmEntry[] {
    const keys = new Set(this.#file.hosts.map(({ key }) => key))
    const found: FarmEntry[] = []
    for (const line of this.#file.sources) {
      for (const [key, host] of hostsOf(this.#following.get(idOf(line)))) {
        if (keys.has(key)) continue
        keys.add(key)
        found.push(entryOf(line, host))
      }
    }
    return [...this.#file.hosts, ...found]
  }

  /** Reads the file again; an invalid file changes nothing. */
  #look(signal: AbortSignal): void {
    try {
      const text = this.#read()
      if (text === this.#text) {
        this.#problem = ''
        return
      }
      this.#file = this.#parse(text)
      this.#text = text
    } catch (error) {
      const { message } = PcpError.from(error)
      if (message !== this.#problem)
        this.#io.log.notice('error', `${message}; the farm file of before stays in use`)
      this.#problem = message
      return
    }
    this.#problem = ''
    this.#io.log.notice('info', `${this.#path}: read again`)
    this.#follow(signal)
    this.#debounce.changed()
  }

  /** Begins to follow new sources, and ends following others. */
  #follow(signal: AbortSignal): void {
    const wanted = new Map(this.#file.sources.map((line) => [idOf(line), line]))
    const before = new Map<string, ReadonlyMap<string, DiscoveredHost>>()
    for (const [id, following] of this.#following) {
      if (wanted.has(id)) continue
      following.end.abort()
      this.#following.delete(id)
      before.set(following.line.text, hostsOf(following))
    }
    for (const [id, line] of wanted)
      if (!this.#following.has(id))
        this.#following.set(id, this.#begin(line, before.get(line.text) ?? new Map(), signal))
  }

  #begin(line: FarmSource, before: ReadonlyMap<string, DiscoveredHost>, signal: AbortSignal): Following {
    const { log, clock } = this.#io
    const source = new FollowedSource(this.#open(line), line, {
      changed: () => {
        if (!end.signal.aborted) this.#debounce.changed()
      },
      say: (level, text) => log.notice(level, `@${line.text}: ${text}`),
      now: () => clock.now(),
    })
    const end = new AbortController()
    const unlink = onAbort(signal, () => end.abort())
    const done = source.run(end.signal).finally(unlink)
    return { line, source, end, done, before }
  }

  #open(line: FarmSource): HostSource {
    const { log } = this.#io
    const say = sayOnce((text) => log.notice('warning', `@${line.text}: ${text}`))
    return line.kind.open(line.argument, line, { ...this.#io, say })
  }

  /** Opens each source too, so that wrong arguments are errors of the file. */
  #parse(text: string): FarmFile {
    const file = parseFarm(text, this.#path)
    for (const { config } of [...file.hosts, ...file.sources]) this.#io.check(config)
    for (const line of file.sources) {
      try {
        this.#open(line)
      } catch (error) {
        throw new PcpError('PM_ERR_CONV', `${this.#path}[line ${line.line}]: ${PcpError.from(error).message}`)
      }
    }
    return file
  }

  #read(): string {
    try {
      return decodeText(readFileSync(resolve(this.#io.cwd, this.#path)))
    } catch (error) {
      const { code, text } = PcpError.from(error)
      throw new PcpError(code, `pmlogger: Cannot open "${this.#path}": ${text}`, { cause: error })
    }
  }
}

function hostsOf(following: Following | undefined): ReadonlyMap<string, DiscoveredHost> {
  if (following === undefined) return new Map()
  const { source, before } = following
  return source.hasAnswered ? source.hosts : before
}

/** Changed options are another source. */
function idOf({ kind, line: _, ...rest }: FarmSource): string {
  return JSON.stringify({ ...rest, kind: kind.name })
}

/** Most different texts that are remembered, so that sources repeat nothing at each look. */
const MOST_TEXTS = 1000

function sayOnce(say: (text: string) => void): (text: string) => void {
  const told = new Set<string>()
  return (text) => {
    if (told.has(text)) return
    if (told.size >= MOST_TEXTS) told.clear()
    told.add(text)
    say(text)
  }
}
