/** Archives of open contexts, for queries of charts. docs/reference/pmproxy.md */
import type { ChartArchive, DerivedFrom } from '../archive/chart-metric.ts'
import type { WantedMetric } from '../archive/chart-range.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { ArchiveControl } from '../pmapi/archive-control.ts'
import type { Context } from '../pmapi/context.ts'
import { yieldToEventLoop } from '../sys/event-loop.ts'
import { describeNames, orUndefined } from './describe.ts'

/** Time limit of a query, ms. */
const MOST_MS = 20_000
const MOST_DEFINITIONS = 100

/** Describes the metrics of a query; `definitions` of derived ones are `NAME=EXPRESSION`. PM_ERR_ARG for another form. */
export async function wantedMetrics(
  context: Context,
  names: readonly string[],
  definitions: readonly string[],
  signal: AbortSignal,
): Promise<WantedMetric[]> {
  const derived = await define(context, definitions, signal)
  const found = await describeNames(context, names, { signal })
  return Promise.all(
    found.map(async (each, i) => {
      const name = names[i]!
      const fault = derived.get(name)
      if (fault !== undefined) return { name, outcome: fault }
      if (isError(each)) return { name, outcome: each }
      const help = (await orUndefined(context.text(each.desc.pmid, { level: 'oneline' }))) ?? ''
      const computed = await computedOf(context, each.desc.pmid, signal)
      return { name, outcome: { desc: each.desc, help, ...(computed === undefined ? {} : { computed }) } }
    }),
  )
}

/** Returns the metrics that the operands of derived metrics use. */
async function computedOf(context: Context, id: Pmid, signal: AbortSignal): Promise<DerivedFrom | undefined> {
  const from = context.operandsOf(id)
  if (from === undefined) return undefined
  const descs = await context.descs(from.ids, { signal })
  return {
    operands: descs.filter((desc): desc is MetricDesc => !isError(desc)),
    isSequential: from.isSequential,
  }
}

/** Defines derived metrics; returns errors by name, as operands may not have been recorded. */
async function define(
  context: Context,
  definitions: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PcpError | undefined>> {
  const names = new Map<string, PcpError | undefined>()
  for (const text of definitions.slice(0, MOST_DEFINITIONS)) {
    const equals = text.indexOf('=')
    if (equals < 1) throw new PcpError('PM_ERR_ARG', 'derive must be NAME=EXPRESSION')
    const name = text.slice(0, equals)
    const fault = await context.addDerived(name, text.slice(equals + 1), { signal }).then(
      () => undefined,
      (error: unknown) => PcpError.from(error),
    )
    if (fault !== undefined && fault.code !== 'PM_ERR_BADDERIVE') throw fault
    names.set(name, fault)
  }
  return names
}

/** Returns an archive for `chartRange`, which yields to other work. PM_ERR_TIMEOUT if reading takes too long. */
export function chartArchive(context: Context, archive: ArchiveControl, signal: AbortSignal): ChartArchive {
  const deadline = performance.now() + MOST_MS
  return {
    start: archive.start,
    end: () => archive.end(),
    scan: (ids, options) => archive.scan(ids, options),
    instances: (indom) => archive.instances(indom),
    setMode: (mode, when, stepSec) => archive.setMode(mode, when, stepSec),
    moveTo: (when) => archive.moveTo(when),
    fetch: (ids) => context.fetch(ids, { signal }),
    yield: async () => {
      await yieldToEventLoop()
      signal.throwIfAborted()
      if (performance.now() > deadline)
        throw new PcpError('PM_ERR_TIMEOUT', 'Reading the window takes too long; use a shorter one')
    },
  }
}
