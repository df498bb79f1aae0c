/**
 * Kills a recorder that pushes 100 records per second, and the server that receives them, and cuts their connection. Afterwards the
 * server has every complete record of the recorder's files, byte by byte.
 */
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../../../bench/macro/lib/free-port.ts'
import { labelSize } from '../../../src/archive/label.ts'
import { indexEntrySize } from '../../../src/archive/temporal-index.ts'
import { wholeRecords } from '../../../src/push/whole-records.ts'
import { generator } from '../generator.ts'
import { Changes } from './changes.ts'
import { problemsOfCounts, readCounts } from './counts.ts'
import type { KillOptions, KillReport } from './kill-rounds.ts'
import { makePlace, type Place, removePlace } from './place.ts'
import { ProcessGroup } from './process-group.ts'
import { startCollector, writeSettings } from './recorder.ts'

const HOST = 'db1'
const TOKEN = 'a-token-for-tests-only'
const KINDS = ['recorder', 'server', 'both', 'connection'] as const
/** Largest number of changes at either side before a kill. */
const MAX_SPOOLED = 200
const MAX_RECEIVED = 12
const KILLS_OF_ROUND = 5
/** Recorders at the end of a round, of which one must reach the server. */
const MAX_LAST = 5
const LABEL = labelSize(3)

/** Totals of all rounds. */
export interface PushReport extends KillReport {
  readonly records: number
  /** Files of which the server has every byte. */
  readonly files: number
}

/** Kills either end, or cuts the connection, `kills` times. */
export async function killPush(
  programs: string,
  { kills, seed, onProgress = () => {} }: KillOptions,
): Promise<PushReport> {
  const place = makePlace(programs)
  writeSettings(place)
  writeFileSync(join(place.top, 'tokens'), `${TOKEN} ${HOST}\n`, { mode: 0o600 })
  const port = await freePort()
  const collector = await startCollector(place, port)
  const totals = { kills: 0, rounds: 0, records: 0, files: 0 }
  const kinds: Record<string, number> = {}
  const failures: string[] = []
  try {
    while (totals.kills < kills && failures.length === 0) {
      const number = ++totals.rounds
      const due = Math.min(KILLS_OF_ROUND, kills - totals.kills)
      const next = generator(seed * 1_000_003 + number)
      const round = await PushRound.begin(place, number, port)
      const done: string[] = []
      try {
        for (let i = 0; i < due; i++) {
          // Every kind in turn, so that few rounds have all of them.
          const kind = KINDS[(totals.kills + seed) % KINDS.length]!
          done.push(await round.kill(kind, next))
          kinds[kind] = (kinds[kind] ?? 0) + 1
          totals.kills++
        }
        const problems = await round.end()
        totals.records += round.records
        totals.files += round.files
        if (problems.length > 0)
          failures.push(
            `push: round ${number}: ${done.join(', ')}:\n  ${problems.join('\n  ')}\n${round.log()}`,
          )
      } finally {
        await round.close()
      }
      onProgress(totals.kills)
    }
    return { ...totals, kinds, failures }
  } finally {
    collector.kill('group')
    await collector.ended()
    removePlace(place)
  }
}

/** A recorder, a server, and the connection between them. */
class PushRound {
  records = 0
  files = 0
  readonly #place: Place
  readonly #spool: string
  readonly #received: string
  readonly #keep: Keep
  readonly #relay: Relay
  readonly #collectorPort: number
  readonly #serverPort: number
  readonly #config: string
  #recorder: ProcessGroup | undefined
  #server: ProcessGroup
  #recorders = 0

  private constructor(place: Place, number: number, collectorPort: number, serverPort: number, relay: Relay) {
    this.#place = place
    this.#collectorPort = collectorPort
    this.#serverPort = serverPort
    this.#relay = relay
    this.#spool = join(place.top, `spool${number}`)
    this.#received = join(place.top, `received${number}`)
    for (const dir of [this.#spool, join(this.#received, HOST), join(this.#received, '.push')])
      mkdirSync(dir, { recursive: true })
    this.#config = join(place.top, `pmproxy${number}.conf`)
    writeFileSync(
      this.#config,
      `[pmlogger]\nenabled = true\ntokens = ${join(place.top, 'tokens')}\ndirectory = ${this.#received}\n`,
    )
    this.#keep = new Keep(this.#spool, join(place.top, `kept${number}`))
    this.#server = this.#startServer()
  }

  static async begin(place: Place, number: number, collectorPort: number): Promise<PushRound> {
    const serverPort = await freePort()
    return new PushRound(place, number, collectorPort, serverPort, await Relay.open(serverPort))
  }

  /** Kills at a random moment, and restarts the killed processes; resolves to a description. */
  async kill(kind: (typeof KINDS)[number], next: (below: number) => number): Promise<string> {
    if (this.#recorder === undefined) this.#recorder = this.#startRecorder()
    const recorder = this.#recorder
    // Changes at the recorder come with records, those at the server with posts.
    const atSpool = kind === 'recorder' && next(2) === 0
    const at = 1 + next(atSpool ? MAX_SPOOLED : MAX_RECEIVED)
    if (kind === 'connection') {
      const bytes = next(30_000)
      await this.#relay.cutAfter(bytes)
      return `connection cut after ${bytes} bytes`
    }
    const server = this.#server
    const hit = (): void => {
      if (kind !== 'server') recorder.kill('group')
      if (kind !== 'recorder') server.kill('group')
    }
    const dirs = atSpool ? [this.#spool] : [join(this.#received, HOST), join(this.#received, '.push')]
    const changes = new Changes(dirs, (count) => count === at && hit())
    const killed = [...(kind === 'server' ? [] : [recorder]), ...(kind === 'recorder' ? [] : [server])]
    await Promise.all(killed.map((group) => group.ended()))
    changes.close()
    if (kind !== 'recorder') this.#server = this.#startServer()
    if (kind !== 'server') this.#recorder = this.#startRecorder()
    return `${kind} at change ${at} of the ${atSpool ? 'spool' : 'server'}`
  }

  /** Records to an orderly end, which pushes everything. Resolves to the problems. */
  async end(): Promise<string[]> {
    this.#recorder?.kill('group')
    await this.#recorder?.ended()
    for (let i = 0; i < MAX_LAST; i++) {
      this.#recorder = this.#startRecorder('-s', '20')
      await this.#recorder.ended()
      if (readdirSync(this.#spool).length === 0) break
    }
    const left = readdirSync(this.#spool)
    return [...left.map((name) => `${name} is left in the spool`), ...this.#check()]
  }

  log(): string {
    return readFileSync(join(this.#place.top, 'output'), 'utf8')
  }

  async close(): Promise<void> {
    for (const group of [this.#recorder, this.#server]) {
      group?.kill('group')
      await group?.ended()
    }
    this.#keep.close()
    this.#relay.close()
  }

  #startServer(): ProcessGroup {
    const socket = join(this.#place.top, 'pmproxy.socket')
    const args = ['-f', '-p', String(this.#serverPort), '-s', socket, '-c', this.#config, '-l', '-']
    return this.#start('pmproxy', args)
  }

  #startRecorder(...more: readonly string[]): ProcessGroup {
    const { top } = this.#place
    const credentials = join(top, 'credentials')
    writeFileSync(credentials, TOKEN, { mode: 0o600 })
    this.#recorders++
    return this.#start('pmlogger', [
      ...['-h', `localhost:${this.#collectorPort}`, '-c', join(top, 'l.conf'), '-l', '-', '-v', '20'],
      ...['-H', HOST, '-d', this.#spool, '--credentials', credentials, ...more],
      `http://127.0.0.1:${this.#relay.port}/`,
    ])
  }

  #start(program: string, args: readonly string[]): ProcessGroup {
    const { top, env, programs } = this.#place
    return new ProcessGroup(join(programs, program), args, {
      cwd: top,
      env: { ...env, PMLOGGER_LOCAL: '1', PMLOGGER_PORT: '0' },
      log: join(top, 'output'),
    })
  }

  #check(): string[] {
    const directory = join(this.#received, HOST)
    const problems: string[] = []
    const counts: number[] = []
    const byLabel = new Map<string, string>()
    for (const name of readdirSync(directory).filter((each) => each.endsWith('.meta'))) {
      const base = join(directory, name.slice(0, -'.meta'.length))
      const label = labelOf(readFileSync(`${base}.meta`))
      if (byLabel.has(label)) problems.push(`${name} was received twice`)
      byLabel.set(label, base)
      const read = readCounts(base)
      counts.push(...read.counts)
      problems.push(...read.problems.map((problem) => `${name}: ${problem}`))
    }
    this.records = counts.length
    for (const [part, bytes] of this.#keep.files()) {
      if (bytes.length < LABEL) continue // killed while its label was written
      const base = byLabel.get(labelOf(bytes))
      const path = `${base}.${part}`
      const whole = LABEL + wholeBytes(part, bytes.subarray(LABEL))
      if (base === undefined || !existsSync(path)) problems.push(`no file for ${part} of ${whole} bytes`)
      else if (!readFileSync(path).equals(bytes.subarray(0, whole)))
        problems.push(`${path} differs from the recorded file`)
      else this.files++
    }
    return [...problems, ...problemsOfCounts(counts, this.#recorders)]
  }
}

/** Identifies an archive: its label without the number of the file. */
function labelOf(bytes: Buffer): string {
  const label = Buffer.from(bytes.subarray(0, LABEL))
  label.fill(0, 24, 28)
  return label.toString('latin1')
}

/** Returns the bytes of complete records; a kill leaves an incomplete one. */
function wholeBytes(part: string, bytes: Buffer): number {
  const entry = indexEntrySize(3)
  return part === 'index' ? Math.floor(bytes.length / entry) * entry : wholeRecords(bytes)
}

/** Links every archive file of a directory elsewhere, before it is removed. */
class Keep {
  readonly #from: string
  readonly #to: string
  readonly #watcher: ReturnType<typeof watch>
  readonly #names = new Map<string, number>()

  constructor(from: string, to: string) {
    this.#from = from
    this.#to = to
    mkdirSync(to)
    this.#watcher = watch(from, (event, name) => {
      if (event === 'rename' && name !== null && /\.(?:meta|index|\d+)$/.test(name)) this.#link(name)
    })
  }

  close(): void {
    this.#watcher.close()
  }

  /** The content of each file, by its part. */
  files(): [string, Buffer][] {
    return readdirSync(this.#to).map((name) => [
      name.slice(name.lastIndexOf('.') + 1),
      readFileSync(join(this.#to, name)),
    ])
  }

  #link(name: string): void {
    // Names are used again.
    const number = (this.#names.get(name) ?? 0) + 1
    try {
      linkSync(join(this.#from, name), join(this.#to, `${number}.${name}`))
      this.#names.set(name, number)
    } catch {
      // it was removed: the event is that of its removal
    }
  }
}

/** Forwards connections, and cuts them. */
class Relay {
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #bytesLeft = Number.POSITIVE_INFINITY
  #wasCut: () => void = () => {}

  private constructor(server: Server, target: number) {
    this.#server = server
    this.port = (server.address() as { port: number }).port
    server.on('connection', (client) => {
      const upstream = connect(target, '127.0.0.1')
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(from)
        from.on('error', () => {})
        from.once('close', () => {
          this.#sockets.delete(from)
          to.destroy()
        })
        from.on('data', (chunk) => this.#forward(chunk, to))
      }
    })
  }

  static open(target: number): Promise<Relay> {
    const server = createServer()
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(new Relay(server, target))))
  }

  /** Resolves when the connections were cut, in the middle of a message, after this many bytes. */
  cutAfter(bytes: number): Promise<void> {
    this.#bytesLeft = bytes
    return new Promise((resolve) => {
      this.#wasCut = resolve
    })
  }

  close(): void {
    this.#server.close()
    this.#cut()
  }

  #forward(chunk: Buffer, to: Socket): void {
    const part = chunk.subarray(0, this.#bytesLeft)
    this.#bytesLeft -= part.length
    to.write(part)
    if (part.length < chunk.length) this.#cut()
  }

  #cut(): void {
    this.#bytesLeft = Number.POSITIVE_INFINITY
    for (const socket of this.#sockets) socket.destroy()
    this.#wasCut()
  }
}
