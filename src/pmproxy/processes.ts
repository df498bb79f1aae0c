/** Processes of open contexts at an instant, for the table of the page and for assistants. docs/reference/pmproxy.md */
import { processesAt, type RecordedMetric } from '../archive/processes-at.ts'
import { toSeconds } from '../base/timestamp.ts'
import {
  type DescribedColumn,
  PROCESS_FAMILIES,
  type ProcessColumn,
  type ProcessesAnswer,
  processMetrics,
  processSample,
} from '../model/process-sample.ts'
import type { ArchiveControl } from '../pmapi/archive-control.ts'
import type { Context } from '../pmapi/context.ts'
import { describeNames, isKnown } from './describe.ts'

/** Returns the recorded processes of an archive at a time in seconds since the epoch. Errors of `processesAt`. */
export async function recordedProcesses(
  context: Context,
  archive: ArchiveControl,
  at: number,
  signal: AbortSignal,
): Promise<ProcessesAnswer> {
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

/** Returns the processes of a host now; none without permission to see them. */
export async function processesNow(context: Context, signal: AbortSignal): Promise<ProcessesAnswer> {
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
