/** The kvm agent over files that a test writes, and counters that it invents. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parseKvmConfig } from '../../../src/agents/kvm/config.ts'
import { KVM_FILES } from '../../../src/agents/kvm/files.ts'
import { agent } from '../../../src/agents/kvm/index.ts'
import { type TraceOptions, traceMetrics } from '../../../src/agents/kvm/traces.ts'
import { defineAgent } from '../../../src/pmda/index.ts'
import { type AgentSource, openAgent } from '../../../src/pmda/open-agent.ts'
import type { NativeCalls } from '../../../src/sys/native/calls.ts'
import { openPerfCounters } from '../../../src/sys/native/perf-counters.ts'
import { allAnswers, answer } from '../../lib/agent-answers.ts'
import { assertCatalogue, assertHelp, assertNameOrder, readCatalogue } from '../../lib/agent-catalogue.ts'

const root = mkdtempSync(join(tmpdir(), 'pcp-ts-kvm-'))
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
for (const [at, [name]] of KVM_FILES.entries()) write(`all/sys/kernel/debug/kvm/${name}`, `${100 + at}\n`)
write('all/sys/kernel/debug/kvm/1234-12/exits', '5\n')
write('all/sys/kernel/debug/kvm/exits', '18446744073709551615\n')
rmSync(join(root, 'all/sys/kernel/debug/kvm/invlpg'))
write('traced/t/events/kvm/kvm_a/id', '987\n')
write('traced/t/events/kvm/kvm_b/id', '988\n')
write('traced/sys/devices/system/cpu/online', '0,2-3\n')

const source: AgentSource = openAgent(agent, { root: join(root, 'all') })
afterAll(async () => {
  await source.close()
  rmSync(root, { recursive: true })
})

test('describes and explains every metric as the catalogue of PCP 6.0.3 does, in its order', async () => {
  const catalogue = readCatalogue('kvm')
  await assertCatalogue(source, catalogue)
  await assertHelp(source)
  assertNameOrder(source, catalogue)
})

test('each metric reads the file of its name; a missing file means no value', async () => {
  const answers = await allAnswers(
    source,
    KVM_FILES.map(([name]) => `kvm.${name}`),
  )
  expect(Object.values(answers)).toEqual(
    KVM_FILES.map(([name], at) => {
      if (name === 'invlpg') return null
      return name === 'exits' ? 18446744073709551615n : 100 + at
    }),
  )
  // a kernel without KVM has no trace points either
  expect(await answer(source, 'kvm.trace.count')).toBe(5)
  expect(await answer(source, 'kvm.trace.kvm_exit')).toBeNull()
})

test('a kernel that is locked down refuses', async () => {
  const env = { KVM_LOCKDOWN_PATH: '/lockdown' }
  const locked = openAgent(agent, { root: join(root, 'all'), env })
  write('all/lockdown', '[none] integrity confidentiality\n')
  expect(await answer(locked, 'kvm.efer_reload')).toBe(100)
  write('all/lockdown', 'none [integrity] confidentiality\n')
  expect(await answer(locked, 'kvm.efer_reload')).toEqual({
    error: 'No permission to perform requested operation',
  })
  await locked.close()
})

test('kvm.conf sets paths and trace points', async () => {
  const problems: string[] = []
  const text = '# c\n[paths]\ndebugfs=/d # there\nother=/x\n[trace]\nkvm_b\nkvm_a\nkvm_b\ncount\n9\n'
  const { paths, traces } = parseKvmConfig(text, (problem) => problems.push(problem))
  expect([...paths]).toEqual([['debugfs', '/d']])
  expect(traces).toEqual(['kvm_b', 'kvm_a'])
  expect(problems).toEqual(
    [
      [4, 'other=/x'],
      [9, 'count'],
      [10, '9'],
    ].map(([line, words]) => `:${line}: "${words}" is neither a path nor a trace point: ignored`),
  )
  write('all/pmdas/kvm/kvm.conf', text)
  write('all/d/kvm/efer_reload', '7\n')
  const other = openAgent(agent, {
    root: join(root, 'all'),
    env: { PCP_PMDAS_DIR: '/pmdas' },
    log: () => undefined,
  })
  expect(await allAnswers(other, ['kvm.efer_reload', 'kvm.trace.count', 'kvm.trace.kvm_a'])).toEqual({
    'kvm.efer_reload': 7,
    'kvm.trace.count': 2,
    'kvm.trace.kvm_a': null,
  })
  await other.close()
})

function openTraces(options: Partial<TraceOptions>): AgentSource {
  const config = { debugfs: '/d', tracefs: '/t', lockdown: '/l', traces: ['kvm_a', 'kvm_b', 'kvm_c'] }
  const { metrics, close } = traceMetrics({
    root: join(root, 'traced'),
    config,
    cpuCount: undefined,
    log: () => undefined,
    ...options,
  })
  return openAgent(defineAgent({ name: 'kvm', domain: 95, open: () => ({ metrics, close }) }))
}

test('counts trace points on each processor that lets it', async () => {
  const said: string[] = []
  const closed: string[] = []
  const traces = openTraces({
    log: (_level, text) => said.push(text),
    openCounters: () => (event, cpu) => {
      if (cpu === 3) throw new Error(`cpu${cpu} will not`)
      return { read: () => BigInt(event * 10 + cpu), close: () => closed.push(`${event} ${cpu}`) }
    },
  })
  expect(await allAnswers(traces, ['kvm.trace.kvm_a', 'kvm.trace.kvm_b', 'kvm.trace.kvm_c'])).toEqual({
    'kvm.trace.kvm_a': { '0 cpu0': 9870, '2 cpu2': 9872 },
    'kvm.trace.kvm_b': { '0 cpu0': 9880, '2 cpu2': 9882 },
    'kvm.trace.kvm_c': null,
  })
  expect(said).toEqual(['cpu3 will not'])
  await traces.close()
  expect(closed).toEqual(['987 0', '987 2', '988 0', '988 2'])
})

test('logs once why counting is impossible', async () => {
  const said: string[] = []
  const traces = openTraces({
    log: (_level, text) => said.push(text),
    openCounters: () => openPerfCounters(() => undefined),
  })
  expect(await answer(traces, 'kvm.trace.kvm_a')).toBeNull()
  expect(await answer(traces, 'kvm.trace.kvm_a')).toBeNull()
  expect(said).toHaveLength(1)
  await traces.close()
})

test('passes the kernel its own structure', () => {
  const calls: unknown[][] = []
  const native = {
    bind:
      () =>
      (...args: unknown[]) => {
        calls.push([
          ...args.slice(0, 1),
          [...new Uint32Array((args[1] as Uint8Array).buffer).subarray(0, 4)],
          ...args.slice(2),
        ])
        return -1
      },
    errno: () => 13,
  } as unknown as NativeCalls
  const open = openPerfCounters(() => native)
  if (typeof open === 'string') return // another architecture: not supported
  expect(() => open(987, 2)).toThrow('Cannot count trace point 987 on cpu2: errno 13')
  expect(calls).toEqual([[process.arch === 'x64' ? 298 : 241, [2, 64, 987, 0], -1, 2, -1, 8n]])
})
