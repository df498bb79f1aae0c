/** Finds metrics by words in their names and help texts. docs/reference/pmproxy.md */
import { MetricSearch } from '../analysis/metric-search.ts'
import type { MetricDesc } from '../model/desc.ts'
import { domainOf, type Indom, PM_INDOM_NULL } from '../model/ids.ts'
import { PROC_DOMAIN } from '../model/process-sample.ts'
import type { CallOptions, Context } from '../pmapi/context.ts'
import { AnswerCache } from './cache.ts'
import { describeNames, isKnown, orUndefined } from './describe.ts'

export interface FoundMetric {
  readonly name: string
  readonly desc: MetricDesc
  /** The one-line help. */
  readonly help: string
}

/** Maximum number of metrics of a source. */
const MOST_METRICS = 50_000
const BATCH = 512
/** Most instance domains whose instances are searched, and most instances of all of them. */
const MOST_INDOMS = 500
const MOST_INSTANCES = 20_000

/** Searches all metrics of sources, of which it keeps the last ones. */
export class NameSearch {
  readonly #lists = new AnswerCache<string, Promise<MetricSearch<FoundMetric>>>({ keepMs: 60_000, most: 16 })

  /**
   * Returns the metrics of a query, the best first, as `MetricSearch` ranks them; all in name space order for an empty one. `key`
   * identifies the source of `context`.
   */
  async find(
    key: string,
    context: Context,
    query: string,
    options: CallOptions,
  ): Promise<readonly FoundMetric[]> {
    return (await this.#lists.one(key, () => readAll(context, options))).find(query)
  }
}

async function readAll(context: Context, options: CallOptions): Promise<MetricSearch<FoundMetric>> {
  const names = (await context.traverse('', options)).slice(0, MOST_METRICS)
  const all: FoundMetric[] = []
  for (let at = 0; at < names.length; at += BATCH) {
    const metrics = await describeNames(context, names.slice(at, at + BATCH), options)
    const known = metrics.filter(isKnown)
    const texts = await Promise.all(
      known.map(({ desc }) => orUndefined(context.text(desc.pmid, { ...options, level: 'oneline' }))),
    )
    known.forEach(({ name, desc }, i) => {
      all.push({ name, desc, help: texts[i] ?? '' })
    })
  }
  const instances = await readInstances(context, all, options)
  return new MetricSearch(all, ({ desc }) => instances.get(desc.indom))
}

/** Returns the instances of each domain, but of processes, which come and go. */
async function readInstances(
  context: Context,
  metrics: readonly FoundMetric[],
  options: CallOptions,
): Promise<ReadonlyMap<Indom, readonly string[]>> {
  const { archive } = context
  const found = new Map<Indom, readonly string[]>()
  let room = MOST_INSTANCES
  const indoms = new Set(metrics.map(({ desc }) => desc.indom))
  for (const indom of [...indoms].slice(0, MOST_INDOMS)) {
    if (indom === PM_INDOM_NULL || domainOf(indom) === PROC_DOMAIN || room <= 0) continue
    const names = await orUndefined(
      archive === undefined
        ? context.instances(indom, options)
        : Promise.resolve().then(() => archive.instances(indom)),
    )
    if (names === undefined) continue
    const shown = names.names.slice(0, room)
    room -= shown.length
    found.set(indom, shown)
  }
  return found
}
