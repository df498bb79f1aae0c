/** Attacks on a collector with their checks and reports; short runs in test/e2e, long ones in test/fuzz. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'vitest'
import { residentMb } from '../../bench/macro/lib/memory.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { builtinAgents } from '../../src/pmcd/open-agents.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { pmnsOf } from '../pmcd/parts.ts'
import { askLiars, type LieReport, mutatingAgent } from './agent-attack.ts'
import { attackAsClients } from './client-attack.ts'
import { startCollectorProcess } from './collector-process.ts'
import { generator } from './generator.ts'
import { fetchHonestly } from './honest-client.ts'

/** An immediate reply takes at most this long on a busy machine. */
const AT_ONCE_MS = 3000
/** Parts of a client attack, after each of which memory is checked: it may level off, but not keep growing. */
const PARTS = 10
/** Memory in MB that an attack may leave behind. */
const MEMORY_MB = 48

/** Sends `count` mutants to a collector in a separate process, after the same number as warm-up. */
export async function clientsAttack(count: number, seed: number): Promise<void> {
  const collector = await startCollectorProcess('pmcd,simple')
  try {
    const { port, pid } = collector
    await attackAsClients(port, 3000, seed + 1)
    const before = residentMb(pid)
    const report = { mutants: 0, passed: 0, connections: 0, closed: 0, replies: 0 }
    const resident: number[] = []
    for (let part = 0; part < PARTS; part++) {
      const some = await attackAsClients(port, Math.ceil(count / PARTS), seed + 2 + part)
      for (const key of ['mutants', 'passed', 'connections', 'closed', 'replies'] as const)
        report[key] += some[key]
      resident.push(residentMb(pid))
    }
    const { ms, statuses } = await fetchHonestly(port, ['pmcd.version', 'simple.now'])
    const after = residentMb(pid)
    console.log(
      `${report.mutants} mutants from clients, ${report.passed} past framer and decoder; ${report.connections} connections, ${report.closed} closed by the collector; ${report.replies} replies; an honest client is answered in ${ms.toFixed(0)} ms; resident ${before.toFixed(0)} MB before, ${resident.map((mb) => mb.toFixed(0)).join(', ')} after each ${PARTS}th, ${after.toFixed(0)} MB at the end`,
    )
    expect(collector.hasEnded()).toBe(false)
    expect(statuses[0]).toBe(1)
    expect(report.passed).toBeGreaterThan(report.mutants / 2)
    expect(ms).toBeLessThan(AT_ONCE_MS)
    expect(after - before).toBeLessThan(MEMORY_MB)
  } finally {
    await collector.stop()
  }
}

const LIARS = [401, 402, 403, 404]

/** Makes agents answer a collector in this process with `count` mutants. */
export async function agentsAttack(count: number, seed: number): Promise<void> {
  const pick = generator(seed)
  const report: LieReport = { mutants: 0, passed: 0, opened: 0, questions: 0, wake: new Map() }
  const collector = await startCollector({
    agents: [...builtinAgents(['pmcd']), ...LIARS.map((domain) => mutatingAgent(domain, pick, report))],
    ports: [0],
    localOnly: true,
    hostname: 'vm',
    log: { ...logOnFd(2, { progname: 'pmcd', host: 'vm' }), notice: () => {}, line: () => {} },
    pmns: pmnsOf({ 'pmcd.version': (2 << 22) | 7 }),
    // A false length delays a request for this long.
    timeoutSec: 0.1,
    restartsAgents: false,
  })
  try {
    await askLiars(collector, LIARS, 300, pick, report)
    const warm = { ...report }
    const before = heapMb()
    await askLiars(collector, LIARS, warm.mutants + count, pick, report)
    const { ms, statuses } = await fetchHonestly(collector.port, ['pmcd.version'])
    const after = heapMb()
    const mutants = report.mutants - warm.mutants
    const passed = report.passed - warm.passed
    console.log(
      `${mutants} mutants from agents, ${passed} past framer and decoder; ${report.questions} questions, agents opened ${report.opened} times; an honest client is answered in ${ms.toFixed(0)} ms; heap ${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after`,
    )
    expect(statuses).toEqual([1])
    expect(passed).toBeGreaterThan(mutants / 10)
    expect(ms).toBeLessThan(AT_ONCE_MS)
    expect(after - before).toBeLessThan(MEMORY_MB)
  } finally {
    await collector.close()
  }
}

/** Returns the megabytes in use after a garbage collection. */
export function heapMb(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}
