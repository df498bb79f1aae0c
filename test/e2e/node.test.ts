/** Node.js processes that measure themselves, as seen through a collector: servers, clusters, threads, and their ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { connect } from '../../src/pmapi/index.ts'
import { type CollectorProcess, startCollectorProcess } from '../lib/collector-process.ts'

const top = process.cwd()
let dir: string
let collector: CollectorProcess
let pcp: Awaited<ReturnType<typeof connect>>
const children: ChildProcess[] = []

/** A server like those of frameworks, which store the matched route in the request. */
const SERVER = `
import http from 'node:http'
export const server = http.createServer((request, response) => {
  if (request.url.startsWith('/orders/')) request.route = { path: '/orders/:order' }
  if (request.url === '/never') return
  response.statusCode = request.url === '/missing' ? 404 : 200
  response.end('hello')
})
await new Promise((done) => server.listen(0, '127.0.0.1', done))
export const base = 'http://127.0.0.1:' + server.address().port
`
const PROGRAMS: { readonly [name: string]: string } = {
  'server.mjs': SERVER,
  'requests.mjs': `
import { base, server } from './server.mjs'
import http from 'node:http'
for (const path of ['/orders/a', '/orders/b', '/missing', '/users/12']) await (await fetch(base + path)).text()
await new Promise((done) => http.get(base + '/old', (response) => response.resume().on('end', done)))
const hurry = new AbortController()
server.on('request', ({ url }) => { if (url === '/never') hurry.abort() })
await fetch(base + '/never', { signal: hurry.signal }).catch(() => {})
console.log('ready')`,
  'cluster.mjs': `
import cluster from 'node:cluster'
if (cluster.isPrimary) {
  let online = 0
  cluster.on('listening', () => ++online === 2 && console.log('ready'))
  cluster.fork(); cluster.fork()
  process.stdin.on('data', () => Object.values(cluster.workers)[0].process.kill('SIGKILL'))
} else await import('./server.mjs')`,
  'threads.mjs': `
import { Worker, isMainThread } from 'node:worker_threads'
if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url))
  worker.once('message', () => console.log('ready'))
  process.stdin.on('data', () => worker.terminate())
} else {
  const { parentPort } = await import('node:worker_threads')
  parentPort.postMessage('here')
  setInterval(() => {}, 1000)
}`,
  'idle.cjs': `setInterval(() => {}, 1000); console.log('ready')`,
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-node-'))
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(top, join(dir, 'node_modules', 'pcp-ts'))
  for (const [name, text] of Object.entries(PROGRAMS)) writeFileSync(join(dir, name), text)
  collector = await startCollectorProcess('node,mmv')
  pcp = await connect(`localhost:${collector.port}`)
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
    child.kill('SIGKILL')
    await ended
  }
})
afterAll(async () => {
  await pcp.close()
  await collector.stop()
  rmSync(dir, { recursive: true })
})

/** Starts a program that measures itself; resolves when it reports that it is ready. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
  const child = spawn(process.execPath, [...args], {
    cwd: dir,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...rest, PCP_TMP_DIR: join(collector.dir, 'lib', 'tmp'), PCP_NODE_INTERVAL: '20 msec', ...env },
  })
  children.push(child)
  let text = ''
  for await (const chunk of child.stdout!.setEncoding('utf8')) {
    text += chunk
    if (text.includes('ready')) break
  }
  return child
}

const IMPORTED = ['--import', 'pcp-ts/node/register']

/** Returns values by instance, without process ids; {} for a missing metric. */
async function valuesOf(name: string): Promise<{ readonly [instance: string]: unknown }> {
  if ((await pcp.traverse(name.split('.')[0]!)).every((known) => known !== name)) return {}
  const row = await pcp.values([name])
  return Object.fromEntries(
    Array.from(row.get(name).instances, ([instance, value]) => [instance.replace(/^\d+/, 'N'), value]),
  )
}

/** Returns the instances of all processes. */
async function processes(root = 'node'): Promise<readonly string[]> {
  const name = `${root}.process.version`
  if (!(await pcp.traverse(root.split('.')[0]!)).includes(name)) return []
  return [...(await pcp.values([name])).get(name).instances.keys()]
}

test.each(['node', 'mmv.node'])('%s: a server, its routes, and its own requests', async (root) => {
  await run([...IMPORTED, 'requests.mjs'], { PCP_NODE_LABELS: 'app=shop' })
  await expect
    .poll(() => valuesOf(`${root}.http.server.requests`))
    .toEqual({
      'N::GET:/orders/:order::200': 2,
      'N::GET:/missing::404': 1,
      'N::GET:/users/:id::200': 1,
      'N::GET:/old::200': 1,
      'N::GET:/never::200': 1,
    })
  await expect.poll(() => valuesOf(`${root}.http.server.aborted`)).toEqual({ 'N requests.mjs': 1 })
  expect(await valuesOf(`${root}.http.server.duration.count`)).toEqual({ 'N requests.mjs': 6 })
  expect(await valuesOf(`${root}.http.server.active`)).toEqual({ 'N requests.mjs': 0 })
  expect(await valuesOf(`${root}.http.client.duration.count`)).toEqual({ 'N requests.mjs': 6 })
  const outcomes = Object.keys(await valuesOf(`${root}.http.client.requests`)).map(
    (name) => name.split('::')[2],
  )
  expect(outcomes.toSorted()).toEqual(['200', '404', 'error'])
  const heap = Object.values(await valuesOf(`${root}.heap.used`))
  expect(heap[0]).toBeGreaterThan(1e6)
  const { indom } = await pcp.desc(await pcp.lookupName(`${root}.heap.used`))
  const [labels] = await pcp.instancesLabels(indom)
  expect(labels?.json).toContain('"app":"shop"')
})

test('workers of a cluster are separate instances, and vanish when they are killed', async () => {
  const primary = await run([...IMPORTED, 'cluster.mjs'])
  await expect.poll(() => processes()).toHaveLength(3)
  primary.stdin!.write('kill\n')
  await expect.poll(() => processes()).toHaveLength(2)
  const { indom } = await pcp.desc(await pcp.lookupName('node.heap.used'))
  const labels = await pcp.instancesLabels(indom)
  expect(labels.map(({ json }) => /"cluster_worker":\d/.exec(json)?.[0]).toSorted()).toEqual([
    '"cluster_worker":2',
    undefined,
  ])
  primary.kill('SIGKILL')
  await expect.poll(() => processes()).toEqual([])
})

test('threads measure themselves, and vanish when they are terminated', async () => {
  const main = await run([...IMPORTED, 'threads.mjs'])
  await expect
    .poll(async () => (await processes()).filter((name) => name.includes('thread 1 of')))
    .toHaveLength(1)
  await expect
    .poll(async () => Object.keys(await valuesOf('node.worker.utilization')))
    .toEqual(['N::thread-1'])
  main.stdin!.write('terminate\n')
  await expect.poll(() => processes()).toEqual([`${main.pid} threads.mjs`])
  expect(await valuesOf('node.workers.active')).toEqual({ 'N threads.mjs': 0 })
})

test.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
  '%s ends a process as usual, and its metrics',
  async (signal) => {
    const child = await run(['--require', 'pcp-ts/node/register', 'idle.cjs'])
    await expect.poll(() => processes()).toEqual([`${child.pid} idle.cjs`])
    const ended = once(child, 'exit')
    child.kill(signal)
    expect(await ended).toEqual([null, signal])
    expect(await processes()).toEqual([])
  },
)

test('the next process removes the files of a killed one', async () => {
  const child = await run([...IMPORTED, 'idle.cjs'])
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  const published = join(collector.dir, 'lib', 'tmp', 'mmv')
  // A file left by a kill during a write.
  writeFileSync(join(published, `.node-${child.pid}-0.${child.pid}.0.new`), '')
  const next = await run([...IMPORTED, 'idle.cjs'])
  // The next process may be about to replace its own file.
  await expect.poll(() => readdirSync(published)).toEqual([`node-${next.pid}-0`])
})

test('nothing is measured when switched off, and an invalid setting is a warning', async () => {
  await run([...IMPORTED, 'idle.cjs'], { PCP_NODE: 'off' })
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
  const wrong = spawn(process.execPath, [...IMPORTED, '-e', 'console.log("goes on")'], {
    cwd: dir,
    env: { ...rest, PCP_NODE_INTERVAL: 'often' },
  })
  const text = (
    await Promise.all([wrong.stdout, wrong.stderr].map(async (stream) => (await stream.toArray()).join('')))
  ).join('')
  expect(text).toContain('goes on')
  expect(text).toContain('"often" is not an interval')
  expect(await processes()).toEqual([])
})

test('an unwritable directory is a warning, and the program continues', async () => {
  writeFileSync(join(dir, 'file'), '')
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
  const child = spawn(process.execPath, [...IMPORTED, '-e', 'console.log("goes on")'], {
    cwd: dir,
    env: { ...rest, PCP_NODE_DIRECTORY: join(dir, 'file', 'below') },
  })
  const text = (
    await Promise.all([child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join('')))
  ).join('')
  expect(text).toContain('goes on')
  expect(text).toMatch(/PcpWarning: Metrics of this process: .*file/)
})
