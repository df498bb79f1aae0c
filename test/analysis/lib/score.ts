/** Where the list of changes names the cause of an incident. */
import { changeInput } from '../../../src/analysis/open-archive.ts'
import {
  type Change,
  type ChangeReport,
  type RelatedChange,
  whatChanged,
} from '../../../src/analysis/what-changed.ts'
import { type Difficulty, incidentArchive, SPAN_START, WINDOW_SEC } from './incident-archive.ts'
import type { Incident } from './incidents.ts'

/** The place of the cause in the list, from 1 on; Infinity if it is missing. */
export interface Placed {
  readonly place: number
  /** The place of the first row that names the cause, also among the series that moved along. */
  readonly row: number
  readonly report: ChangeReport
}

export const textOf = ({ metric, instance }: Pick<Change, 'metric' | 'instance'>): string =>
  instance === '' ? metric : `${metric}[${instance}]`

/** Records an incident and ranks what changed. Only the first series of a row counts for its `place`. */
export async function placeOf(
  directory: string,
  incident: Incident | undefined,
  seed: number,
  difficulty?: Difficulty,
): Promise<Placed> {
  const { archive, metrics } = changeInput(incidentArchive(directory, incident, seed, difficulty))
  const span = { start: SPAN_START, finish: SPAN_START + WINDOW_SEC }
  const report = await whatChanged(archive, metrics, { span })
  const names = (change: RelatedChange): boolean => incident?.named.test(textOf(change)) === true
  const placeIn = (at: number): number => (at < 0 ? Number.POSITIVE_INFINITY : at + 1)
  return {
    place: placeIn(report.changes.findIndex(names)),
    row: placeIn(report.changes.findIndex((change) => [change, ...change.others].some(names))),
    report,
  }
}
