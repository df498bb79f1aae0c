/** Retention of the archives that `npm start` records, and their columns files. docs/formats/rollups.md */
import { basename } from 'node:path'
import { maintainRollups } from '../series/columns/maintain.ts'
import { type RetentionPolicy, type TidyOptions, type TidyResult, tidyArchives } from './retention.ts'

/** As `tidyArchives`; then makes the columns files of finished archives, which count for the size limit. */
export async function tidyWithRollups(
  dir: string,
  policy: RetentionPolicy,
  options: TidyOptions,
): Promise<TidyResult> {
  const { nowMs, inUse, signal } = options
  const first = await tidyArchives(dir, policy, options)
  const isActive = (base: string): boolean => basename(base) === inUse()
  const rollups = await maintainRollups([dir], { nowMs, signal, isActive, isColumnsOnly: true })
  const problems = [...first.problems, ...rollups.problems]
  if (rollups.built.length === 0) return { ...first, problems }
  const { removed } = await tidyArchives(dir, policy, options)
  return { ...first, removed: [...first.removed, ...removed], problems }
}
