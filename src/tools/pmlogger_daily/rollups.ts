/** Keeps the rollups of a directory up to date, if it has any. docs/formats/rollups.md */
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { maintainRollups } from '../../series/columns/maintain.ts'
import { ROLLUPS } from '../../series/columns/places.ts'
import { runAs } from '../lib/admin/owner.ts'
import type { DirectoryJob } from './job.ts'

/** Makes and removes rollups; failures are warnings. */
export async function renewRollups(job: DirectoryJob): Promise<void> {
  const { dir, current, owner, reporter, instance, io } = job
  // Without a current archive, growing ones are known by their age.
  const isActive = current === undefined ? {} : { isActive: (base: string) => basename(base) === current }
  if (!existsSync(join(dir, ROLLUPS))) return
  if (reporter.showsOnly) {
    reporter.show(`pmseries --directory ${dir} --rollups`)
    return
  }
  try {
    const { problems } = await runAs(owner, () =>
      maintainRollups([resolve(dir)], { nowMs: io.now(), signal: io.signal, ...isActive }),
    )
    for (const problem of problems) reporter.warning(instance.where, problem)
  } catch (error) {
    reporter.warning(instance.where, PcpError.from(error, 'cannot make rollups').message)
  }
}
