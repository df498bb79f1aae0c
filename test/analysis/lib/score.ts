/** Where the list of changes names the cause of an incident. */
import { changeInput } from '../../../src/analysis/open-archive.ts'
import { type Change, type ChangeReport, whatChanged } from '../../../src/analysis/what-changed.ts'
import { type Difficulty, incidentArchive, SPAN_START, WINDOW_SEC } from './incident-archive.ts'
import type { Incident } from './incidents.ts'

/** The place of the cause in the list, from 1 on; Infinity if it is missing. */
export interface Placed {
  readonly place: number
  readonly report: ChangeReport
}

export const textOf = ({ metric, instance }: Pick<Change, 'metric' | 'instance'>): string =>
  instance === '' ? metric : `${metric}[${instance}]`

/** Records an incident and ranks what changed. Only the first series of a group counts as named. */
export async function placeOf(
  directory: string,
  incident: Incident | undefined,
  seed: number,
  difficulty?: Difficulty,
): Promise<Placed> {
  const { archive, metrics } = changeInput(incidentArchive(directory, incident, seed, difficulty))
  const span = { start: SPAN_START, finish: SPAN_START + WINDOW_SEC }
  const report = await whatChanged(archive, metrics, { span })
  const at = report.changes.findIndex((change) => incident?.named.test(textOf(change)))
  return { place: at < 0 ? Number.POSITIVE_INFINITY : at + 1, report }
}
