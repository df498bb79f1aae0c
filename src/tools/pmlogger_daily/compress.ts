/** Compressing archives that nobody writes any more, and those volumes of the current one that are full. */
import { type ArchiveFile, isVolume } from '../../archive-store/files.ts'
import { PcpError } from '../../model/errors.ts'
import { ageWords, NEVER, nameLines } from '../lib/admin/ages.ts'
import { datedFilesIn } from '../lib/admin/archive-names.ts'
import { compressAs, compressorFor } from '../lib/admin/compress.ts'
import { type Job, runCallbacks } from './job.ts'
import { ageMs, expressionOf } from './settings.ts'

/** Compresses what is old enough; then the callbacks get the archives. */
export async function compressArchives(job: Job): Promise<void> {
  const { dir, policy, settings, voice, instance, io } = job
  const after = ageMs(policy.compressAfter)
  if (after === NEVER) return
  if (job.current === undefined && !settings.isForced) {
    voice.warning(instance.where, 'current volume of current pmlogger not known, compression skipped')
    return
  }
  voice.tell(2, `COMPRESSAFTER=${policy.compressAfter}`)
  const skipped = expressionOf(policy.skipped)
  const files = finished(job).filter(
    ({ name, suffix, stats }) =>
      suffix === '' && skipped?.test(name) !== true && io.now() - stats.mtimeMs >= after,
  )
  if (files.length === 0) return
  const compressor = compressorFor(policy.compressor, instance.variables)
  if (compressor === undefined) {
    voice.error(instance.where, `${policy.compressor}: compression program not found`, instance.host)
    return
  }
  const names = files.map(({ name }) => name)
  const age = after === 0 ? '' : ` older than ${ageWords(policy.compressAfter)}`
  voice.tell(1, `Archive files${age} being compressed ...`)
  for (const line of nameLines(names)) voice.tell(1, line)
  if (settings.showsOnly) {
    voice.show(`${compressor.command} ${names.join(' ')}`)
    return
  }
  try {
    await compressAs(dir, names, { compressor, owner: job.owner, variables: instance.variables })
  } catch (error) {
    voice.error(instance.where, PcpError.from(error, 'cannot compress').message, instance.host)
    return
  }
  for (const base of new Set(files.map(({ base }) => base)))
    await runCallbacks(job, policy.compressCallbacks, base)
}

/** All files but those that the recorder writes to. */
function finished({ dir, current }: Job): ArchiveFile[] {
  const files = datedFilesIn(dir)
  const volumes = files.filter((file) => file.base === current && isVolume(file))
  const newest = Math.max(-1, ...volumes.map(({ part }) => Number(part)))
  return files.filter((file) => file.base !== current || (isVolume(file) && Number(file.part) < newest))
}
