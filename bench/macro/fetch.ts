/**
 * Fetches per second, ours and the reference's in turn, with load from another process: one metric of simple, five linux
 * metrics, all metrics that both have; by one client and by many. `npm run bench -- fetch [--clients 1,100,900]
 * [--work one,five,all] [--rounds N] [--ms N] [--pipes]`; with --pipes our agents run behind pipes too.
 */
import { parseArgs } from 'node:util'
import {
  type Candidate,
  hasReference,
  startOurs,
  startOursOnPipes,
  startReference,
} from './lib/collectors.ts'
import { LOAD_ARGUMENT, Load, type Measured, makeLoad } from './lib/load.ts'
import { residentMb } from './lib/memory.ts'
import { RawClient } from './lib/raw-client.ts'
import { median, table } from './lib/report.ts'

const FIVE = [
  'kernel.all.load',
  'mem.util.free',
  'disk.dev.read',
  'network.interface.in.bytes',
  'kernel.percpu.cpu.user',
]

interface Work {
  readonly title: string
  /** PMIDs for each candidate. */
  readonly pmids: readonly (readonly number[])[]
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      clients: { type: 'string', default: '1,100,900' },
      work: { type: 'string', default: 'one,five,all' },
      rounds: { type: 'string', default: '3' },
      ms: { type: 'string', default: '2000' },
      pipes: { type: 'boolean', default: false },
    },
  })
  const top = process.cwd()
  const candidates: Candidate[] = [await (values.pipes ? startOursOnPipes(top) : startOurs(top))]
  if (hasReference()) candidates.push(await startReference())
  else console.log('The reference is not installed; measuring ours only')
  const load = new Load()
  try {
    console.log(`resident at rest: ${memory(candidates)}`)
    const rows: string[][] = []
    for (const work of await works(values.work.split(','), candidates))
      for (const clients of values.clients.split(',').map(Number))
        rows.push(await compare(load, candidates, work, clients, { rounds: +values.rounds, ms: +values.ms }))
    const heads = candidates.flatMap(({ name }) => [`${name}/s`, 'p50 ms', 'p99 ms'])
    console.log(table([['work', 'clients', ...heads, 'ratio', 'p99 ratio', 'failed'], ...rows]))
    console.log(`resident after the load: ${memory(candidates)}`)
  } finally {
    load.stop()
    for (const candidate of candidates) await candidate.stop()
  }
}

async function works(wanted: readonly string[], candidates: readonly Candidate[]): Promise<Work[]> {
  const clients = await Promise.all(candidates.map(({ port }) => RawClient.open(port)))
  const works: Work[] = []
  const add = async (title: string, names: readonly string[]): Promise<void> => {
    const pmids = await Promise.all(clients.map((client) => client.lookup(names)))
    works.push({ title, pmids })
  }
  if (wanted.includes('one')) await add('one metric of simple', ['simple.numfetch'])
  if (wanted.includes('five')) await add('five linux metrics', FIVE)
  if (wanted.includes('all')) {
    const names = (await clients[0]!.names()).filter((name) => /^(?!pmcd|simple)/.test(name))
    const known = await Promise.all(clients.map((client) => client.lookupKnown(names)))
    const common = names.filter((name) => known.every((each) => each.has(name)))
    await add(`all ${common.length} linux metrics`, common)
  }
  for (const client of clients) client.close()
  return works
}

/** Runs alternating rounds, of which the first only warms up, and adds the medians to the table. */
async function compare(
  load: Load,
  candidates: readonly Candidate[],
  { title, pmids }: Work,
  clients: number,
  { rounds, ms }: { rounds: number; ms: number },
): Promise<string[]> {
  const measured = candidates.map((): Measured[] => [])
  for (let round = 0; round <= rounds; round++)
    for (const [i, { port }] of candidates.entries()) {
      const job = { port, clients, pmids: pmids[i]!, ms: round === 0 ? 1000 : ms }
      const result = await load.run(job)
      if (round > 0) measured[i]!.push(result)
    }
  const middle = (key: keyof Measured): number[] =>
    measured.map((each) => median(each.map((one) => one[key])))
  const [rates, p50s, p99s] = [middle('rate'), middle('p50'), middle('p99')]
  const failed = measured.flat().reduce((sum, { errors, refusals }) => sum + errors + refusals, 0)
  const ratio = (of: readonly number[]): string => (of.length > 1 ? (of[0]! / of[1]!).toFixed(2) : '-')
  const figures = candidates.flatMap((_, i) => [
    rates[i]!.toFixed(0),
    p50s[i]!.toFixed(2),
    p99s[i]!.toFixed(2),
  ])
  return [title, String(clients), ...figures, ratio(rates), ratio(p99s), String(failed)]
}

function memory(candidates: readonly Candidate[]): string {
  return candidates.map(({ name, pid }) => `${name} ${residentMb(pid).toFixed(0)} MB`).join(', ')
}

if (process.argv[2] === LOAD_ARGUMENT) makeLoad()
else await main()
