/**
 * Computations of a client library, ours and the reference's in turn: both do the same work in separate processes, measured
 * in CPU time. `npm run bench -- pmapi [--rounds N]`. The reference's side is bench/reference/pmapi.c, built with cc.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ArchiveWriter } from '../../src/archive/write/writer.ts'
import { PcpError } from '../../src/model/errors.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { makeLabelSet, mergeLabelSets } from '../../src/model/label-set.ts'
import { parseUnits } from '../../src/model/parse-units.ts'
import { convScale } from '../../src/model/scale.ts'
import { PM_SEM_COUNTER, PM_TYPE_U64 } from '../../src/model/types.ts'
import { packUnits } from '../../src/model/units.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { Context } from '../../src/pmapi/context.ts'
import { loadPmns } from '../../src/pmns/load.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { pmnsFiles } from '../../src/sys/pmns-files.ts'
import { median, table } from './lib/report.ts'

const UNITS = [
  'Kbyte',
  'Mbyte / sec',
  'count / min',
  'millisec',
  'byte / count',
  'nanosec',
  'Kbyte^2 / sec^2',
  '100 count x 10^3 / hour',
]
/** Invalid units; the first word mostly shows that, so this measures the cost of an error. */
const NO_UNITS = ['Kbyte^2 / sec^2 x 10^3', '10^6 / hour']
const LABELS = [
  '{"hostname":"app1","machineid":"0123456789abcdef","groupid":0}',
  '{"agent":"linux","role":"frontend"}',
  '{"device_type":"block","indom_name":"per disk"}',
  '{"device_name":"sda","role":"database"}',
]
const INSTANCES = 1000
const RECORDS = 1000

/** Returns nanoseconds of CPU time over all threads, which other processes do not affect. */
function cpuNs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

/** Returns nanoseconds per operation of `job`, after it has been compiled. */
function perOperation(operations: number, job: (operations: number) => void): number {
  job(operations >> 2)
  const start = cpuNs()
  job(operations)
  return (cpuNs() - start) / operations
}

function units(texts: readonly string[]): number {
  return perOperation(200_000, (operations) => {
    for (let i = 0; i < operations; i++) {
      try {
        parseUnits(texts[i % texts.length]!)
      } catch (error) {
        if (!(error instanceof PcpError)) throw error
      }
    }
  })
}

function convert(): number {
  const from = packUnits({ dimSpace: 1, dimTime: -1, scaleSpace: 0, scaleTime: 3 })
  const to = packUnits({ dimSpace: 1, dimTime: -1, scaleSpace: 2, scaleTime: 5 })
  return perOperation(2_000_000, (operations) => {
    for (let i = 0; i < operations; i++) convScale(PM_TYPE_U64, 1_000_003 * i, from, to)
  })
}

function merge(): number {
  const sets = LABELS.map((text, i) => makeLabelSet(text, 1 << i))
  return perOperation(50_000, (operations) => {
    for (let i = 0; i < operations; i++) mergeLabelSets(sets)
  })
}

function lookup(file: string): number {
  const pmns = loadPmns(file, pmnsFiles({}))
  const names = Array.from({ length: 1000 }, (_, i) => nameOf(i))
  return perOperation(300_000, (operations) => {
    for (let i = 0; i < operations; i++) pmns.lookup(names[i % 1000]!)
  })
}

/** Fetches record by record, twice so that the code is compiled; a fetch is one operation. */
async function fetching(archive: string, name: string): Promise<number> {
  const context = await openArchive(archive)
  await context.addDerived('derived.sum', 'bench.a + bench.b * 2')
  await context.addDerived('derived.rate', 'rate(bench.a)')
  const id = await context.lookupName(name)
  await fetchAll(context, id)
  const start = cpuNs()
  const records = await fetchAll(context, id)
  const spent = cpuNs() - start
  await context.close()
  return spent / records
}

async function fetchAll(context: Context, id: number): Promise<number> {
  context.archive!.setMode('forward', context.archive!.start)
  let records = 0
  try {
    for (;;) {
      const { sets } = await context.fetch([id])
      if (records > 0 && sets[0]!.status !== INSTANCES) throw new Error(`${sets[0]!.status} values`)
      records++
    }
  } catch (error) {
    if (!(error instanceof PcpError) || error.code !== 'PM_ERR_EOL') throw error
  }
  return records
}

const nameOf = (i: number): string => `bench.group${i % 100}.metric${(i * 7) % 1000}`

/** Writes a name space of 100,000 names: 100 groups of 1,000. */
function writeNames(file: string): void {
  const groups = Array.from({ length: 100 }, (_, i) => `\tgroup${i}`)
  const metrics = (group: number): string =>
    Array.from({ length: 1000 }, (_, m) => `\tmetric${m}\t${group + 1}:${m >> 10}:${m & 1023}`).join('\n')
  const nodes = groups.map((_, group) => `bench.group${group} {\n${metrics(group)}\n}\n`)
  writeFileSync(file, `root {\n\tbench\n}\nbench {\n${groups.join('\n')}\n}\n${nodes.join('')}`)
}

function writeArchive(base: string): void {
  const writer = ArchiveWriter.create(archiveOutput(base), {
    hostname: 'bench.local',
    timezone: 'UTC',
    pid: 1,
    version: 2,
  })
  const ids = Array.from({ length: INSTANCES }, (_, i) => i)
  const descs = [1, 2].map((item) => ({
    pmid: pmid(400, 0, item),
    type: PM_TYPE_U64,
    indom: indom(400, 1),
    sem: PM_SEM_COUNTER,
    units: packUnits({ dimCount: 1 }),
  }))
  descs.forEach((desc, i) => {
    writer.desc(desc, [i === 0 ? 'bench.a' : 'bench.b'])
  })
  const names = ids.map((id) => `instance-${id}`)
  for (let record = 0; record < RECORDS; record++) {
    const at = { sec: 1_700_000_000 + record, nsec: 0 }
    writer.instances(at, descs[0]!.indom, ids, names)
    const values = ids.map((id) => record * 1000 + id)
    writer.result(
      at,
      descs.map((desc) => makeSet(desc.pmid, desc.type, ids, values)),
    )
  }
  writer.close()
}

async function ours(names: string, archive: string): Promise<Map<string, number>> {
  return new Map([
    ['units', units(UNITS)],
    ['no units', units(NO_UNITS)],
    ['convert', convert()],
    ['merge', merge()],
    ['plain fetch', await fetching(archive, 'bench.a')],
    ['derived sum', await fetching(archive, 'derived.sum')],
    ['derived rate', await fetching(archive, 'derived.rate')],
    ['lookup', lookup(names)],
  ])
}

function theirs(program: string, names: string, archive: string): Map<string, number> {
  const lines = execFileSync(program, [names, archive], { encoding: 'utf8' }).trim().split('\n')
  return new Map(
    lines.map((line) => line.split('\t') as [string, string]).map(([job, ns]) => [job, Number(ns)]),
  )
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
try {
  const [names, archive, program] = ['names', 'archive', 'reference'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  writeNames(names)
  writeArchive(archive)
  const hasReference = existsSync('/usr/include/pcp/pmapi.h')
  if (hasReference) execFileSync('cc', ['-O2', '-o', program, 'bench/reference/pmapi.c', '-lpcp'])
  else console.log('The reference and its headers are not installed; measuring ours only')
  const rounds: Map<string, number>[][] = [[], []]
  for (let round = 0; round < Number(values.rounds); round++) {
    rounds[0]!.push(await ours(names, archive))
    if (hasReference) rounds[1]!.push(theirs(program, names, archive))
  }
  const rows = [...rounds[0]![0]!.keys()].map((job) => {
    const [mine, other] = rounds.map((each) => median(each.map((round) => round.get(job)!)))
    return [
      job,
      mine!.toFixed(0),
      hasReference ? other!.toFixed(0) : '-',
      hasReference ? (other! / mine!).toFixed(2) : '-',
    ]
  })
  console.log(table([['job', 'ours ns', 'reference ns', 'times as fast'], ...rows]))
} finally {
  rmSync(dir, { recursive: true, force: true })
}
