/** What changed in an archive's span of time, for a context on it. docs/decisions/what-changed.md */
import type { ChangeMetric } from '../analysis/change-series.ts'
import { type ChangeQuery, type ChangeReport, whatChanged } from '../analysis/what-changed.ts'
import { isError, PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { isNeverRecorded } from './archive-control.ts'
import type { CallOptions, Context } from './context.ts'

/** Most metrics that are compared; an archive has some thousand at most. */
const MOST_METRICS = 50_000

/**
 * Ranks what changed in a span. `turn` is awaited between parts of the scan and may throw. PM_ERR_NOTARCHIVE for a context on a host, and errors
 * of `whatChanged`.
 */
export async function changesOf(
  context: Context,
  query: ChangeQuery,
  { turn = async () => {}, ...options }: CallOptions & { readonly turn?: () => Promise<void> } = {},
): Promise<ChangeReport> {
  const { archive } = context
  if (archive === undefined)
    throw new PcpError('PM_ERR_NOTARCHIVE', 'Only recorded values can be compared; an archive is required')
  const names = (await context.traverse('', options)).slice(0, MOST_METRICS)
  const nameOf = new Map<Pmid, string>()
  for (const [i, id] of (await context.lookupNames(names, options)).entries())
    if (!isError(id) && !isNeverRecorded(id)) nameOf.set(id, names[i]!)
  const ids = [...nameOf.keys()]
  const descs = await context.descs(ids, options)
  const metrics = descs.flatMap((desc, i): ChangeMetric[] =>
    isError(desc) ? [] : [{ name: nameOf.get(ids[i]!)!, desc }],
  )
  return whatChanged(
    {
      start: archive.start,
      end: () => archive.end(),
      scan: (wanted, window) => archive.scan(wanted, window),
      instances: (indom) => archive.instances(indom),
      // Not every metric has a help text.
      help: (id) => context.text(id, { ...options, level: 'oneline' }).catch(() => ''),
      yield: turn,
    },
    metrics,
    query,
  )
}
