/** Agents that complete the handshake correctly and then send mutants. */
import { PassThrough, Writable } from 'node:stream'
import { statusOf } from '../../src/model/errors.ts'
import { pmid } from '../../src/model/ids.ts'
import { LABEL_INSTANCES, LABEL_ITEM } from '../../src/model/labels.ts'
import { ANONYMOUS, type Ask, type MetricSource } from '../../src/model/source.ts'
import { PM_TYPE_U32 } from '../../src/model/types.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { openAgentLink } from '../../src/net/agent-link.ts'
import { serveAgent } from '../../src/net/agent-server.ts'
import { PduConnection } from '../../src/net/connection.ts'
import type { AgentOptions, Collector } from '../../src/pmcd/options.ts'
import { encodeError } from '../../src/wire/error.ts'
import { Framer } from '../../src/wire/framer.ts'
import { memoryAgent } from '../pmcd/parts.ts'
import { bytesOf, VECTORS } from '../wire/vectors.ts'
import { isDecodable, mutateGently, type Pick } from './mutants.ts'

/** Counts of an attack by agents. */
export interface LieReport {
  mutants: number
  /** Mutants accepted by framer and decoder. */
  passed: number
  /** How often an agent was opened. */
  opened: number
  questions: number
  /** By domain: makes an agent that reported "not ready" report that it is ready. */
  readonly wake: Map<number, () => void>
}

const SEEDS = VECTORS.filter(({ direction }) => direction === 'agent->pmcd').map(({ hex }) => bytesOf(hex))

/** Returns an honest agent of this domain whose PDUs are mutated on the way. */
export function mutatingAgent(domain: number, pick: Pick, report: LieReport): AgentOptions {
  const name = `liar${domain}`
  return {
    name,
    domain,
    kind: 'pipe',
    parameters: 'none',
    open: async (env) => {
      report.opened++
      const questions = new PassThrough()
      const answers = new PassThrough()
      report.wake.set(domain, () => answers.write(encodeError(statusOf('PM_ERR_PMDAREADY'))))
      const link = new PduConnection({ readable: answers, writable: questions }, { name })
      const honest = { readable: questions, writable: twist(answers, pick, report) }
      void serveAgent(memoryAgent(name, domain), new PduConnection(honest, { name: 'collector' })).catch(
        () => {}, // the collector closed the connection
      )
      return { source: await openAgentLink(link, { name, timeoutMs: env.timeoutMs() }) }
    },
  }
}

/** Forwards PDUs to `to`, the first one unchanged, most others as mutants. */
function twist(to: Writable, pick: Pick, report: LieReport): Writable {
  let isFirst = true
  const say = (pdu: Uint8Array): void => {
    if (to.writable) to.write(pdu)
  }
  const lie = (mutant: Uint8Array): void => {
    report.mutants++
    if (isDecodable(mutant)) report.passed++
    say(mutant)
  }
  const framer = new Framer((pdu) => {
    const copy = pdu.slice()
    const choice = isFirst ? 9 : pick(10)
    isFirst = false
    if (choice === 0) lie(mutateGently(SEEDS[pick(SEEDS.length)]!, pick))
    else if (choice < 9) lie(mutateGently(copy, pick))
    else say(copy)
  })
  return new Writable({
    write: (chunk: Uint8Array, _encoding, done) => {
      framer.push(chunk)
      done()
    },
    final: (done) => {
      to.end()
      done()
    },
  })
}

/** Sends requests to the agents of `domains` until they have answered with `count` mutants. */
export async function askLiars(
  collector: Collector,
  domains: readonly number[],
  count: number,
  pick: Pick,
  report: LieReport,
): Promise<void> {
  let reviving: Promise<void> | undefined
  const asker = async (domain: number): Promise<void> => {
    while (report.mutants < count) {
      report.questions++
      try {
        await QUESTIONS[pick(QUESTIONS.length)]!(collector.source, domain)
      } catch {
        // Errors are expected.
      }
      const { sets } = await collector.source.fetch([pmid(domain, 0, 1)], ASK)
      const { status } = sets[0]!
      if (status === AGAIN) report.wake.get(domain)!()
      if (status === NOAGENT) {
        reviving ??= collector.reconfigure().finally(() => {
          reviving = undefined
        })
        await reviving
      }
      // Everything is in memory: without a pause timers would never run.
      if (status < 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all(domains.map(asker))
}

const NOAGENT: number = statusOf('PM_ERR_NOAGENT')
const AGAIN: number = statusOf('PM_ERR_AGAIN')
const ASK: Ask = { requester: ANONYMOUS }

const QUESTIONS: readonly ((source: MetricSource, domain: number) => Promise<unknown>)[] = [
  (source, domain) =>
    source.fetch(
      [1, 2, 3].map((item) => pmid(domain, 0, item)),
      ASK,
    ),
  (source, domain) =>
    source.fetch(
      [3, 9].map((item) => pmid(domain, 0, item)),
      ASK,
    ),
  (source, domain) =>
    source.descs(
      [1, 3].map((item) => pmid(domain, 0, item)),
      ASK,
    ),
  (source, domain) => source.instances(((domain << 22) | 1) >>> 0, undefined, ASK),
  (source, domain) => source.text({ kind: 'metric', id: pmid(domain, 0, 1), level: 'help' }, ASK),
  (source, domain) => source.labels({ level: LABEL_ITEM, id: pmid(domain, 0, 1) }, ASK),
  (source, domain) => source.labels({ level: LABEL_INSTANCES, id: ((domain << 22) | 1) >>> 0 }, ASK),
  (source, domain) => source.store([makeSet(pmid(domain, 0, 2), PM_TYPE_U32, [-1], [7])], ASK),
]
