/** Removes archives, with their rollups, by age and by total size. */
import { join, resolve } from 'node:path'
import { type ArchiveFile, byArchive, removeArchive } from '../../archive-store/files.ts'
import { PcpError } from '../../model/errors.ts'
import { removeRollups, rollupBytes } from '../../series/columns/places.ts'
import { formatAge, NEVER, wrapNames } from '../lib/admin/ages.ts'
import { datedFilesIn } from '../lib/admin/archive-names.ts'
import { runAs } from '../lib/admin/owner.ts'
import type { DirectoryJob } from './job.ts'
import { ageMs } from './settings.ts'

interface Stored {
  readonly base: string
  readonly files: readonly ArchiveFile[]
  readonly lastMs: number
  readonly bytes: number
}

/** Removes archives older than the policy allows, then the oldest ones until the total size is within the limit. */
export async function cull(job: DirectoryJob): Promise<void> {
  const { policy, settings, io, reporter } = job
  const after = ageMs(policy.cullAfter)
  if (after !== NEVER) {
    const old = stored(job).filter(({ lastMs }) => io.now() - lastMs >= after)
    await remove(job, old, `Archive files older than ${formatAge(policy.cullAfter)} being removed ...`)
  }
  const { maxBytes } = settings
  if (maxBytes === undefined) return
  const byAge = stored(job).sort((a, b) => a.lastMs - b.lastMs)
  let bytes = byAge.reduce((sum, archive) => sum + archive.bytes, 0)
  const excess = byAge.filter((archive) => {
    if (bytes <= maxBytes) return false
    bytes -= archive.bytes
    return true
  })
  await remove(job, excess, 'Oldest archive files being removed to reduce the total size ...')
  if (bytes > maxBytes)
    reporter.warning(job.instance.where, `the current archive alone exceeds the limit of -d`)
}

/** Returns removable archives by name: all but the current one. */
function stored({ dir, current }: DirectoryJob): Stored[] {
  const finished = datedFilesIn(dir).filter(({ base }) => base !== current)
  return [...byArchive(finished)].map(([base, files]) => ({
    base,
    files,
    lastMs: Math.max(...files.map(({ stats }) => stats.mtimeMs)),
    bytes: files.reduce((sum, { stats }) => sum + stats.size, rollupBytes(join(dir, base))),
  }))
}

async function remove(
  { dir, owner, reporter, instance }: DirectoryJob,
  archives: readonly Stored[],
  heading: string,
): Promise<void> {
  const names = archives.flatMap(({ files }) => files.map(({ name }) => name))
  if (names.length === 0) return
  reporter.verbose(1, heading)
  for (const line of wrapNames(names)) reporter.verbose(1, line)
  if (reporter.showsOnly) {
    reporter.show(`rm -f ${names.join(' ')}`)
    return
  }
  for (const { base, files } of archives) {
    try {
      removeArchive(dir, files)
      // Their directory may be a link that only the owner may follow.
      await runAs(owner, async () => removeRollups(resolve(dir, base)))
    } catch (error) {
      reporter.error(instance.where, PcpError.from(error, 'cannot remove archives').message, instance.host)
    }
  }
}
