/** Values of string metrics, which name instances on the page. docs/reference/pmproxy.md */
import { newestTexts, textsOf } from '../archive/newest-texts.ts'
import { isError } from '../model/errors.ts'
import { domainOf } from '../model/ids.ts'
import { PROC_DOMAIN } from '../model/process-sample.ts'
import { PM_TYPE_STRING } from '../model/types.ts'
import type { CallOptions, Context } from '../pmapi/context.ts'
import { describeNames } from './describe.ts'

const NONE: ReadonlyMap<number, string> = new Map()

/**
 * Returns the values of a string metric by instance: of a host those of now, of an archive those of its last record with the metric. None of other
 * types, of unknown metrics, and of processes, whose command lines are private. Moves the context of an archive.
 */
export async function instanceTexts(
  context: Context,
  name: string,
  options: CallOptions,
): Promise<ReadonlyMap<number, string>> {
  const [metric] = await describeNames(context, [name], options)
  if (metric === undefined || isError(metric)) return NONE
  const { type, pmid } = metric.desc
  if (type !== PM_TYPE_STRING || domainOf(pmid) === PROC_DOMAIN) return NONE
  if (context.archive !== undefined) return newestTexts(context.archive, pmid)
  const { sets } = await context.fetch([pmid], options)
  return sets[0] === undefined ? NONE : textsOf(sets[0])
}
