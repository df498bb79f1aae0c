/** Hanging agents do not keep the collector from starting, from answering for other agents or from stopping. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { pmid } from '../../src/model/ids.ts'
import { ANONYMOUS, type Ask } from '../../src/model/source.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { bundleAgentWorker, bundleTools } from '../lib/bundle-tools.ts'

const ASK: Ask = { requester: ANONYMOUS }
const VERSION = pmid(2, 0, 7)
const METRIC = `{ m: { item: 0, type: 'u32', sem: 'instant', units: 'none', help: 'one', value: () => 1 } }`
/** Returns a module with an agent of these tables. */
const agentOf = (name: string, domain: number, tables: string): string =>
  `export const agent = { name: '${name}', domain: ${domain}, open: () => (${tables}) }\n`

let programs: string
let dir: string
let child: ChildProcess | undefined

beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'hanging-programs-'))
  await bundleAgentWorker(programs)
  await bundleTools(programs, { pmcd: 'pmcd.ts' })
})
afterAll(() => rmSync(programs, { recursive: true }))

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hanging-e2e-'))
})
afterEach(() => {
  child?.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true, maxRetries: 10 })
})

function write(name: string, text: string): string {
  const path = join(dir, name)
  writeFileSync(path, text)
  return path
}

const log = (): string => {
  const path = join(dir, 'pmcd.log')
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** Polls until a condition holds, because files send no events. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}

interface Collector {
  readonly process: ChildProcess
  readonly ended: Promise<unknown[]>
}

function start(agents: readonly string[], { patienceSec = 1 } = {}): Collector {
  write('pmcd.conf', ['pmcd 2 dso pmcd_init /lib/pmda_pmcd.so', ...agents, ''].join('\n'))
  const names = agents.map((line) => line.split(' ')).map(([name, domain]) => `${name} ${domain}:0:0`)
  write('root', `root {\n pmcd\n${names.map((line) => ` ${line}\n`).join('')}}\npmcd {\n version 2:0:7\n}\n`)
  const files = ['-c', 'pmcd.conf', '-n', 'root', '-s', join(dir, 's'), '-l', 'pmcd.log']
  const options = ['-f', '-p', '0', '-t', '1', '-q', String(patienceSec), ...files]
  const started = spawn(process.execPath, [join(programs, 'pmcd.cjs'), ...options], {
    cwd: dir,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  child = started
  return { process: started, ended: once(started, 'exit') }
}

async function version(): Promise<unknown> {
  const source = await HostSource.connect(`unix://${join(dir, 's')}`)
  try {
    const { sets } = await source.fetch([VERSION], ASK)
    return sets[0]!.status
  } finally {
    await source.close()
  }
}

const AWAITS = `await new Promise(() => setInterval(() => {}, 1000))\n`

test('agents that hang while starting are skipped after the time limit and reported, and the collector ends on SIGTERM', async () => {
  const awaits = write('awaits.mjs', AWAITS + agentOf('awaits', 481, `{ metrics: ${METRIC} }`))
  const spins = write('spins.mjs', 'for (;;);')
  const { process: collector, ended } = start([
    `awaits 481 dso agent ${awaits}`,
    `threaded 482 dso worker:agent ${awaits}`,
    `spins 483 dso worker:agent ${spins}`,
    `mute 484 pipe binary ${process.execPath} -e "process.on('SIGTERM',()=>{});setInterval(()=>{},1000)"`,
  ])
  await until(() => log().includes('request port'))
  for (const name of ['awaits', 'threaded', 'spins', 'mute'])
    expect(log()).toMatch(new RegExp(`error: Agent "${name}" did not start: .*within 1000 ms`, 'i'))
  expect(await version()).toBe(1)
  // A second round has run and did not import the module again.
  await until(() => /"awaits" did not start: .*still being loaded/.test(log()))
  expect(await version()).toBe(1)
  collector.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(log()).toContain('pmcd Shutdown')
})

test('SIGTERM ends a collector that is still waiting for its agents', async () => {
  const awaits = write('awaits.mjs', AWAITS)
  const started = join(dir, 'started')
  const mute = `require('fs').writeFileSync('${started}',String(process.pid));setInterval(()=>{},1000)`
  const { process: collector, ended } = start(
    [
      `awaits 481 dso agent ${awaits}`,
      `threaded 482 dso worker:agent ${awaits}`,
      `mute 484 pipe binary ${process.execPath} -e "${mute}"`,
    ],
    { patienceSec: 3600 },
  )
  await until(() => existsSync(started) && readFileSync(started, 'utf8') !== '')
  collector.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(log()).toMatch(/caught SIGTERM .*before it had started/)
  const pid = Number(readFileSync(started, 'utf8'))
  await until(() => !isAlive(pid))
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a module that failed to load is loaded after its file was corrected', async () => {
  const path = write('late.mjs', AWAITS)
  const { process: collector, ended } = start([`late 481 dso agent ${path}`])
  await until(() => log().includes('"late" did not start'))
  write('late.mjs', agentOf('late', 481, `{ metrics: ${METRIC} }`))
  collector.kill('SIGHUP')
  const source = await HostSource.connect(`unix://${join(dir, 's')}`)
  const value = async (): Promise<number> => (await source.fetch([pmid(481, 0, 0)], ASK)).sets[0]!.status
  while ((await value()) < 0) await new Promise((resolve) => setImmediate(resolve))
  await source.close()
  collector.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

/** Returns a program of an agent with actions on shutdown. */
const PROGRAM = (atEnd: string): string => `
const fs = require('node:fs')
process.on('SIGTERM', () => note('SIGTERM'))
const note = (text) => fs.appendFileSync(process.argv[2], text + '\\n')
setInterval(() => {}, 1000)
process.stdin.on('end', () => { note('end of input'); ${atEnd} }).resume()
`

test('agents get up to five seconds to exit, in parallel, and no longer than they need', async () => {
  const { encodeCreds } = await import('../../src/wire/creds.ts')
  const hello = Buffer.from(encodeCreds(0)).toString('hex')
  const program = (name: string, atEnd: string): string =>
    write(name, `${PROGRAM(atEnd)}process.stdout.write(Buffer.from('${hello}', 'hex'))\n`)
  const notes = (name: string): string => join(dir, `${name}.notes`)
  // More than 150 ms and less than five seconds: as long as saving takes.
  const saves = program('saves.cjs', `setTimeout(() => { note('saved'); process.exit(0) }, 1000)`)
  const deaf = program('deaf.cjs', '')
  const module = write(
    'module.mjs',
    `import { appendFileSync } from 'node:fs'\n${agentOf(
      'module',
      483,
      `{ metrics: ${METRIC}, close: async () => {
        await new Promise((resolve) => setTimeout(resolve, 1000))
        appendFileSync('${notes('module')}', 'saved\\n')
      } }`,
    )}setInterval(() => {}, 1000)\n`,
  )
  const names = ['a', 'b', 'c', 'd', 'e']
  const { process: collector, ended } = start(
    [
      ...names.map((name, i) => `${name} ${490 + i} pipe binary ${process.execPath} ${saves} ${notes(name)}`),
      `deaf 481 pipe binary ${process.execPath} ${deaf} ${notes('deaf')}`,
      `module 483 dso worker:agent ${module}`,
      `here 484 dso agent ${module}`,
    ],
    { patienceSec: 60 },
  )
  await until(() => log().includes('request port'))
  expect(log()).not.toContain('did not start')
  collector.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  for (const name of names) expect(readFileSync(notes(name), 'utf8'), name).toBe('end of input\nsaved\n')
  expect(readFileSync(notes('module'), 'utf8')).toBe('saved\nsaved\n')
  // It received SIGTERM, then SIGKILL.
  expect(readFileSync(notes('deaf'), 'utf8')).toBe('end of input\nSIGTERM\n')
  expect(log()).toMatch(/Cleanup "deaf" agent \(dom 481\): terminated, signal\(9\)/)
  expect(log()).toMatch(/Cleanup "a" agent \(dom 490\): terminated, exit\(0\)/)
})
