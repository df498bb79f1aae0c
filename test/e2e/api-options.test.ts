/** Each option of the calls that open a context has its effect. The compiler requires an entry for each option. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createArchive, openArchive } from '../../src/archive.ts'
import { openLocal } from '../../src/local.ts'
import type { PcpError } from '../../src/model/errors.ts'
import { PM_TYPE_U32 } from '../../src/model/types.ts'
import {
  type Clock,
  type ConnectOptions,
  type Context,
  connect,
  type DerivedSetup,
  type OpenArchiveOptions,
  Pmns,
  pmid,
  registerDerived,
  unregisterDerived,
} from '../../src/pmapi/index.ts'
import type { LocalContextOptions } from '../../src/routing/local-context.ts'
import { type CollectorProcess, startCollectorProcess } from '../lib/collector-process.ts'
import { demoAgent } from '../lib/demo-agent.ts'

let collector: CollectorProcess
let dir: string
let base: string
/** The only setting that an application needs for `npm start -- --dir`. */
const env = (): Record<string, string> => ({
  PCP_CONF: join(collector.dir, 'etc', 'pcp.conf'),
  PCP_DERIVED_CONFIG: '',
})

beforeAll(async () => {
  collector = await startCollectorProcess('sample,simple')
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-options-'))
  base = join(dir, 'made')
  const made = createArchive(base, { hostname: 'made.example' })
  const metric = made.addMetric('made.level', { type: PM_TYPE_U32 })
  for (const [i, value] of [0, 10].entries()) {
    made.put(metric, value)
    made.write({ sec: 1000 + i * 10, nsec: 0 })
  }
  made.close()
  registerDerived('registered.two', '1 + 1')
})
afterAll(async () => {
  unregisterDerived('registered.two')
  await collector.stop()
  rmSync(dir, { recursive: true })
})

const named = (name: string, id: number): Pmns => {
  const names = new Pmns()
  names.add(name, id)
  return names
}
/** Returns a clock that counts `sleep` calls without waiting. */
const countingClock = (): Clock & { slept: number } => ({
  slept: 0,
  now: () => 0,
  async sleep() {
    this.slept++
  },
})
/** Offset of the feature bits in an archive label of version 3. */
const FEATURES_AT = 28
const noDerived = (): DerivedSetup => ({ list: () => [] })
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'fine',
    ({ code }: PcpError) => code,
  )
const rowsOf = async (pcp: Context, name: string): Promise<number> => {
  let rows = 0
  for await (const _ of pcp.sample([name], { every: 5, count: 2 })) rows++
  return rows
}
/** Returns which of two derived metrics a context has: a registered one, and one of a file in PCP_DERIVED_CONFIG. */
const derivedIn = async (pcp: Context): Promise<readonly string[]> => [
  await codeOf(pcp.lookupName('registered.two')),
  await codeOf(pcp.lookupName('filed.three')),
]

const CONNECT: { readonly [K in keyof Required<ConnectOptions>]: () => Promise<void> } = {
  env: async () => {
    await using pcp = await connect('local:', { env: env() })
    expect(await codeOf(pcp.lookupName('sample.bin'))).toBe('fine')
    expect(await codeOf(connect('local:', { env: { PCP_CONF: join(dir, 'none') } }))).toBe('ENOENT')
  },
  signal: async () => {
    expect(await codeOf(connect('local:', { env: env(), signal: AbortSignal.abort() }))).not.toBe('fine')
  },
  container: async () => {
    expect(await codeOf(connect('local:', { env: env(), container: 'no such/name' }))).toBe('EINVAL')
  },
  names: async () => {
    await using pcp = await connect('local:', { env: env(), names: named('mine.only', pmid(29, 0, 0)) })
    expect(await pcp.traverse()).toContain('mine.only')
    expect(await pcp.traverse()).not.toContain('sample.bin')
  },
  derived: async () => {
    await using pcp = await connect('local:', { env: env(), derived: noDerived })
    await using usual = await connect('local:', { env: env() })
    expect(await derivedIn(pcp)).toEqual(['PM_ERR_NAME', 'PM_ERR_NAME'])
    expect(await derivedIn(usual)).toEqual(['fine', 'PM_ERR_NAME'])
  },
  clock: async () => {
    const clock = countingClock()
    await using pcp = await connect('local:', { env: env(), clock })
    expect(await rowsOf(pcp, 'sample.long.one')).toBe(2)
    expect(clock.slept).toBeGreaterThan(0)
  },
  reconnect: async () => {
    await using pcp = await connect('local:', { env: env(), reconnect: true })
    await using usual = await connect('local:', { env: env() })
    expect([pcp.reconnectsAutomatically, usual.reconnectsAutomatically]).toEqual([true, false])
  },
  maxRequests: async () => {
    await using pcp = await connect('local:', { env: env(), maxRequests: 1 })
    const both = Promise.all([codeOf(pcp.lookupName('sample.bin')), codeOf(pcp.lookupName('sample.colour'))])
    expect(await both).toEqual(['fine', 'EAGAIN'])
  },
  replyLimits: async () => {
    await using pcp = await connect('local:', { env: env(), replyLimits: { items: 3 } })
    expect(await codeOf(pcp.traverse('sample'))).toBe('PM_ERR_TOOBIG')
  },
}

const ARCHIVE: { readonly [K in keyof Required<OpenArchiveOptions>]: () => Promise<void> } = {
  env: async () => {
    const level = async (env: Record<string, string>): Promise<unknown> => {
      await using pcp = await openArchive(base, { env: { PCP_DERIVED_CONFIG: '', ...env } })
      pcp.archive!.setMode('interpolate', { sec: 1008, nsec: 0 }, 1)
      return (await pcp.values(['made.level'])).value('made.level')
    }
    expect([await level({}), await level({ PCP_INTERP_EARLIER: '1' })]).toEqual([10, 0])
  },
  names: async () => {
    await using usual = await openArchive(base)
    const id = await usual.lookupName('made.level')
    await using pcp = await openArchive(base, { names: named('mine.level', id) })
    expect(await codeOf(pcp.lookupName('mine.level'))).toBe('fine')
    expect(await codeOf(pcp.lookupName('made.level'))).toBe('PM_ERR_NAME')
  },
  files: async () => {
    const open = (path: string): never => {
      throw Object.assign(new Error(path), { code: 'ENOENT' })
    }
    const files = { isDirectory: () => false, list: () => [], open }
    expect(await codeOf(openArchive(base, { files }))).toBe('ENOENT')
  },
  anyFeatures: async () => {
    const odd = join(dir, 'odd')
    const made = createArchive(odd, { version: 3 })
    made.put(made.addMetric('odd.one'), 1)
    made.write({ sec: 1000, nsec: 0 })
    made.close()
    for (const part of ['0', 'meta', 'index']) {
      const bytes = readFileSync(`${odd}.${part}`)
      bytes.writeUInt32BE(1, FEATURES_AT)
      writeFileSync(`${odd}.${part}`, bytes)
    }
    expect(await codeOf(openArchive(odd))).toBe('PM_ERR_FEATURE')
    await using pcp = await openArchive(odd, { anyFeatures: true })
    expect(await codeOf(pcp.lookupName('odd.one'))).toBe('fine')
  },
  isExcluded: async () => {
    await using usual = await openArchive(base)
    const id = await usual.lookupName('made.level')
    await using pcp = await openArchive(base, { isExcluded: (left) => left === id })
    expect(await codeOf(pcp.desc(id))).not.toBe('fine')
  },
  nearest: async () => {
    await using pcp = await openArchive(base, { env: {}, nearest: false })
    pcp.archive!.setMode('interpolate', { sec: 1008, nsec: 0 }, 1)
    expect((await pcp.values(['made.level'])).value('made.level')).toBe(0)
  },
  stopsAtDamage: async () => {
    const torn = join(dir, 'torn')
    for (const part of ['0', 'meta', 'index'])
      writeFileSync(`${torn}.${part}`, readFileSync(`${base}.${part}`))
    writeFileSync(`${torn}.0`, readFileSync(`${base}.0`).subarray(0, -5))
    const behind = async (options: OpenArchiveOptions): Promise<string> => {
      await using pcp = await openArchive(torn, options)
      const id = await pcp.lookupName('made.level')
      const reads = { first: await codeOf(pcp.fetch([id])), second: await codeOf(pcp.fetch([id])) }
      expect(reads.first).toBe('fine')
      return reads.second
    }
    expect(await behind({})).toBe('PM_ERR_EOL')
    expect(await behind({ stopsAtDamage: true })).toBe('PM_ERR_LOGREC')
  },
  onWarning: async () => {
    const warnings: string[] = []
    const onWarning = ({ code }: PcpError): unknown => warnings.push(code)
    await using pcp = await openArchive([base, join(dir, 'missing')], { onWarning })
    expect(await codeOf(pcp.lookupName('made.level'))).toBe('fine')
    expect(warnings).toEqual(['ENOENT'])
  },
  derived: async () => {
    await using pcp = await openArchive(base, { derived: noDerived })
    await using usual = await openArchive(base, { env: { PCP_DERIVED_CONFIG: '' } })
    expect(await derivedIn(pcp)).toEqual(['PM_ERR_NAME', 'PM_ERR_NAME'])
    expect((await derivedIn(usual))[0]).toBe('fine')
  },
  clock: async () => {
    // Archives do not need the clock for rows, but a copy of the context must inherit it.
    const clock = countingClock()
    await using pcp = await openArchive(base, { clock })
    expect(await rowsOf(pcp, 'made.level')).toBe(2)
    expect(clock.slept).toBe(0)
  },
}

const LOCAL: { readonly [K in keyof Required<LocalContextOptions>]: () => Promise<void> } = {
  agents: async () => {
    await using pcp = await openLocal({ agents: [demoAgent] })
    expect((await pcp.values(['demo.one'])).value('demo.one')).toBe(1)
  },
  specs: async () => {
    const names = named('simple.numfetch', pmid(253, 0, 0))
    const open = (specs: readonly string[]): Promise<Context> => openLocal({ specs, names })
    await using pcp = await open(['add,253,simple/pmda_simple.so,simple_init'])
    await using none = await open([])
    const id = pmid(253, 0, 0)
    expect([await codeOf(pcp.desc(id)), await codeOf(none.desc(id))]).toEqual(['fine', 'PM_ERR_NOAGENT'])
  },
  names: async () => {
    await using pcp = await openLocal({ agents: [demoAgent], names: named('mine.one', pmid(250, 0, 0)) })
    expect((await pcp.values(['mine.one'])).value('mine.one')).toBe(1)
  },
  env: async () => {
    const file = join(dir, 'derived')
    writeFileSync(file, 'filed.three = 1 + 2\n')
    const conf = join(dir, 'conf')
    mkdirSync(conf)
    writeFileSync(join(conf, 'pcp.conf'), `PCP_SYSCONF_DIR=${conf}\nPCP_DERIVED_CONFIG=${file}\n`)
    mkdirSync(join(conf, 'labels'))
    writeFileSync(join(conf, 'labels', 'team'), '{"team":"post"}')
    await using pcp = await openLocal({ agents: [demoAgent], env: { PCP_CONF: join(conf, 'pcp.conf') } })
    expect((await pcp.contextLabels())[0]?.json).toContain('"team":"post"')
    expect(await derivedIn(pcp)).toEqual(['fine', 'fine'])
  },
  warn: async () => {
    const warnings: string[] = []
    const specs = ['add,400,none/pmda_none.so,none_init']
    await using pcp = await openLocal({ specs, names: new Pmns(), warn: (text) => warnings.push(text) })
    expect(pcp.archive).toBeUndefined()
    expect(warnings).toEqual([expect.stringContaining('pmda_none.so')])
  },
  derived: async () => {
    await using pcp = await openLocal({ agents: [demoAgent], derived: noDerived })
    expect(await derivedIn(pcp)).toEqual(['PM_ERR_NAME', 'PM_ERR_NAME'])
  },
  clock: async () => {
    const clock = countingClock()
    await using pcp = await openLocal({ agents: [demoAgent], clock })
    expect(await rowsOf(pcp, 'demo.one')).toBe(2)
    expect(clock.slept).toBeGreaterThan(0)
  },
}

for (const [call, options] of Object.entries({ connect: CONNECT, openArchive: ARCHIVE, openLocal: LOCAL }))
  for (const [option, check] of Object.entries(options)) test(`${call}: ${option}`, check)
