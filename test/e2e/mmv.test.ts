/** How publishing processes end and what they leave: unwritten values, files, partial files. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseMmv } from '../../src/mmv/layout.ts'

const library = join(process.cwd(), 'dist', 'esm', 'mmv.js')
let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pcp-ts-mmv-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Runs a program with a writer `metrics` that keeps its file, without mapping; resolves to its exit status. */
async function run(
  program: string,
  {
    signal,
    options = 'keep: true, load: () => undefined',
  }: { signal?: NodeJS.Signals; options?: string } = {},
): Promise<readonly unknown[]> {
  const text = `
    import { MmvWriter } from ${JSON.stringify(library)}
    const metrics = new MmvWriter('app', { directory: ${JSON.stringify(directory)}, ${options} })
    const hits = metrics.counter('hits')
    metrics.publish()
    ${program}`
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  })
  const ended = once(child, 'exit')
  if (signal !== undefined) {
    await once(child.stdout, 'data')
    child.kill(signal)
  }
  return ended
}

function hits(): number {
  const bytes = readFileSync(join(directory, 'app'))
  return Number(bytes.readBigUInt64LE(parseMmv(bytes).metrics[0]!.values.get(-1)!))
}

const WAIT = 'console.log("ready"); setInterval(() => {}, 1000)'

test.each([
  ['its end', 'hits.add(7)', 0],
  ['process.exit', 'hits.add(7); process.exit(3)', 3],
  [
    'an exception',
    'hits.add(7); process.on("uncaughtException", () => process.exit(4)); throw new Error()',
    4,
  ],
])('values are written after %s', async (_what, program, status) => {
  expect(await run(program)).toEqual([status, null])
  expect(hits()).toBe(7)
})

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'values are written after %s, which ends as usual',
  async (signal) => {
    expect(await run(`hits.add(7); ${WAIT}`, { signal })).toEqual([null, signal])
    expect(hits()).toBe(7)
  },
)

test('an application with signal handlers decides itself', async () => {
  const program = `process.on('SIGTERM', () => { hits.inc(); process.exit(5) }); hits.add(7); ${WAIT}`
  expect(await run(program, { signal: 'SIGTERM' })).toEqual([5, null])
  expect(hits()).toBe(8)
})

test.each(['', 'load: () => undefined'])(
  'a file that is not kept is removed with its process (%s)',
  async (options) => {
    await run('hits.add(7)', { options })
    expect(readdirSync(directory)).toEqual([])
  },
)

test('a process killed while writing leaves a complete file', async () => {
  const program = `
    const queues = metrics.instances()
    queues.counter('sent')
    console.log('ready')
    for (let i = 0; ; i++) { queues.add('q' + i); if (i > 50) queues.remove('q' + (i - 50)); metrics.publish(); hits.inc() }`
  for (let i = 0; i < 10; i++) {
    for (const options of ['keep: true', 'keep: true, load: () => undefined']) {
      expect(await run(program, { signal: 'SIGKILL', options })).toEqual([null, 'SIGKILL'])
      const { header, metrics } = parseMmv(readFileSync(join(directory, 'app')))
      expect(header.isStable).toBe(true)
      expect(metrics[0]!.name).toBe('hits')
    }
  }
  await run('')
  expect(readdirSync(directory)).toEqual(['app'])
  expect(existsSync(join(directory, 'app'))).toBe(true)
})
