/** The entry point of the container image, run as processes: a collector, and a parent that finds and records it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openArchive } from '../../src/pmapi/archive.ts'

const PROGRAM = join(process.cwd(), 'bin', 'pcp-ts')
let dir: string
let children: ChildProcess[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-container-'))
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children = []
  rmSync(dir, { recursive: true, force: true })
})

async function freePort(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return String(port)
}

function start(env: Record<string, string>): { child: ChildProcess; printed: () => string } {
  const child = spawn(process.execPath, [PROGRAM, 'container'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  return { child, printed: () => text }
}

const health = (env: Record<string, string>): ReturnType<typeof spawnSync> =>
  spawnSync(process.execPath, [PROGRAM, 'container', 'health'], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })

test('a collector answers, and a parent finds it by name, records it and shows its values', async () => {
  const [port, webPort] = [await freePort(), await freePort()]
  const common = { PCP_TS_LISTEN: '127.0.0.1' }
  const node = {
    ...common,
    PCP_TS_DIR: join(dir, 'node'),
    PCP_SERVICES: 'pmcd',
    PCP_TS_PORT: port,
    NODE_NAME: 'first',
  }
  expect(health(node)).toMatchObject({ status: 1, stdout: expect.stringMatching(/^pmcd: /) })
  const collector = start(node)
  await expect.poll(() => health(node).status, { interval: 200 }).toBe(0)
  expect(JSON.parse(readFileSync(join(dir, 'node/etc/labels/kubernetes.json'), 'utf8'))).toEqual({
    k8s: { node: 'first' },
  })

  const above = {
    ...common,
    PCP_TS_DIR: join(dir, 'parent'),
    PCP_SERVICES: 'pmlogger,pmproxy',
    PCP_TS_NODES: `localhost:${port}`,
    PCP_TS_WEB_PORT: webPort,
  }
  const parent = start(above)
  await expect.poll(() => health(above).status, { interval: 200 }).toBe(0)
  const url = `http://127.0.0.1:${webPort}/pmapi/fetch?hostspec=127.0.0.1:${port}&names=hinv.ncpu`
  await expect.poll(async () => (await fetch(url)).status, { interval: 200 }).toBe(200)
  const archives = join(dir, 'parent', 'archives', hostname())
  const metadata = (): string | undefined =>
    existsSync(archives) ? readdirSync(archives).find((name) => name.endsWith('.meta')) : undefined
  await expect.poll(metadata, { interval: 200 }).toBeDefined()

  for (const { child, printed } of [parent, collector]) {
    child.kill('SIGTERM')
    const [status] = (await once(child, 'exit')) as [number | null]
    expect(status, printed()).toBe(0)
  }
  expect(parent.printed()).toContain(`hosts: ${hostname()}`)
  const archive = await openArchive(join(archives, metadata()!.replace(/\.meta$/, '')))
  expect(await archive.hostname()).toBe(hostname())
  await archive.close()
})

test('a wrong setting ends it with one line', async () => {
  const { child, printed } = start({ PCP_TS_DIR: dir, PCP_SERVICES: 'pmcd,redis' })
  const [status] = (await once(child, 'exit')) as [number | null]
  expect(status).toBe(1)
  expect(printed()).toBe(
    'pcp-ts container: PCP_SERVICES: unknown service "redis"; use pmcd, pmie, pmlogger, pmproxy\n',
  )
})
