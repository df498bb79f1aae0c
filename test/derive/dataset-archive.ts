/** The data set of the derived-metric vectors in an archive. */
import { ArchiveWriter } from '../../src/archive/write/writer.ts'
import type { MetricDesc } from '../../src/model/desc.ts'
import { PM_INDOM_NULL } from '../../src/model/ids.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { datasetSource } from './dataset.ts'

/** Writes the data set of the vectors as an archive. */
export async function writeDataset(base: string): Promise<void> {
  const source = datasetSource()
  const ask = { requester: ANONYMOUS }
  const archive = ArchiveWriter.create(archiveOutput(base), {
    version: 2,
    hostname: 'grid.example.org',
    timezone: 'UTC',
    pid: 1,
  })
  const names = await source.traverse('', ask)
  const ids = (await source.lookupNames(names, ask)) as readonly number[]
  const descs = (await source.descs(ids, ask)) as readonly MetricDesc[]
  for (;;) {
    const result = await source.fetch(ids, ask).catch(() => undefined)
    if (result === undefined) break
    archive.start(result.timestamp)
    if (archive.lastTime === undefined) {
      for (const [i, desc] of descs.entries()) archive.desc(desc, [names[i]!])
      for (const indom of new Set(descs.map((desc) => desc.indom))) {
        if (indom === PM_INDOM_NULL) continue
        const instances = await source.instances(indom, undefined, ask)
        archive.instances(result.timestamp, indom, instances.ids, instances.names)
      }
    }
    archive.result(
      result.timestamp,
      result.sets.filter(({ status }) => status > 0),
    )
  }
  archive.close()
}
