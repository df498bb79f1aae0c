/** Compares our pmproxy with PCP's in front of the same collector: hundreds of requests with the same replies, or a known reason. docs/reference/pmproxy.md */
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Candidate, hasReference, startReference } from '../../bench/macro/lib/collectors.ts'
import { DEFAULT_CONFIG } from '../../src/pmproxy/config.ts'
import { type RunningProxy, startProxy } from '../../src/pmproxy/server.ts'
import { loadConfig } from '../../src/sys/config.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { type RawAnswer, rawRequest } from '../lib/raw-http.ts'
import { REFERENCE_PROXY, ReferenceProxy } from './lib/reference-proxy.ts'
import { normalExchange } from './lib/web-answers.ts'
import { REQUEST_BYTES, requestBytes } from './lib/web-bytes.ts'
import { CHANGING } from './lib/web-changes.ts'
import { type Comparable, REASONS, type Reason } from './lib/web-reasons.ts'
import { READING } from './lib/web-requests.ts'

const REQUESTS: Readonly<Record<string, readonly string[]>> = { ...READING, ...CHANGING }

const isInstalled = hasReference() && existsSync(REFERENCE_PROXY)
if (!isInstalled) console.log('pmproxy interop skipped: PCP is not installed')

describe.skipIf(!isInstalled)('beside PCP', () => {
  let collector: Candidate
  let ours: RunningProxy
  let theirs: ReferenceProxy
  let same = 0
  const different = new Map<Reason, number>()
  beforeAll(async () => {
    collector = await startReference([2, 29, 60])
    const env = { ...process.env, PMCD_PORT: String(collector.port) }
    theirs = await ReferenceProxy.start(env)
    ours = await startProxy({
      config: { ...DEFAULT_CONFIG, allowsStore: true, hosts: ['*'], origins: ['*'] },
      ports: [0],
      variables: loadConfig(env).variables,
      log: { ...logOnFd(2, { progname: 'pmproxy', host: 'vm' }), notice: () => undefined },
    })
  })
  afterAll(async () => {
    await ours?.close()
    await theirs?.stop()
    await collector?.stop()
  })

  const get = (port: number, target: string): Promise<RawAnswer | undefined> =>
    rawRequest(port, requestBytes('GET', target))

  async function newContext(port: number): Promise<string> {
    const answer = await get(port, '/pmapi/context?polltimeout=300')
    return String((JSON.parse(String(answer!.body)) as { context: number }).context)
  }

  /** Returns undefined for equal replies or known differences, else a description. */
  function compare(what: string, a: RawAnswer | undefined, b: RawAnswer | undefined): string | undefined {
    const [got, wanted] = [a, b].map(normalExchange) as [Comparable | undefined, Comparable | undefined]
    if (JSON.stringify(got) === JSON.stringify(wanted)) {
      same++
      return undefined
    }
    const reason = REASONS.find(({ holds }) => holds(what, got, wanted))
    if (reason === undefined) return `${what}\n  ours ${JSON.stringify(got)}\n  PCP ${JSON.stringify(wanted)}`
    different.set(reason, (different.get(reason) ?? 0) + 1)
    return undefined
  }

  test.each(Object.keys(REQUESTS))('%s', async (group) => {
    const contexts = (): Promise<string[]> => Promise.all([newContext(ours.port), newContext(theirs.port)])
    let [a, b] = await contexts()
    const wrong: (string | undefined)[] = []
    for (const target of REQUESTS[group]!) {
      const both = (): Promise<(RawAnswer | undefined)[]> =>
        Promise.all([
          get(ours.port, target.replaceAll('CTX', a!)),
          get(theirs.port, target.replaceAll('CTX', b!)),
        ])
      let answers = await both()
      // An errno left over from an earlier call lasts as long as the process.
      if (String(answers[1]?.body).includes('Numerical result out of range')) {
        await theirs.restart()
        ;[a, b] = await contexts()
        answers = await both()
      }
      wrong.push(compare(target, answers[0], answers[1]))
      if (answers[1] === undefined && (await theirs.revive())) [a, b] = await contexts()
    }
    expect(wrong.filter((each) => each !== undefined)).toEqual([])
  })

  test('methods, versions, headers and bodies', async () => {
    const wrong: (string | undefined)[] = []
    for (const [name, bytes] of Object.entries(REQUEST_BYTES)) {
      const answers = await Promise.all([rawRequest(ours.port, bytes), rawRequest(theirs.port, bytes)])
      wrong.push(compare(name, ...answers))
      if (answers[1] === undefined) await theirs.revive()
    }
    expect(wrong.filter((each) => each !== undefined)).toEqual([])
  })

  test('every reason is used', () => {
    const counts = REASONS.map((reason) => `  ${different.get(reason) ?? 0}: ${reason.why}`)
    const total = [...different.values()].reduce((sum, count) => sum + count, 0)
    console.log(
      `${same + total} requests: ${same} answered the same, ${total} differ for a reason; PCP ended ${theirs.deaths} times\n${counts.join('\n')}`,
    )
    expect(REASONS.filter((reason) => !different.has(reason)).map(({ why }) => why)).toEqual([])
  })
})
