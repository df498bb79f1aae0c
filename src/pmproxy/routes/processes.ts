/** /ui/api/processes: the processes of an instant, for the table of the page. docs/reference/pmproxy.md */
import { processesAt, type RecordedMetric } from '../../archive/processes-at.ts'
import { toSeconds } from '../../base/timestamp.ts'
import {
  type DescribedColumn,
  PROCESS_FAMILIES,
  type ProcessColumn,
  type ProcessesAnswer,
  processMetrics,
  processSample,
} from '../../model/process-sample.ts'
import { describeNames, isKnown } from '../describe.ts'
import { json, type Reply } from '../http/reply.ts'
import type { PageCall } from './page-call.ts'
import { moment } from './page-call.ts'

/**
 * Handles the route: with `archive`, the recorded processes at `at`, by default at its end; with `host`, all processes now. The context
 * decides what its user may see. PM_ERR_ARG for an invalid time.
 */
export async function processes(call: PageCall): Promise<Reply> {
  const { archive } = call.context
  return json(
    JSON.stringify(archive === undefined ? await processesNow(call) : await recorded(call, archive)),
  )
}

async function recorded(
  { request: { query, signal }, context }: PageCall,
  archive: NonNullable<PageCall['context']['archive']>,
): Promise<ProcessesAnswer> {
  const at = moment(query.get('at'), 'at', toSeconds(archive.end()))
  const found = await describeNames(context, PROCESS_FAMILIES.flatMap(processMetrics), { signal })
  const metrics = found.filter((each): each is RecordedMetric => isKnown(each))
  return processesAt(
    {
      start: archive.start,
      end: () => archive.end(),
      scan: (ids, options) => archive.scan(ids, options),
      setMode: (mode, when) => archive.setMode(mode, when),
      fetchRecord: (ids) => archive.fetchRecord(ids),
      instances: (indom) => context.instances(indom, { signal }),
    },
    metrics,
    at,
  )
}

async function processesNow({ request: { signal }, context }: PageCall): Promise<ProcessesAnswer> {
  const family = 'proc'
  const found = await describeNames(context, processMetrics(family), { signal })
  const described = found.filter(isKnown).map(
    ({ name, desc }): DescribedColumn => ({
      column: name.slice(family.length + 1) as ProcessColumn,
      desc,
    }),
  )
  const [first] = described
  if (first === undefined) return { sample: null, before: null, newest: null }
  const ids = described.map(({ desc }) => desc.pmid)
  const { timestamp, sets } = await context.fetch(ids, { signal })
  const sample = processSample(toSeconds(timestamp), family, described, sets)
  // None without permission to see processes, of which instances would only be an error.
  if (sample.pids.length === 0) return { sample, before: null, newest: null }
  const instances = await context.instances(first.desc.indom, { signal })
  const names = new Map(Array.from(instances.ids, (id, i) => [id, instances.names[i]!]))
  return {
    sample: { ...sample, names: sample.pids.map((pid) => names.get(pid) ?? String(pid)) },
    before: null,
    newest: null,
  }
}
