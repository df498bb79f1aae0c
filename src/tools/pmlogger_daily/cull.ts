/** Removing archives: what is too old, and the oldest of what is too much. */
import { type ArchiveFile, byArchive, removeArchive } from '../../archive-store/files.ts'
import { PcpError } from '../../model/errors.ts'
import { ageWords, NEVER, nameLines } from '../lib/admin/ages.ts'
import { datedFilesIn } from '../lib/admin/archive-names.ts'
import type { Job } from './job.ts'
import { ageMs } from './settings.ts'

interface Stored {
  readonly base: string
  readonly files: readonly ArchiveFile[]
  readonly lastMs: number
  readonly bytes: number
}

/** Removes what is older than the policy has it, then the oldest until the rest is small enough. */
export function cull(job: Job): void {
  const { policy, settings, io, voice } = job
  const after = ageMs(policy.cullAfter)
  if (after !== NEVER) {
    const old = stored(job).filter(({ lastMs }) => io.now() - lastMs >= after)
    remove(job, old, `Archive files older than ${ageWords(policy.cullAfter)} being removed ...`)
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
  remove(job, excess, 'Oldest archive files being removed, as all are too large ...')
  if (bytes > maxBytes)
    voice.warning(job.instance.where, `the archive that is being written is larger than -d allows`)
}

/** Archives that may go, by name: all but the one being written. */
function stored({ dir, current }: Job): Stored[] {
  const finished = datedFilesIn(dir).filter(({ base }) => base !== current)
  return [...byArchive(finished)].map(([base, files]) => ({
    base,
    files,
    lastMs: Math.max(...files.map(({ stats }) => stats.mtimeMs)),
    bytes: files.reduce((sum, { stats }) => sum + stats.size, 0),
  }))
}

function remove({ dir, voice, instance }: Job, archives: readonly Stored[], heading: string): void {
  const names = archives.flatMap(({ files }) => files.map(({ name }) => name))
  if (names.length === 0) return
  voice.tell(1, heading)
  for (const line of nameLines(names)) voice.tell(1, line)
  if (voice.showsOnly) {
    voice.show(`rm -f ${names.join(' ')}`)
    return
  }
  for (const { files } of archives) {
    try {
      removeArchive(dir, files)
    } catch (error) {
      voice.error(instance.where, PcpError.from(error, 'cannot remove archives').message, instance.host)
    }
  }
}
