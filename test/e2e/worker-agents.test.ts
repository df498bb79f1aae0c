/** Agents in threads of the collector: their faults affect only themselves. docs/decisions/worker-agents.md */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { clearDebug, setDebug } from '../../src/model/debug.ts'
import { statusOf } from '../../src/model/errors.ts'
import { pmid } from '../../src/model/ids.ts'
import { LABEL_DOMAIN } from '../../src/model/labels.ts'
import { ANONYMOUS, type Ask } from '../../src/model/source.ts'
import { PM_TYPE_U32 } from '../../src/model/types.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { agentFromConfig, builtinAgents } from '../../src/pmcd/open-agents.ts'
import type { Collector, CollectorOptions } from '../../src/pmcd/options.ts'
import { parseConfig } from '../../src/routing/pmcd-conf.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { bundleAgentWorker, bundleTools } from '../lib/bundle-tools.ts'
import { diagnose } from '../pmcd/parts.ts'

const ASK: Ask = { requester: ANONYMOUS }
const NUMFETCH = pmid(253, 0, 0)
const STEADY = pmid(481, 0, 0)
const FAULT = pmid(481, 0, 1)

/** Storing a number triggers the fault of that number. */
const FAULTY = `
const kept = []
const faults = {
  exception: () => setImmediate(() => { throw new Error('thrown by a timer') }),
  rejection: () => { void Promise.reject(new Error('unhandled')) },
  loop: () => { for (;;); },
  heap: () => { for (;;) kept.push(Array.from({ length: 1000 }, (_, i) => i / 3)) },
  exit: () => process.exit(3),
  throws: () => { throw new Error('thrown by a callback') },
  prints: () => console.log('printed by the agent'),
}
export const names = Object.keys(faults)
const common = { type: 'u32', sem: 'instant', units: 'none' }
export const agent = {
  name: 'faulty',
  domain: 481,
  open: () => ({
    metrics: {
      'faulty.steady': { ...common, item: 0, help: 'always seven', value: () => 7 },
      'faulty.fault': {
        ...common, item: 1, help: 'store a number to see that fault', value: () => 0,
        store: (number) => faults[names[number]](),
      },
    },
  }),
}
`
const FAULTS = ['exception', 'rejection', 'loop', 'heap', 'exit', 'throws', 'prints']

let programs: string
let dir: string
let collector: Collector | undefined
let lines: string[]
const open: HostSource[] = []

beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'worker-programs-'))
  await bundleAgentWorker(programs)
  writeFileSync(join(programs, 'faulty.mjs'), FAULTY)
  await bundleTools(programs, { pmcd: 'pmcd.ts' })
})
afterAll(() => rmSync(programs, { recursive: true }))

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'worker-e2e-'))
  lines = []
})
afterEach(async () => {
  for (const source of open.splice(0)) await source.close()
  await collector?.close()
  collector = undefined
  rmSync(dir, { recursive: true, force: true })
})

async function start(conf: string, options: Partial<CollectorOptions> = {}): Promise<HostSource> {
  const { agents, problems } = parseConfig(conf)
  expect(problems).toEqual([])
  collector = await startCollector({
    agents: [...builtinAgents(['pmcd', 'simple']), ...agents.map(agentFromConfig)],
    ports: [0],
    socketPath: join(dir, 'pmcd.socket'),
    hostname: 'vm',
    log: {
      ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
      notice: (level, text) => lines.push(`${level}: ${text}`),
      line: (text) => lines.push(text),
    },
    agentDir: dir,
    // A thread takes its time on a busy machine.
    timeoutSec: 60,
    credsTimeoutSec: 60,
    workers: { program: join(programs, 'agent-worker.cjs'), heapMb: 32 },
    ...options,
  })
  return connect()
}

async function connect(): Promise<HostSource> {
  const source = await HostSource.connect(`localhost:${collector!.port}`)
  open.push(source)
  return source
}

const faulty = (): string => `faulty 481 dso worker:agent ${join(programs, 'faulty.mjs')}\n`

/** Returns first words and statuses. */
async function values(source: HostSource, ...ids: number[]): Promise<number[]> {
  const { sets } = await source.fetch(ids, ASK)
  return sets.map((set) => (set.status < 0 ? set.status : set.word[0]!))
}

test('an agent in a thread has names, values, texts and labels, both from pmcd.conf and built in', async () => {
  const source = await start(
    `${faulty()}trivial 250 dso worker:trivial_init /var/lib/pcp/pmdas/trivial/pmda_trivial.so\n`,
  )
  expect(await source.traverse('faulty', ASK)).toEqual(['faulty.steady', 'faulty.fault'])
  expect(await source.traverse('trivial', ASK)).toEqual(['trivial.time'])
  expect(await values(source, STEADY, pmid(250, 0, 0))).toEqual([7, expect.any(Number)])
  expect(await source.text({ kind: 'metric', id: STEADY, level: 'oneline' }, ASK)).toBe('always seven')
  const [labels] = await source.labels({ level: LABEL_DOMAIN, id: 481 }, ASK)
  expect(labels?.json).toBe('{"agent":"faulty"}')
  expect(lines.join('\n')).toMatch(/^faulty +481 .* dso worker lib=.*faulty.mjs entry=agent$/m)
})

test('built-in agents run in threads on request', async () => {
  const source = await start('', {
    agents: builtinAgents(['pmcd', 'simple', 'sample'], ['simple', 'sample']),
  })
  expect(await values(source, NUMFETCH)).toEqual([1])
  expect(await source.store([makeSet(NUMFETCH, PM_TYPE_U32, [-1], [9])], ASK)).toBeUndefined()
  expect(await values(source, NUMFETCH)).toEqual([10])
  expect(lines.join('\n')).toMatch(/^simple +253 .* dso worker built in$/m)
})

/** Timeout of an agent that never answers; others must be answered several times meanwhile. */
const AGENT_SEC = 4

/** Log lines of the faults that end the agent. */
const REASONS: Readonly<Record<string, RegExp>> = {
  exception: /^error: Agent "faulty" ends: Error: thrown by a timer/m,
  rejection: /^error: Agent "faulty" ends: Error: unhandled/m,
  heap: /^error: Agent "faulty" ends: .*memory/m,
  loop: /^Cleanup "faulty" agent \(dom 481\): protocol failure/m,
  exit: /^Cleanup "faulty" agent \(dom 481\): .*exit\(3\)/m,
}

test.each(Object.keys(REASONS))('%s ends only the agent, which is restarted', async (fault) => {
  // Only the loop is ended by a timeout; a heap must fill first, however busy the machine is.
  const source = await start(faulty(), { timeoutSec: fault === 'loop' ? AGENT_SEC : 60 })
  const other = await connect()
  const number = FAULTS.indexOf(fault)
  let isOver = false
  const stored = source
    .store([makeSet(FAULT, PM_TYPE_U32, [-1], [number])], ASK)
    .catch((error: unknown) => error)
    .finally(() => {
      isOver = true
    })
  // Meanwhile other agents answer, and the collector's event loop is free.
  let fetches = 0
  while (!isOver) {
    expect((await values(other, NUMFETCH))[0]).toBeGreaterThan(0)
    fetches++
    await new Promise((resolve) => setImmediate(resolve))
  }
  await stored
  while (!REASONS[fault]!.test(lines.join('\n'))) await values(other, NUMFETCH)
  while ((await values(other, STEADY))[0] !== 7) await new Promise((resolve) => setImmediate(resolve))
  console.log(`${fault}: ${fetches} fetches meanwhile`)
  // If fetches waited for the agent, there would be only one.
  if (fault === 'loop') expect(fetches).toBeGreaterThan(1)
  expect(lines).toContain('    "faulty"')
})

test('an agent in a thread ends 30 times: others are not affected, and it is restarted each time', async () => {
  const kills = 30
  const source = await start(
    `${faulty()}steady 482 dso worker:agent ${write('steady.mjs', FAULTY.replaceAll('faulty', 'steady').replace('481', '482'))}\n`,
    { restartIntervalMs: 0 },
  )
  const other = await connect()
  let isOver = false
  let fetches = 0
  const fetching = (async () => {
    // The same thread and the same collector throughout.
    for (; !isOver; fetches++) {
      expect(await values(other, pmid(482, 0, 0), NUMFETCH)).toEqual([7, fetches + 1])
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  const exit = makeSet(FAULT, PM_TYPE_U32, [-1], [FAULTS.indexOf('exit')])
  for (let i = 0; i < kills; i++) {
    while ((await values(source, STEADY))[0] !== 7) await new Promise((resolve) => setImmediate(resolve))
    await source.store([exit], ASK).catch(() => {})
  }
  while ((await values(source, STEADY))[0] !== 7) await new Promise((resolve) => setImmediate(resolve))
  isOver = true
  await fetching
  expect(fetches).toBeGreaterThan(kills)
  expect(lines.filter((line) => /^Cleanup "faulty" agent .*exit\(3\)/.test(line))).toHaveLength(kills)
  expect(lines.filter((line) => line.startsWith('Cleanup "steady"'))).toEqual([])
})

test("an exception of a callback becomes the request's status, and output of agents is logged", async () => {
  const source = await start(faulty())
  const store = (fault: string): Promise<void> =>
    source.store([makeSet(FAULT, PM_TYPE_U32, [-1], [FAULTS.indexOf(fault)])], ASK)
  await expect(store('throws')).rejects.toMatchObject({ code: 'PM_ERR_GENERIC' })
  await store('prints')
  expect(await values(source, STEADY)).toEqual([7])
  await collector!.close()
  const log = lines.join('\n')
  expect(log).toMatch(/^error: faulty: .*thrown by a callback/m)
  expect(log).toMatch(/^faulty: printed by the agent$/m)
})

test('an agent that fails again is restarted after the interval', async () => {
  let now = 1_000_000
  const source = await start(faulty(), { clock: () => now })
  const fail = async (): Promise<void> => {
    now += 1
    await source.store([makeSet(FAULT, PM_TYPE_U32, [-1], [FAULTS.indexOf('exit')])], ASK).catch(() => {})
  }
  await fail()
  while ((await values(source, STEADY))[0] !== 7) await new Promise((resolve) => setImmediate(resolve))
  await fail()
  while ((await values(source, STEADY))[0] === 7) await new Promise((resolve) => setImmediate(resolve))
  const restarts = (): number => lines.filter((line) => line.startsWith('Restarting any')).length
  expect(restarts()).toBe(1)
  await collector!.reconfigure()
  expect(restarts()).toBe(2)
  expect(await values(source, STEADY)).toEqual([7])
})

/** Writes a user's module. */
function write(name: string, text: string): string {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}

test('a module that cannot be loaded or exports no agent is logged and skipped', async () => {
  const source = await start(
    `${faulty()}
    broken 482 dso worker:agent ${write('broken.mjs', 'export const agent = )')}
    empty 484 dso worker:agent ${write('empty.mjs', 'export const agent = 5')}
    missing 485 dso worker:agent ${join(dir, 'missing.mjs')}
    other 486 dso worker:other_init /usr/lib/other.so
    own 487 dso worker:pmcd_init /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so`,
  )
  expect(await values(source, STEADY, NUMFETCH)).toEqual([7, 1])
  const log = lines.join('\n')
  expect(log).toMatch(/^error: Agent "broken" did not start: .*Unexpected token/m)
  expect(log).toMatch(/^error: Agent "empty" did not start: .*exports no agent "agent"/m)
  expect(log).toMatch(/^error: Agent "missing" did not start: .*missing\.mjs/m)
  expect(log).toMatch(/^error: Agent "other" did not start: .*no built-in agent replaces/m)
  expect(log).toMatch(/^error: Agent "own" did not start: .*write its entry as pmcd_init/m)
})

test('a module that loops while loading is skipped after the time limit', async () => {
  const looping = write('looping.mjs', 'for (;;);')
  const source = await start(`looping 483 dso worker:agent ${looping}\n`, { credsTimeoutSec: 1 })
  expect(await values(source, NUMFETCH)).toEqual([1])
  expect(lines.join('\n')).toMatch(/^error: Agent "looping" did not start: .*within 1000 ms/m)
})

test('a thread stuck in a system call is abandoned, and does not keep the collector from stopping', async () => {
  const fifo = join(dir, 'fifo')
  execFileSync('mkfifo', [fifo])
  const stuck = join(dir, 'stuck.mjs')
  writeFileSync(stuck, FAULTY.replace('value: () => 7', `value: () => readFileSync('${fifo}').length`))
  writeFileSync(stuck, `import { readFileSync } from 'node:fs'\n${readFileSync(stuck, 'utf8')}`)
  const own = 'pmcd 2 dso pmcd_init /lib/pmda_pmcd.so'
  writeFileSync(join(dir, 'pmcd.conf'), `${own}\nstuck 481 dso worker:agent ${stuck}\n`)
  writeFileSync(join(dir, 'root'), 'root {\n  pmcd\n}\npmcd {\n  version 2:0:7\n}\n')
  const socket = join(dir, 's')
  const files = ['-c', 'pmcd.conf', '-n', 'root', '-s', socket, '-l', 'pmcd.log']
  const options = ['-f', '-p', '0', '-t', '1', '-q', '60', ...files]
  const child = spawn(process.execPath, [join(programs, 'pmcd.cjs'), ...options], {
    cwd: dir,
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  const log = (): string => readFileSync(join(dir, 'pmcd.log'), 'utf8')
  while (!existsSync(join(dir, 'pmcd.log')) || !log().includes('request port'))
    await new Promise((resolve) => setTimeout(resolve, 20))
  const source = await HostSource.connect(`unix://${socket}`)
  open.push(source)
  expect(await values(source, STEADY)).toEqual([statusOf('PM_ERR_TIMEOUT')])
  expect(await values(source, pmid(2, 0, 7))).toEqual([expect.any(Number)])
  while (!log().includes('does not end')) await values(source, pmid(2, 0, 7))
  child.kill('SIGTERM')
  expect(await ended).toEqual([null, 'SIGKILL'])
  expect(log()).toMatch(/error: Agent "stuck" did not start: .*its previous thread does not end/i)
  expect(log()).toMatch(/A thread of an agent does not end: pmcd is killed with it\n\nLog finished/)
})

test('the example of the documentation runs in the collector, in a thread and as a daemon', async () => {
  const docs = readFileSync(new URL('../../docs/reference/agent-toolkit.md', import.meta.url), 'utf8')
  const module = /```js\n(\/\/ dice\.mjs[\s\S]*?)```/.exec(docs)![1]!
  const conf = [...docs.matchAll(/^ {4}(dice\w* 48\d .*)$/gm)].map((match) => match[1]!)
  expect(conf).toHaveLength(3)
  const path = join(dir, 'dice.mjs')
  writeFileSync(path, module)
  // Files that `npm install pcp-ts` would put there.
  await build({
    entryPoints: ['src/pmda/index.ts'],
    outfile: join(dir, 'node_modules/pcp-ts/pmda.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
  })
  writeFileSync(join(dir, 'node_modules/pcp-ts/package.json'), '{ "exports": { "./pmda": "./pmda.mjs" } }')
  for (const line of conf) {
    const [name, domain] = line.split(' ')
    const source = await start(`${line.replace('/opt/dice/dice.mjs', path)}\n`)
    const [value] = await values(source, pmid(Number(domain), 0, 0))
    expect(value, name).toBeGreaterThanOrEqual(1)
    expect(value, name).toBeLessThanOrEqual(6)
    await collector!.close()
  }
})

test('-D libpmda shows the requests of agents in this process and in threads, also when switched on later', async () => {
  const events = diagnose({ debug: new Set(['libpmda']) }, (line) => lines.push(line))
  const steady = `faulty 481 dso worker:agent ${join(programs, 'faulty.mjs')}`
  const source = await start(steady, { events })
  const requests = async (): Promise<readonly string[]> => {
    lines = []
    await source.fetch([NUMFETCH, STEADY], ASK)
    return lines.filter((line) => line.includes('libpmda: ') && line.includes(': fetch for'))
  }
  await expect
    .poll(requests)
    .toEqual([
      expect.stringMatching(/^libpmda: simple: fetch for client \d+$/),
      expect.stringMatching(/^faulty: libpmda: faulty: fetch for client \d+$/),
    ])
  clearDebug('libpmda')
  await expect.poll(requests).toEqual([])
  setDebug('libpmda')
  await expect.poll(async () => (await requests()).length).toBe(2)
  clearDebug('libpmda')
})
