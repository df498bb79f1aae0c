/**
 * Long run of our agents below the reference's collector: a hundred fetches per second over all agents, and every few
 * seconds one of all metrics, while processes and memory-mapped value files come and go. Prints each agent's resident
 * memory over time, its slope, and errors of metrics that had values before.
 * `npm run bench -- agents-soak [--minutes 30] [--hz 100]`
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MmvWriter } from '../../src/mmv/index.ts'
import {
  type Context,
  connect,
  errStr,
  exclude,
  include,
  indom,
  PcpError,
  type Pmid,
} from '../../src/pmapi/index.ts'
import { hasReference, startWith } from './lib/collectors.ts'
import { residentMb, slope } from './lib/memory.ts'
import { quantile, table } from './lib/report.ts'

const AGENTS: readonly (readonly [name: string, domain: number])[] = [
  ['linux', 60],
  ['proc', 3],
  ['mmv', 70],
  ['node', 460],
  ['jbd2', 122],
  ['xfs', 11],
  ['simple', 253],
]
const ORDINARY =
  /^(kernel\.all\.(load|cpu\.\w+)|mem\.util\.\w+|disk\.dev\.\w+_bytes|network\.interface\.(in|out)\.bytes|proc\.(nprocs|runq\.\w+|psinfo\.(utime|stime)|memory\.rss|io\.\w+)|jbd2\..*|xfs\.\w+_bytes|simple\..*|mmv\.soak\..*|node\.(cpu|gc|memory)\..*)$/
const PROCESSES = indom(3, 9)
/** Share of the time for warming up, in which heaps and caches reach their size. */
const WARM_UP = 0.2
const EVERY_MS = { all: 5000, memory: 10_000, change: 30_000 }

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: '30' }, hz: { type: 'string', default: '100' } },
  })
  if (!hasReference()) throw new Error('The reference, whose collector this runs, is not installed')
  const top = process.cwd()
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-soak-'))
  mkdirSync(join(dir, 'mmv'))
  process.env['PCP_TMP_DIR'] = dir // for the collector, its agents and the publishers
  const names = join(dir, 'names')
  const installed = readFileSync('/var/lib/pcp/pmns/root', 'utf8')
  writeFileSync(names, installed.replace('root {', 'root {\n\tnode\t460:*:*'))
  const traffic = new Traffic(top, dir)
  const lines = AGENTS.map(
    ([name, domain]) =>
      `${name} ${domain} pipe binary ${process.execPath} ${top}/bin/pmda${name} -d ${domain}`,
  )
  const collector = await startWith('reference', top, lines, ['-n', names])
  try {
    const soak = new Soak(await connect(`unix://${collector.socket}`), agentsOf(collector.pid))
    await soak.run(Number(values.minutes) * 60_000, 1000 / Number(values.hz), () => traffic.change())
    soak.report()
  } finally {
    traffic.stop()
    await collector.stop()
    rmSync(dir, { recursive: true })
  }
}

/** Changes during the run: a Node.js process that measures itself, and instances and versions of a value file. */
class Traffic {
  readonly #top: string
  readonly #writer: MmvWriter
  readonly #queues
  readonly #depth
  #child: ChildProcess | undefined
  #count = 0

  constructor(top: string, dir: string) {
    this.#top = top
    this.#writer = new MmvWriter('soak', { directory: join(dir, 'mmv') })
    this.#writer.counter('changes')
    this.#queues = this.#writer.instances({ names: ['first'] })
    this.#depth = this.#queues.gauge('depth')
    this.change()
  }

  change(): void {
    this.#count++
    if (this.#count > 1) this.#queues.remove(`queue${this.#count - 1}`)
    this.#queues.add(`queue${this.#count}`)
    this.#depth.of(`queue${this.#count}`).set(this.#count)
    this.#writer.publish()
    this.#child?.kill('SIGTERM')
    const register = join(this.#top, 'dist', 'esm', 'node-register.js')
    this.#child = spawn(process.execPath, ['--import', register, '-e', 'setInterval(() => {}, 50)'], {
      stdio: 'ignore',
    })
  }

  stop(): void {
    this.#writer.close()
    this.#child?.kill('SIGTERM')
  }
}

class Soak {
  readonly #context: Context
  readonly #agents: ReadonlyMap<string, number>
  readonly #memory = new Map<string, [minutes: number, mb: number][]>()
  readonly #had = new Set<string>()
  readonly #errors = new Map<string, number>()
  readonly #latencies: number[] = []
  #whole = 0

  constructor(context: Context, agents: ReadonlyMap<string, number>) {
    this.#context = context
    this.#agents = agents
  }

  /** Fetches every `everyMs`; a late fetch delays the next. Metrics are looked up again after each change. */
  async run(ms: number, everyMs: number, change: () => void): Promise<void> {
    const start = performance.now()
    const next = { all: 0, memory: 0, change: EVERY_MS.change, lookup: 0, print: 0 }
    let due = start
    let [ordinary, all]: [Known, Known] = [[], []]
    // The client watches the agents, which exist during the whole run.
    this.#context.profile = include(exclude(this.#context.profile, PROCESSES), PROCESSES, [
      ...this.#agents.values(),
    ])
    for (let now = 0; now < ms; now = performance.now() - start) {
      if (now >= next.change) {
        change()
        next.change += EVERY_MS.change
        next.lookup = now + 1000
      }
      if (now >= next.lookup) {
        all = await this.#lookup()
        ordinary = all.filter(({ name }) => ORDINARY.test(name))
        next.lookup = Number.POSITIVE_INFINITY
      }
      if (now >= next.all) {
        await this.#fetch(all)
        this.#whole++
        next.all += EVERY_MS.all
      }
      const sent = performance.now()
      await this.#fetch(ordinary)
      this.#latencies.push(performance.now() - sent)
      if (now >= next.memory) {
        this.#weigh(now / 60_000)
        next.memory += EVERY_MS.memory
      }
      if (now >= next.print) {
        console.log(this.#line(now / 60_000))
        next.print += Math.max(60_000, ms / 20)
      }
      due = Math.max(due + everyMs, performance.now())
      await new Promise((resolve) => setTimeout(resolve, due - performance.now()))
    }
    await this.#context.close()
  }

  async #lookup(): Promise<Known> {
    const names = await this.#context.traverse('')
    const ids = await this.#context.lookupNames(names)
    return names.flatMap((name, i) => {
      const id = ids[i]!
      return id instanceof PcpError ? [] : [{ name, id }]
    })
  }

  async #fetch(known: Known): Promise<void> {
    const { sets } = await this.#context.fetch(known.map(({ id }) => id))
    for (const [i, { status }] of sets.entries()) {
      const { name } = known[i]!
      if (status > 0) this.#had.add(name)
      else if (status < 0 && this.#had.has(name)) {
        const what = `${name}: ${errStr(status)}`
        this.#errors.set(what, (this.#errors.get(what) ?? 0) + 1)
      }
    }
  }

  #weigh(minutes: number): void {
    for (const [name, pid] of this.#agents) {
      const points = this.#memory.get(name) ?? []
      points.push([minutes, residentMb(pid)])
      this.#memory.set(name, points)
    }
  }

  #line(minutes: number): string {
    const sizes = Array.from(this.#memory, ([name, points]) => `${name} ${points.at(-1)![1].toFixed(0)}`)
    const errors = [...this.#errors.values()].reduce((sum, count) => sum + count, 0)
    return `${minutes.toFixed(1)} min  ${this.#latencies.length} fetches  ${errors} errors  MB: ${sizes.join('  ')}`
  }

  report(): void {
    const rows = Array.from(this.#memory, ([name, points]) => {
      const warm = points.slice(Math.floor(points.length * WARM_UP))
      const sizes = warm.map(([, mb]) => mb)
      const figures = [Math.min(...sizes), Math.max(...sizes), slope(warm) * 60]
      return [name, ...figures.map((figure) => figure.toFixed(1))]
    })
    console.log(table([['agent', 'least MB', 'most MB', 'MB an hour'], ...rows]))
    const sorted = this.#latencies.toSorted((a, b) => a - b)
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(sorted, share).toFixed(1))
    console.log(`${sorted.length} fetches (p50 ${p50} ms, p99 ${p99} ms) and ${this.#whole} of all metrics`)
    console.log(`${this.#errors.size} metrics with errors after values`)
    for (const [what, count] of this.#errors) console.log(`    ${count} × ${what}`)
  }
}

type Known = readonly { readonly name: string; readonly id: Pmid }[]

/** Returns the processes of agents that the collector started, by name. */
function agentsOf(collector: number): ReadonlyMap<string, number> {
  const agents = new Map<string, number>()
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)))
    try {
      if (!readFileSync(`/proc/${pid}/status`, 'latin1').includes(`\nPPid:\t${collector}\n`)) continue
      // The name of the program, or of the script that node runs.
      const name = /(?:^|[/\0 ])pmda(\w+)(?:[\0 ]|$)/.exec(
        readFileSync(`/proc/${pid}/cmdline`, 'latin1'),
      )?.[1]
      if (name !== undefined) agents.set(name, Number(pid))
    } catch {} // ended meanwhile
  return agents
}

await main()
