/** An open archive as input of an analysis. */
import type { Archive } from '../archive/archive.ts'
import { scan } from '../archive/scan.ts'
import { isError } from '../model/errors.ts'
import type { ChangeMetric } from './change-series.ts'
import type { ChangeArchive } from './what-changed.ts'

/** What `whatChanged` takes. */
export interface ChangeInput {
  readonly archive: ChangeArchive
  readonly metrics: readonly ChangeMetric[]
}

/** Returns an archive and all its metrics. `turn` is awaited between parts of a scan; default: does nothing. */
export function changeInput(archive: Archive, turn: () => Promise<void> = async () => {}): ChangeInput {
  const { metadata } = archive
  const metrics: ChangeMetric[] = []
  metadata.names.walk('', (name, id) => {
    const desc = metadata.descs.get(id)
    if (desc !== undefined) metrics.push({ name, desc })
  })
  return {
    archive: {
      start: archive.start,
      end: () => {
        const end = archive.end()
        if (isError(end)) throw end
        return end
      },
      scan: (ids, options) => scan(archive, ids, options),
      prefetch: (from, to) => archive.prefetch(from, to),
      instances: (indom) => metadata.instances(indom, undefined, undefined),
      help: async (id) => metadata.text({ kind: 'metric', id, level: 'oneline' }) ?? '',
      yield: turn,
    },
    metrics,
  }
}
