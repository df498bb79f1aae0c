/** Pods of Kubernetes, from answers as its API gives them: pages, events, bookmarks, versions that are too old, refused tokens. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DiscoveredHost } from '../../src/discovery/host.ts'
import { openCluster } from '../../src/discovery/kubernetes/cluster.ts'
import { hostOfPod } from '../../src/discovery/kubernetes/pods.ts'
import { kubernetes } from '../../src/discovery/sources/kubernetes.ts'
import type { Clock } from '../../src/pmapi/clock.ts'

let dir: string
let server: Server
let address: string
let answers: ((request: IncomingMessage, response: ServerResponse) => void)[]
let requests: string[]
let tokens: (string | undefined)[]
const end = { controller: new AbortController() }

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'kubernetes-'))
  answers = []
  requests = []
  tokens = []
  server = createServer((request, response) => {
    requests.push(request.url!)
    tokens.push(request.headers.authorization)
    const answer = answers.shift()
    // Without an answer a watch stays open.
    if (answer !== undefined) answer(request, response)
    else response.flushHeaders()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  end.controller = new AbortController()
})
afterEach(async () => {
  end.controller.abort()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
  rmSync(dir, { recursive: true })
})

function kubeconfig(user: string): string {
  const path = join(dir, 'config')
  writeFileSync(
    path,
    `apiVersion: v1
kind: Config
current-context: main
clusters: [{name: c, cluster: {server: "${address}"}}]
contexts: [{name: main, context: {cluster: c, user: u, namespace: apps}}]
users:
- name: u
  user: ${user}
`,
  )
  return path
}

function pod(name: string, version: number, changes: Readonly<Record<string, unknown>> = {}): object {
  return {
    metadata: {
      name,
      namespace: 'apps',
      uid: `uid-${name}`,
      resourceVersion: String(version),
      labels: { app: 'db' },
      annotations: { 'pcp.io/record': 'yes' },
    },
    spec: { nodeName: 'n1', containers: [{ name: 'main', ports: [{ containerPort: 80 }] }] },
    status: { phase: 'Running', podIP: `10.1.0.${version}` },
    ...changes,
  }
}

const json =
  (value: unknown, status = 200) =>
  (_: IncomingMessage, response: ServerResponse): void => {
    response.statusCode = status
    response.end(JSON.stringify(value))
  }

const list = (version: number, items: readonly object[], next?: string) =>
  json({ kind: 'PodList', metadata: { resourceVersion: String(version), continue: next }, items })

/** A watch that sends events in pieces, and ends. */
const events =
  (...all: readonly object[]) =>
  (_: IncomingMessage, response: ServerResponse): void => {
    const text = all.map((event) => `${JSON.stringify(event)}\n`).join('')
    response.write(text.slice(0, 20))
    setImmediate(() => response.end(text.slice(20)))
  }

/** Waiting takes no time, but yields to other work. */
const EAGER: Clock = { now: () => 0, sleep: () => new Promise((done) => setImmediate(done)) }

interface Watched {
  readonly names: string[][]
  readonly failures: string[]
  readonly said: string[]
  readonly hosts: DiscoveredHost[]
  until(isTrue: () => boolean): Promise<void>
}

function watch(options: Readonly<Record<string, string>>, namespace = ''): Watched {
  const names: string[][] = []
  const said: string[] = []
  const failures: string[] = []
  const hosts: DiscoveredHost[] = []
  const source = kubernetes.open(
    namespace,
    { refreshMs: 60_000, port: 44321, options },
    { env: {}, cwd: dir, clock: EAGER, variables: {}, say: (text) => void said.push(text) },
  )
  void source.watch(
    {
      update: (found) => {
        names.push(found.map(({ name }) => name))
        hosts.splice(0, hosts.length, ...found)
      },
      failed: (error) => {
        failures.push(error.message)
      },
    },
    end.controller.signal,
  )
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await new Promise((done) => setTimeout(done, 5))
  }
  return { names, failures, said, hosts, until }
}

test('pods are listed in pages and followed by events', async () => {
  answers.push(
    list(10, [pod('a', 1), pod('pending', 2, { status: { phase: 'Pending' } })], 'token1'),
    list(10, [pod('b', 3)]),
    events(
      { type: 'ADDED', object: pod('c', 11) },
      { type: 'BOOKMARK', object: { kind: 'Pod', metadata: { resourceVersion: '15' } } },
      { type: 'MODIFIED', object: pod('a', 16, { status: { phase: 'Succeeded', podIP: '10.1.0.1' } }) },
      { type: 'DELETED', object: pod('b', 17) },
    ),
  )
  const watched = watch({ kubeconfig: kubeconfig('{token: secret}'), selector: 'app=db,tier!=x' })
  await watched.until(() => watched.names.at(-1)?.join() === 'c' && requests.length === 4)
  expect(watched.names.slice(0, 4)).toEqual([['a', 'b'], ['a', 'b', 'c'], ['b', 'c'], ['c']])
  expect(watched.hosts).toEqual([
    { spec: '10.1.0.11:44321', name: 'c', labels: { app: 'db', namespace: 'apps', pod: 'c', node: 'n1' } },
  ])
  const queries = requests.map((url) => new URL(url, address).searchParams)
  expect(requests[0]).toMatch(/^\/api\/v1\/namespaces\/apps\/pods\?/)
  expect(
    queries.map((query) => [query.get('continue'), query.get('resourceVersion'), query.get('labelSelector')]),
  ).toEqual([
    [null, null, 'app=db,tier!=x'],
    ['token1', null, 'app=db,tier!=x'],
    [null, '10', 'app=db,tier!=x'],
    // The next watch continues after the last event.
    [null, '17', 'app=db,tier!=x'],
  ])
  expect(new Set(tokens)).toEqual(new Set(['Bearer secret']))
})

test.each([
  ['an event', events({ type: 'ERROR', object: { kind: 'Status', code: 410, message: 'too old' } })],
  ['a status', json({ kind: 'Status', code: 410, message: 'too old' }, 410)],
])('%s about an old version causes a new list', async (_, gone) => {
  answers.push(list(10, [pod('a', 1)]), gone, list(50, [pod('b', 2)]))
  const watched = watch({ kubeconfig: kubeconfig('{}') }, '*')
  await watched.until(() => watched.names.at(-1)?.join() === 'b')
  expect(watched.failures).toEqual([])
  expect(requests.filter((url) => url.includes('limit='))).toHaveLength(2)
  expect(requests[0]).toMatch(/^\/api\/v1\/pods\?/)
})

test('failures are reported, hosts stay, and the list is read again', async () => {
  answers.push(
    json({ message: 'pods is forbidden' }, 403),
    list(10, [pod('a', 1)]),
    (request) => request.socket.destroy(),
    json([], 200),
    list(11, [pod('a', 1), pod('b', 2)]),
  )
  const watched = watch({ kubeconfig: kubeconfig('{}') })
  await watched.until(() => watched.names.at(-1)?.join() === 'a,b')
  expect(watched.failures).toEqual(
    [
      expect.stringContaining('403 pods is forbidden. Allow its account to list and watch pods'),
      expect.stringContaining('ECONN'),
      expect.stringContaining('not a list of pods'),
    ].map((text, i) => (i === 1 ? expect.any(String) : text)),
  )
  expect(watched.names).toEqual([['a'], ['a', 'b']])
})

test('a strange pod is skipped, and the rest of the list counts', async () => {
  const status = { phase: 'Running', podIP: '10.1.0.7 # \u0001' }
  answers.push(
    list(10, [pod('strange', 1, { status }), pod('a', 2)]),
    events(
      { type: 'ADDED', object: { metadata: null, spec: null, status: null } },
      { type: 'MODIFIED', object: pod('a', 11, { status }) },
      { type: 'ADDED', object: pod('b', 12) },
    ),
  )
  const watched = watch({ kubeconfig: kubeconfig('{}') })
  await watched.until(() => watched.names.at(-1)?.join() === 'b')
  expect(watched.names.slice(0, 3)).toEqual([['a'], [], ['b']])
  expect(watched.failures).toEqual([])
  expect(watched.said).toEqual(
    ['strange', 'a'].map((name) => expect.stringMatching(`^pod apps/${name} skipped: `)),
  )
})

test('tokens are read for each request, and a refused one is replaced', async () => {
  writeFileSync(join(dir, 'token'), 'one\n')
  answers.push(
    (request, response) => {
      writeFileSync(join(dir, 'token'), 'two\n')
      json({ message: 'Unauthorized' }, 401)(request, response)
    },
    list(10, []),
  )
  const watched = watch({ kubeconfig: kubeconfig('{tokenFile: token}') })
  await watched.until(() => watched.names.length > 0)
  expect(tokens.slice(0, 2)).toEqual(['Bearer one', 'Bearer two'])
})

test('a plugin is run again when its token expires', async () => {
  const plugin = join(dir, 'plugin')
  const credential = '{"status": {"token": "tN", "expirationTimestamp": "2026-01-01T01:00:00Z"}}'
  writeFileSync(
    plugin,
    `#!/bin/sh\nn=$(cat ${dir}/n 2>/dev/null || echo 0)\necho $((n + 1)) > ${dir}/n\necho '${credential}' | sed "s/tN/t$n/"\n`,
  )
  chmodSync(plugin, 0o755)
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const path = kubeconfig('{exec: {command: ./plugin, args: [x], env: [{name: A, value: b}]}}')
  const cluster = await openCluster(path, { env: {}, cwd: dir, nowMs: () => nowMs })
  expect([await cluster.token(), await cluster.token()]).toEqual(['t0', 't0'])
  nowMs += 3_590_000
  expect(await cluster.token()).toBe('t1')
  cluster.forgetToken()
  expect(await cluster.token()).toBe('t2')
})

test('a pod uses its service account', async () => {
  for (const [name, text] of [
    ['ca.crt', 'CA'],
    ['token', 'abc\n'],
    ['namespace', 'apps'],
  ] as const)
    writeFileSync(join(dir, name), text)
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }
  const cluster = await openCluster(undefined, { env, cwd: dir, accountDir: dir })
  expect([cluster.server, cluster.tls.ca, await cluster.token(), cluster.namespace]).toEqual([
    ...['https://[fd00::1]:6443', 'CA', 'abc', 'apps'],
  ])
})

test('a kubeconfig file that leads nowhere is an error that names it', async () => {
  const io = { env: { KUBECONFIG: 'absent' }, cwd: dir }
  await expect(openCluster(undefined, io)).rejects.toThrow(join(dir, 'absent'))
  writeFileSync(join(dir, 'empty'), 'current-context: x\n')
  await expect(openCluster('empty', io)).rejects.toThrow('no context "x" in its list of contexts')
})

test('pods are chosen by annotation, and name their port', () => {
  const spec = {
    containers: [
      {
        ports: [
          { name: 'web', containerPort: 80 },
          { name: 'pmcd', containerPort: 44400 },
        ],
      },
    ],
  }
  expect(hostOfPod(pod('a', 1, { spec }), { port: 1 }, () => {})!.spec).toBe('10.1.0.1:44400')
  const chosen = (annotation: { name: string; value?: string }): boolean =>
    hostOfPod(pod('a', 1), { port: 1, annotation }, () => {}) !== undefined
  expect([
    chosen({ name: 'pcp.io/record' }),
    chosen({ name: 'pcp.io/record', value: 'yes' }),
    chosen({ name: 'pcp.io/record', value: 'no' }),
    chosen({ name: 'other' }),
  ]).toEqual([true, true, false, false])
  for (const value of [
    undefined,
    null,
    7,
    {},
    { status: { podIP: 3 } },
    { metadata: { deletionTimestamp: 'x' } },
  ])
    expect(hostOfPod(value, { port: 1 }, () => {})).toBeUndefined()
})
