/**
 * Each agent beside the reference's in one run: fetches of all its metrics and of ordinary sets, in turn, by a client with full
 * access. Sleeping processes raise their number to that of a server. Time is the latency of the client; cpu is the CPU time of the
 * collector and its agents per fetch over all threads, which other load on the machine disturbs less.
 * `npm run bench -- agents [--agents linux,proc] [--sets PATTERN] [--processes 500] [--rounds N] [--ms N] [--pipes]`; with
 * --pipes our agents are separate processes, as the reference's are.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Candidate, hasReference, startWith } from './lib/collectors.ts'
import { treeCpuMs } from './lib/memory.ts'
import { RawClient } from './lib/raw-client.ts'
import { median, table } from './lib/report.ts'

interface Set {
  readonly title: string
  readonly wants: (name: string) => boolean
}

interface Agent {
  /** Lines of pmcd.conf: for the reference, for ours in its collector, and for ours as a process. */
  readonly theirs: string
  readonly inside: string
  readonly pipe: (top: string) => string
  /** First components of its metric names. */
  readonly roots: readonly string[]
  readonly sets: readonly Set[]
}

const PMDAS = '/var/lib/pcp/pmdas'
const PROCESS_SET =
  /^proc\.(psinfo\.(utime|stime|sname|ppid|nice|start_time)|memory\.(rss|size)|id\.uid|io\.(read|write)_bytes)$/
const LINUX_SET =
  /^(kernel\.all\.(load|cpu\.\w+)|mem\.util\.(free|cached)|disk\.dev\.(read|write)_bytes|network\.interface\.(in|out)\.bytes)$/

const AGENTS: { readonly [name: string]: Agent } = {
  linux: {
    theirs: `linux 60 pipe binary ${PMDAS}/linux/pmdalinux`,
    inside: 'linux 60 dso linux_init /pmda_linux.so',
    pipe: (top) => `linux 60 pipe binary ${process.execPath} ${top}/bin/pmdalinux`,
    roots:
      'disk fchost filesys hinv ipc kernel mem mounts network nfs nfs3 nfs4 pmda quota rpc swap swapdev sysfs tape tmpfs tty vfs zram'.split(
        ' ',
      ),
    sets: [
      { title: 'linux: all', wants: () => true },
      { title: 'linux: an ordinary set', wants: (name) => LINUX_SET.test(name) },
    ],
  },
  proc: {
    theirs: `proc 3 pipe binary ${PMDAS}/proc/pmdaproc -d 3`,
    inside: 'proc 3 dso proc_init /pmda_proc.so',
    pipe: (top) => `proc 3 pipe binary ${process.execPath} ${top}/bin/pmdaproc -d 3`,
    roots: ['proc', 'cgroup'],
    sets: [
      { title: 'proc: all of proc', wants: (name) => name.startsWith('proc.') },
      { title: 'proc: an ordinary set', wants: (name) => PROCESS_SET.test(name) },
      { title: 'proc: runq', wants: (name) => name.startsWith('proc.runq.') },
      { title: 'proc: cgroup', wants: (name) => name.startsWith('cgroup.') },
    ],
  },
}

const HEADINGS = [
  'fetch',
  'metrics',
  ...['ours ms', 'p50', 'cpu'],
  ...['theirs ms', 'p50', 'cpu'],
  ...['times as fast', 'in cpu'],
]

/** Derived metrics of the reference, which are not its agents'. */
const DERIVED = /^proc\.(hog|psinfo\.age|io\.total_bytes)/

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      agents: { type: 'string', default: Object.keys(AGENTS).join(',') },
      processes: { type: 'string', default: '500' },
      rounds: { type: 'string', default: '5' },
      ms: { type: 'string', default: '1000' },
      pipes: { type: 'boolean', default: false },
      sets: { type: 'string', default: '' },
    },
  })
  if (!hasReference()) throw new Error('The reference, with which this compares, is not installed')
  const top = process.cwd()
  const sleepers = Array.from({ length: +values.processes }, () =>
    spawn('sleep', ['3600'], { stdio: 'ignore' }),
  )
  try {
    console.log(`${readdirSync('/proc').filter((name) => /^\d/.test(name)).length} processes`)
    const rows: string[][] = []
    for (const name of values.agents.split(','))
      rows.push(
        ...(await compare(top, AGENTS[name]!, values.pipes, {
          rounds: +values.rounds,
          ms: +values.ms,
          sets: new RegExp(values.sets),
        })),
      )
    console.log(table([HEADINGS, ...rows]))
  } finally {
    for (const sleeper of sleepers) end(sleeper)
  }
}

async function compare(
  top: string,
  agent: Agent,
  onPipes: boolean,
  { rounds, ms, sets }: { readonly rounds: number; readonly ms: number; readonly sets: RegExp },
): Promise<string[][]> {
  const ours = await startWith('ours', top, [onPipes ? agent.pipe(top) : agent.inside])
  const theirs = await startWith('reference', top, [agent.theirs])
  const candidates: readonly (Candidate & { readonly socket: string })[] = [ours, theirs]
  try {
    const clients = await Promise.all(candidates.map(({ socket }) => RawClient.open(socket)))
    const names = await clients[0]!.names()
    const roots = new Set(agent.roots)
    const rows: string[][] = []
    for (const { title, wants } of agent.sets.filter((set) => sets.test(set.title))) {
      const wanted = names.filter(
        (name) => wants(name) && roots.has(name.split('.', 1)[0]!) && !DERIVED.test(name),
      )
      const known = await Promise.all(clients.map((client) => client.lookupKnown(wanted)))
      const common = wanted.filter((name) => known.every((each) => each.has(name)))
      const times: number[][] = [[], []]
      const cpu = [0, 0]
      for (let round = 0; round < rounds; round++)
        for (const [i, client] of clients.entries()) {
          const pmids = common.map((name) => known[i]!.get(name)!)
          if (round === 0) await client.fetchFor(pmids, ms, []) // warm up
          const before = treeCpuMs(candidates[i]!.pid)
          await client.fetchFor(pmids, ms, times[i]!)
          cpu[i]! += treeCpuMs(candidates[i]!.pid) - before
        }
      const [own, other] = times.map((each, i) => ({
        best: Math.min(...each),
        middle: median(each),
        cpu: cpu[i]! / each.length,
      })) as [Cost, Cost]
      const figures = [own, other].flatMap(({ best, middle, cpu }) => [best, middle, cpu])
      const ratios = [other.middle / own.middle, other.cpu / own.cpu]
      rows.push([title, String(common.length), ...[...figures, ...ratios].map((figure) => figure.toFixed(2))])
    }
    for (const client of clients) client.close()
    return rows
  } finally {
    for (const candidate of candidates) await candidate.stop()
  }
}

interface Cost {
  readonly best: number
  readonly middle: number
  readonly cpu: number
}

function end(child: ChildProcess): void {
  child.kill('SIGKILL')
}

await main()
