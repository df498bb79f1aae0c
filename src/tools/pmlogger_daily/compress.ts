/** Compresses finished archives, and full volumes of the current one. */
import { type ArchiveFile, isVolume } from '../../archive-store/files.ts'
import { PcpError } from '../../model/errors.ts'
import { formatAge, NEVER, wrapNames } from '../lib/admin/ages.ts'
import { datedFilesIn } from '../lib/admin/archive-names.ts'
import { compressAs, compressorFor } from '../lib/admin/compress.ts'
import { type DirectoryJob, runCallbacks } from './job.ts'
import { ageMs, expressionOf } from './settings.ts'

/** Compresses files that are old enough, then runs the callbacks. */
export async function compressArchives(job: DirectoryJob): Promise<void> {
  const { dir, policy, settings, reporter, instance, io } = job
  const after = ageMs(policy.compressAfter)
  if (after === NEVER) return
  if (job.current === undefined && !settings.isForced) {
    reporter.warning(instance.where, 'current volume of current pmlogger not known, compression skipped')
    return
  }
  reporter.verbose(2, `COMPRESSAFTER=${policy.compressAfter}`)
  const skipped = expressionOf(policy.skipped)
  const files = finished(job).filter(
    ({ name, suffix, stats }) =>
      suffix === '' && skipped?.test(name) !== true && io.now() - stats.mtimeMs >= after,
  )
  if (files.length === 0) return
  const compressor = compressorFor(policy.compressor, instance.variables)
  if (compressor === undefined) {
    reporter.error(instance.where, `${policy.compressor}: compression program not found`, instance.host)
    return
  }
  const names = files.map(({ name }) => name)
  const age = after === 0 ? '' : ` older than ${formatAge(policy.compressAfter)}`
  reporter.verbose(1, `Archive files${age} being compressed ...`)
  for (const line of wrapNames(names)) reporter.verbose(1, line)
  if (settings.showsOnly) {
    reporter.show(`${compressor.command} ${names.join(' ')}`)
    return
  }
  try {
    await compressAs(dir, names, { compressor, owner: job.owner, variables: instance.variables })
  } catch (error) {
    reporter.error(instance.where, PcpError.from(error, 'cannot compress').message, instance.host)
    return
  }
  for (const base of new Set(files.map(({ base }) => base)))
    await runCallbacks(job, policy.compressCallbacks, base)
}

/** Returns all files except those the recorder writes to. */
function finished({ dir, current }: DirectoryJob): ArchiveFile[] {
  const files = datedFilesIn(dir)
  const volumes = files.filter((file) => file.base === current && isVolume(file))
  const newest = Math.max(-1, ...volumes.map(({ part }) => Number(part)))
  return files.filter((file) => file.base !== current || (isVolume(file) && Number(file.part) < newest))
}
