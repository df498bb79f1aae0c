/** Constant metrics of the sample agent under the reference's collector. */
import { isError } from '../../../../src/model/errors.ts'
import { PM_INDOM_NULL } from '../../../../src/model/ids.ts'
import { valuesOf } from '../../../../src/model/value-set.ts'
import { connect } from '../../../../src/pmapi/connect.ts'
import type { Context } from '../../../../src/pmapi/context.ts'
import type { MetricFacts, SourceFacts } from './archive-facts.ts'

/** Placeholder of the collector's HOST:PORT. */
export const HOST = 'HOST'

/** Metrics that change over time or with each fetch, reply late, or can be stored into. */
const MOVING =
  /\.(not_ready|hang|abort|sysinfo|dynamic|event|noinst|bad|updown|scale_step|dodgey|part_bin|drift|\w*seconds|load|wrap|rapid|step|control|secret|pdu|recv|xmit|datasize|percontext|many|needprofile|mirage|proc|hordes|ghosts|lights|magnitude|colour|darkness|k?byte_)|write_me/

/** Returns the sample agent's metrics that have the same values twice, with their instances. */
export async function liveFacts(host: string): Promise<SourceFacts> {
  const context = await connect(host)
  try {
    const metrics: MetricFacts[] = []
    for (const name of (await context.traverse('sample')).toSorted()) {
      const facts = await factsOf(context, name)
      if (facts !== undefined) metrics.push(facts)
    }
    const now = Date.now() / 1000
    return { name: HOST, metrics, start: now, end: now }
  } finally {
    await context.close()
  }
}

async function factsOf(context: Context, name: string): Promise<MetricFacts | undefined> {
  if (MOVING.test(name)) return undefined
  const [id] = await context.lookupNames([name])
  if (id === undefined || isError(id)) return undefined
  const { type, indom } = await context.desc(id)
  const read = async (): Promise<string> => {
    const set = (await context.fetch([id])).sets[0]!
    return set.status <= 0
      ? ''
      : valuesOf(set, type)
          .map(({ inst, value }) => `${inst}=${value}`)
          .join()
  }
  const first = await read()
  if (first === '' || first !== (await read())) return undefined
  const instances = indom === PM_INDOM_NULL ? [] : (await context.instances(indom)).names
  return { name, type, instances }
}
