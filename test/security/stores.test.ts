/** Stores by unknown clients. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AGENTS } from '../../src/agents/registry.ts'
import type { MetricDesc } from '../../src/model/desc.ts'
import { isError, PcpError } from '../../src/model/errors.ts'
import { PM_ID_NULL, PM_IN_NULL, PM_INDOM_NULL } from '../../src/model/ids.ts'
import { ANONYMOUS, type Ask, type MetricSource } from '../../src/model/source.ts'
import {
  PM_TYPE_AGGREGATE,
  PM_TYPE_EVENT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_STRING,
} from '../../src/model/types.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import type { Value } from '../../src/model/values.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { builtinAgents } from '../../src/pmcd/open-agents.ts'
import type { Collector } from '../../src/pmcd/options.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { peerCredentials } from '../../src/sys/native/peer-credentials.ts'
import { canActForOthers, NOBODY } from '../lib/accounts.ts'

/** Metrics that an unknown client may store, with the reason. */
const OPEN: readonly (readonly [metric: RegExp, reason: string])[] = [
  [/^(sample|simple|trivial)\./, 'agents for tests, as open as those of PCP'],
  [
    /^pmcd\.client\.(whoami|container)$|^proc\.control\.perclient\./,
    'applies only to the client that stores',
  ],
  [/^pmcd\.seqnum$/, 'is incremented by any store, which PCP allows everyone'],
  [/^pmcd\.limits\./, 'is refused for root too, with another error'],
]
const CONTAINER = 'pmcd.client.container'
const ASK = { requester: ANONYMOUS }
const NAMES = ['pmcd', ...AGENTS.filter(({ isExplicit }) => isExplicit !== true).map(({ name }) => name)]
const isRoot = canActForOthers()

let dir: string
let collector: Collector
let source: HostSource

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-stores-'))
  chmodSync(dir, 0o755)
  collector = await startCollector({
    agents: builtinAgents(NAMES),
    ports: [0],
    socketPath: join(dir, 'socket'),
    hostname: 'vm',
    credsTimeoutSec: 60, // the agents' sources may have to be compiled first
    log: { ...logOnFd(2, { progname: 'pmcd', host: 'vm' }), notice: () => undefined, line: () => undefined },
    peerCredentials: peerCredentials(),
    variables: {
      PCP_TMP_DIR: join(dir, 'tmp'),
      PCP_PMDAS_DIR: join(dir, 'pmdas'),
      PCP_VAR_DIR: dir,
      PCP_SYSCONF_DIR: dir,
      PCP_RUN_DIR: dir,
    },
  })
  source = await HostSource.connect(`127.0.0.1:${collector.port}`, { env: {} })
})
afterEach(async () => {
  await source.close()
  await collector.close()
  rmSync(dir, { recursive: true })
})

function valueFor({ type }: MetricDesc): Value {
  if (type === PM_TYPE_STRING) return '1'
  if (type === PM_TYPE_AGGREGATE || type === PM_TYPE_EVENT || type === PM_TYPE_HIGHRES_EVENT)
    return new Uint8Array(4)
  return 1
}

interface Attempt {
  readonly name: string
  /** Error code; undefined if the store succeeded. */
  readonly code: string | undefined
}

/** Stores to each metric of every agent. */
async function storeEverywhere(target: MetricSource, ask: Ask): Promise<readonly Attempt[]> {
  const found = await target.traverse('', ask)
  // Last, because it redirects later requests to a missing container.
  const names = [...found.filter((name) => name !== CONTAINER), CONTAINER]
  const ids = await target.lookupNames(names, ask)
  // Fetched before the first store, because some of sample's metrics make it refuse later requests.
  const descs = await target.descs(
    ids.map((id) => (isError(id) ? PM_ID_NULL : id)),
    ask,
  )
  const instances = new Map<number, number>()
  const attempts: Attempt[] = []
  for (const [i, name] of names.entries()) {
    const id = ids[i]!
    if (isError(id)) continue
    const desc = descs[i]!
    if (isError(desc)) continue
    if (desc.indom !== PM_INDOM_NULL && !instances.has(desc.indom)) {
      const known = await target.instances(desc.indom, undefined, ask).catch(() => undefined)
      instances.set(desc.indom, known?.ids[0] ?? 0)
    }
    const inst = instances.get(desc.indom) ?? PM_IN_NULL
    const store = async (): Promise<void> =>
      target.store([makeSet(id, desc.type, [inst], [valueFor(desc)])], ask)
    const code = await store().then(
      () => undefined,
      (error: unknown) => PcpError.from(error).code,
    )
    attempts.push({ name, code })
  }
  return attempts
}

test.each([
  ['an unknown client', 'tcp'],
  ['a local user without privileges', 'nobody'],
])('%s cannot store anything visible to others, to any metric of any agent', async (_who, how) => {
  const nobody = { requester: { ...ANONYMOUS, client: 7, credentials: { uid: NOBODY, gid: NOBODY } } }
  const attempts =
    how === 'tcp' ? await storeEverywhere(source, ASK) : await storeEverywhere(collector.source, nobody)
  expect(attempts.length).toBeGreaterThan(2000)
  const isOpen = (name: string): boolean => OPEN.some(([metric]) => metric.test(name))
  const others = attempts.filter(({ name, code }) => code !== 'PM_ERR_PERMISSION' && !isOpen(name))
  expect(others).toEqual([])
  expect(attempts).toContainEqual({ name: 'simple.numfetch', code: undefined })
})

test.each(['mmv.control.reload', 'pmproxy.control.debug', 'pmcd.control.register', 'xfs.control.reset'])(
  'only root and the owner of the collector can store %s',
  async (name) => {
    const [id] = await source.lookupNames([name], ASK)
    if (isError(id!)) throw id
    const [desc] = await source.descs([id!], ASK)
    if (isError(desc!)) throw desc
    const inst = desc!.indom === PM_INDOM_NULL ? PM_IN_NULL : 0
    const set = makeSet(id!, desc!.type, [inst], [0])
    const as = (uid: number): Ask => ({
      requester: { ...ANONYMOUS, credentials: { uid } },
    })
    await expect(source.store([set], ASK)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
    await expect(collector.source.store([set], as(NOBODY))).rejects.toMatchObject({
      code: 'PM_ERR_PERMISSION',
    })
    if (name !== 'xfs.control.reset') await collector.source.store([set], as(process.geteuid!()))
  },
)

test.skipIf(!isRoot || peerCredentials().problem() !== undefined)(
  'on the unix socket the kernel identifies who stores: root, or another user',
  async () => {
    const pmstore = (...setpriv: readonly string[]): Promise<string> =>
      new Promise((resolve) => {
        const args = [
          join(process.cwd(), 'bin', 'pmstore'),
          '-h',
          `unix:${join(dir, 'socket')}`,
          'pmcd.control.debug',
          '0',
        ]
        const [command = process.execPath, ...rest] = [...setpriv, process.execPath, ...args]
        // The collector runs in this process and must stay able to answer.
        execFile(command, rest, (_error, stdout, stderr) => resolve(stdout + stderr))
      })
    expect(await pmstore()).toContain('new value=0')
    expect(await pmstore('setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups')).toContain(
      'No permission to perform requested operation',
    )
  },
)
