/** The parity report: compares our agents with every catalog, and their values with the reference's. `npm run parity` */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { pmcdAgent } from '../../src/agents/pmcd/index.ts'
import { AGENTS } from '../../src/agents/registry.ts'
import { ANONYMOUS, type Ask } from '../../src/model/source.ts'
import { PM_TYPE_32, PM_TYPE_STRING, PM_TYPE_U32 } from '../../src/model/types.ts'
import { makeSingular } from '../../src/model/value-writer.ts'
import { connect } from '../../src/pmapi/index.ts'
import { type AgentSource, openAgent } from '../../src/pmda/open-agent.ts'
import { loadConfig } from '../../src/sys/config.ts'
import { readCatalogue } from '../lib/agent-catalogue.ts'
import { fakeCollector } from '../lib/fake-collector.ts'
import { compareCatalogue, compareValues, type MetricReader, readAll, rowsOf } from './lib/parity.ts'
import { DEVIATIONS, observerDeviations } from './lib/parity-deviations.ts'
import { hasReference, startReference } from './lib/programs.ts'

interface Compared {
  readonly agent: string
  /** The reference's line in pmcd.conf for comparing values, or why they are not compared. */
  readonly line?: string
  readonly valuesElsewhere?: string
}

const PMDAS = '/var/lib/pcp/pmdas'
const ALL: readonly Compared[] = [
  { agent: 'linux', line: `linux 60 dso linux_init ${PMDAS}/linux/pmda_linux.so` },
  { agent: 'proc', line: `proc 3 pipe binary ${PMDAS}/proc/pmdaproc -d 3` },
  { agent: 'mmv', valuesElsewhere: 'test/agents/mmv: files of its own' },
  { agent: 'jbd2', line: `jbd2 122 dso jbd2_init ${PMDAS}/jbd2/pmda_jbd2.so` },
  { agent: 'kvm', line: `kvm 95 pipe binary ${PMDAS}/kvm/pmdakvm -d 95` },
  { agent: 'xfs', line: `xfs 11 pipe binary ${PMDAS}/xfs/pmdaxfs -d 11` },
  { agent: 'root', valuesElsewhere: 'containers, of which there are none' },
  { agent: 'sample', valuesElsewhere: 'test/interop/sample-agent.test.ts' },
  { agent: 'simple', valuesElsewhere: 'each counts its own fetches: test/agents/simple.test.ts' },
  { agent: 'trivial', valuesElsewhere: 'the time of day' },
  { agent: 'pmcd', valuesElsewhere: 'each is about its own collector: test/interop/pmcd-agents.test.ts' },
]

/** A sample is taken every second, after this many polls; another one if it is late. */
const POLLS_OF_A_SAMPLE = 30
/** Agents to compare, by default all. */
const ASKED: readonly string[] = (process.env['PCP_TS_PARITY_AGENTS'] ?? '')
  .split(' ')
  .filter((name) => name !== '')
const COMPARED: readonly Compared[] = ALL.filter(({ agent }) => ASKED.length === 0 || ASKED.includes(agent))

/** Requester that may see everything: these tests run as root for values of other users. */
const ASK: Ask = {
  requester: {
    ...ANONYMOUS,
    client: 1,
    credentials: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  },
}

const report: string[] = []
afterAll(() => {
  const text = `${report.join('\n')}\n`
  const file = process.env['PCP_TS_PARITY']
  if (file === undefined) console.log(text)
  else writeFileSync(file, text)
})

async function openOurs(agent: string): Promise<AgentSource | undefined> {
  const env = loadConfig(process.env).variables
  if (agent === 'pmcd') return openAgent(pmcdAgent(fakeCollector().statistics), { env })
  const entry = AGENTS.find(({ name }) => name === agent)
  return entry === undefined ? undefined : openAgent(await entry.load(), { env })
}

function answering(agent: AgentSource): MetricReader {
  return {
    lookupNames: (names, ask) => agent.lookupNames(names, ask),
    descs: (ids, ask) => agent.descs(ids, ask),
    fetch: (ids, ask) => agent.fetch(ids, ask),
    store: (sets, ask) => agent.store(sets, ask),
    instances: (indom, ask) => agent.instances(indom, undefined, ask),
  }
}

/** Enables metrics of sample that exist only on request. */
async function showGhosts(sample: AgentSource): Promise<void> {
  const [visible] = (await sample.lookupNames(['sample.ghosts.visible'], ASK)) as number[]
  await sample.store([makeSingular(visible!, PM_TYPE_32, 8)], ASK)
}

/**
 * Makes every process hot, and resolves when a side has sampled them. The reference permanently loses its samples if reading all metrics
 * of a busy machine takes longer than its interval; then it is configured again.
 */
async function makeHot(side: MetricReader): Promise<void> {
  const names = ['hotproc.control.refresh', 'hotproc.control.config']
  const [refresh, config] = (await side.lookupNames(names, ASK)) as number[]
  for (let polls = 0; !(await isHot(side)); polls++) {
    if (polls % POLLS_OF_A_SAMPLE === 0)
      await side.store(
        [makeSingular(refresh!, PM_TYPE_U32, 1), makeSingular(config!, PM_TYPE_STRING, 'true')],
        ASK,
      )
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function isHot(side: MetricReader): Promise<boolean> {
  const read = await readAll(side, ['hotproc.nprocs'], ASK)
  return Number([...(read.get('hotproc.nprocs')?.answer?.values() ?? [])][0]) > 0
}

describe.each(COMPARED)('$agent', ({ agent, line, valuesElsewhere }) => {
  test('has all metrics of the catalogue', async () => {
    const catalogue = readCatalogue(agent)
    const ours = await openOurs(agent)
    if (ours === undefined) {
      report.push(`${agent}: no such agent yet, ${catalogue.length} metrics missing`)
      return
    }
    if (agent === 'sample') await showGhosts(ours)
    const { rows, equal, missing, different } = compareCatalogue(
      await rowsOf(
        answering(ours),
        catalogue.map(({ name }) => name),
        ASK,
      ),
      catalogue,
    )
    await ours.close()
    report.push(
      `${agent}: ${equal} of ${rows} metrics with equal name, PMID, type, semantics, units and instance domain; ${missing.length} missing, ${different.length} different`,
      ...[...missing, ...different].map((row) => `    ${row}`),
    )
    expect([...missing, ...different]).toEqual([])
  })

  const isThere =
    hasReference && line !== undefined && existsSync(line.split(' ').find((word) => word.startsWith('/'))!)
  if (!isThere)
    report.push(`${agent}: values not compared here: ${valuesElsewhere ?? 'the reference is not installed'}`)
  test.skipIf(!isThere)("has the reference's instances, and values between two of its samples", async () => {
    const ours = await openOurs(agent)
    if (ours === undefined) return
    const reference = await startReference([line!])
    // Reading everything for hundreds of processes is slow on a busy machine.
    const env = { ...process.env, PMCD_REQUEST_TIMEOUT: '100' }
    const theirs = await connect(`unix://${join(reference.dir, 'pmcd.socket')}`, { env })
    try {
      const sides = agent === 'proc' ? [answering(ours), theirs] : []
      const names = readCatalogue(agent).map(({ name }) => name)
      const tally = await compareValues(
        answering(ours),
        theirs,
        names,
        ASK,
        {
          ...DEVIATIONS[agent],
          ...(agent === 'proc' ? observerDeviations() : {}),
        },
        async () => {
          for (const side of sides) await makeHot(side)
        },
      )
      const { exact, drift, none, deviations } = tally
      // Of a process that has ended meanwhile, the reference repeats the memory it had.
      const differ = agent === 'proc' ? tally.differ.filter(isOfLiveProcess) : tally.differ
      report.push(
        `${agent}: ${exact} values exactly, ${drift} within drift, ${differ.length} differ; ${none} metrics without value on both sides, ${deviations} that differ on purpose`,
        ...differ.slice(0, 40).map((row) => `    ${row}`),
      )
      expect(differ).toEqual([])
    } finally {
      await theirs.close()
      await reference.stop()
      await ours.close()
    }
  })
})

/** Is the process of a row such as `hotproc.memory.vmrss[11522]: ...` still there, and no zombie? Rows without a number count. */
function isOfLiveProcess(row: string): boolean {
  const [, pid] = /\[(\d+)\]:/.exec(row) ?? []
  if (pid === undefined) return true
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat[stat.lastIndexOf(')') + 2] !== 'Z'
  } catch {
    return false
  }
}
