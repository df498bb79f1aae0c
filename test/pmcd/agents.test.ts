import { afterEach, expect, test, vi } from 'vitest'
import { overrideSource } from '../../src/model/layer.ts'
import type { MetricSource } from '../../src/model/source.ts'
import { PMCD_NAMES_CHANGE } from '../../src/model/values.ts'
import { Agents, type AgentsHost } from '../../src/pmcd/agents.ts'
import type { AgentOpenEnv, AgentOptions } from '../../src/pmcd/options.ts'
import type { OpenedAgent } from '../../src/routing/agent-slot.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { memoryAgent, QUIET } from './parts.ts'

let agents: Agents
afterEach(async () => {
  vi.useRealTimers()
  await agents.close()
})

/** Returns a promise that the test resolves. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}

/** A source whose events the test sends. */
function eventful(name: string, domain: number) {
  const listeners = new Set<Parameters<OpenedAgent['source']['subscribe']>[0]>()
  const source = overrideSource(memoryAgent(name, domain), {
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  })
  const emit: Parameters<OpenedAgent['source']['subscribe']>[0] = (event) => {
    for (const listener of listeners) listener(event)
  }
  return { source, emit }
}

const option = (name: string, domain: number, open: AgentOptions['open']): AgentOptions => ({
  name,
  domain,
  kind: 'pipe',
  parameters: '',
  open,
})

function newAgents(host: Partial<AgentsHost> = {}): { lines: string[]; changes: number[] } {
  const lines: string[] = []
  const changes: number[] = []
  const log = {
    ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
    notice: (level: string, text: string) => lines.push(`${level}: ${text}`),
    line: (text: string) => lines.push(text),
  }
  agents = new Agents({
    env: { log, events: QUIET, credsTimeoutMs: () => 3000 } as unknown as AgentOpenEnv,
    restartsAgents: true,
    clock: Date.now,
    changed: (bits) => changes.push(bits),
    started: () => {},
    rerouted: async () => {},
    roundStarted: () => {},
    ...host,
  })
  return { lines, changes }
}

const lost = { type: 'lost', error: new Error('gone') } as const

test('an agent that is still starting is not started twice when another agent is lost', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const slow = gate()
  const restarted = gate()
  const opened = { a: 0, b: 0 }
  const a = eventful('a', 10)
  newAgents()
  const started = agents.start([
    option('a', 10, async () => {
      if (++opened.a === 2) restarted.open()
      return { source: a.source }
    }),
    option('b', 11, async () => {
      opened.b++
      await slow.passed
      return { source: memoryAgent('b', 11) }
    }),
  ])
  await vi.advanceTimersByTimeAsync(0)
  a.emit(lost)
  await vi.advanceTimersByTimeAsync(0) // the first restart is due at once
  slow.open()
  await started
  await restarted.passed
  expect(opened).toEqual({ a: 2, b: 1 })
})

test('names are reread after an agent reports changes, once for all reports meanwhile', async () => {
  const looked = gate()
  let looks = 0
  const a = eventful('a', 10)
  const { changes } = newAgents({
    rerouted: async () => {
      if (++looks === 2) looked.open()
    },
  })
  await agents.start([option('a', 10, async () => ({ source: a.source }))])
  for (let i = 0; i < 3; i++) a.emit({ type: 'changed', changes: PMCD_NAMES_CHANGE })
  await looked.passed
  await new Promise((resolve) => setImmediate(resolve))
  expect(changes).toEqual(Array(3).fill(PMCD_NAMES_CHANGE))
  expect(looks).toBe(2)
})

test('a round waiting for an agent that never answers does not keep the collector from stopping', async () => {
  let fail = (): void => {}
  let isWaiting = false
  const source = overrideSource(memoryAgent('a', 10), { close: async () => fail() })
  newAgents({
    rerouted: () =>
      new Promise((resolve) => {
        if (isWaiting) fail = resolve
        else resolve()
        isWaiting = true
      }),
  })
  await agents.start([option('a', 10, async () => ({ source }))])
  void agents.restart()
  await new Promise((resolve) => setImmediate(resolve))
  await agents.close()
})

test('an agent whose process cannot be killed is abandoned', async () => {
  const { lines } = newAgents()
  const source = memoryAgent('a', 10)
  const never = new Promise<never>(() => {})
  await agents.start([option('a', 10, async () => ({ source, pid: 1, exited: never }))])
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const closing = agents.close()
  await vi.advanceTimersByTimeAsync(60_000)
  await closing
  expect(lines).toContain('Cleanup "a" agent (dom 10): terminated')
})

test('setting the clock back delays a restart by at most a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let now = 10_000_000
  const a = eventful('a', 10)
  let opened = 0
  newAgents({ clock: () => now })
  const open = async (): Promise<OpenedAgent> => {
    opened++
    return { source: a.source }
  }
  await agents.start([option('a', 10, open)])
  a.emit(lost)
  await vi.advanceTimersByTimeAsync(0)
  expect(opened).toBe(2)
  now -= 3_600_000
  a.emit(lost)
  await vi.advanceTimersByTimeAsync(59_000)
  expect(opened).toBe(2)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(opened).toBe(3)
})

/** A promise that never settles, which agents must not return. */
const NEVER = new Promise<never>(() => {})

/** Waits until other callbacks have run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('an agent that never opens delays the others by its time limit only, is reported and retried', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let tries = 0
  const { lines } = newAgents({ clock: () => 1000, restartIntervalMs: 5000 })
  const started = agents.start([
    option('good', 10, async () => ({ source: memoryAgent('good', 10) })),
    {
      ...option('hung', 11, async () => (++tries === 3 ? { source: memoryAgent('hung', 11) } : NEVER)),
      kind: 'dso',
    },
  ])
  await vi.advanceTimersByTimeAsync(2999)
  expect(agents.slots.map(({ state }) => state)).toEqual(['connected', 'failed'])
  await vi.advanceTimersByTimeAsync(1)
  await started
  expect(lines).toContain('error: Agent "hung" did not start: Agent "hung" did not open within 3000 ms')
  // The first round comes immediately, the next after the interval.
  await vi.advanceTimersByTimeAsync(3001)
  expect(tries).toBe(2)
  await vi.advanceTimersByTimeAsync(5001)
  expect(tries).toBe(3)
  expect(agents.slots[1]!.state).toBe('connected')
})

test('stopping abandons agents that are being opened, and closes one that opens too late', async () => {
  const late = gate()
  const closed = gate()
  const aborted: string[] = []
  const { lines } = newAgents()
  const source = overrideSource(memoryAgent('late', 12), { close: async () => closed.open() })
  const started = agents.start([
    option('hung', 11, (_env, signal) => {
      signal.addEventListener('abort', () => aborted.push('hung'))
      return NEVER
    }),
    option('late', 12, async () => {
      await late.passed
      return { source }
    }),
  ])
  await turn()
  await agents.close()
  await started
  expect(aborted).toEqual(['hung'])
  expect(lines).toEqual([])
  late.open()
  await closed.passed
})

test('agents that never return their names delay the start by one time limit together, and are retried', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let looks = 0
  const source = (domain: number) =>
    overrideSource(
      memoryAgent('silent', domain),
      // In this process, names are a separate method.
      {
        names: () => {
          looks++
          return NEVER
        },
      } as Partial<MetricSource>,
    )
  const open = (name: string, domain: number): AgentOptions =>
    option(name, domain, async () => ({ source: source(domain) }))
  const { lines } = newAgents({
    clock: () => 1000,
    rerouted: async () => {
      await agents.names()
    },
  })
  const started = agents.start([open('a', 10), open('b', 11), open('c', 12)])
  await vi.advanceTimersByTimeAsync(10_000)
  await started
  expect(lines.filter((line) => line.includes('does not report its names'))).toHaveLength(3)
  expect(looks).toBe(3)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(looks).toBeGreaterThan(3)
  const closing = agents.close()
  await vi.advanceTimersByTimeAsync(10_000)
  await closing
})

test('an agent whose close never resolves is abandoned', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  newAgents()
  const source = overrideSource(memoryAgent('a', 10), { close: () => NEVER })
  await agents.start([option('a', 10, async () => ({ source })), option('b', 11, async () => ({ source }))])
  const closing = agents.close()
  await vi.advanceTimersByTimeAsync(10_000) // both at the same time
  await closing
})
