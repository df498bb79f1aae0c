/** An open archive as a context of rules, for browsers, which have no contexts. docs/reference/pmproxy.md */
import type { Archive } from '../archive/archive.ts'
import { ArchiveSource, type ArchiveSourceOptions } from '../archive/source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { isError, PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { ALL_INSTANCES } from '../model/profile.ts'
import { ANONYMOUS } from '../model/source.ts'
import type { FetchResult } from '../model/values.ts'
import type { RuleContext } from './host.ts'

const ask = { requester: ANONYMOUS }

/** Returns a context on recorded metrics. */
export function archiveContext(archive: Archive, options: ArchiveSourceOptions = {}): RuleContext {
  const source = new ArchiveSource(archive, options)
  function* samples(
    ids: readonly Pmid[],
    stepSec: number,
    { from, reusesMemory }: { readonly from: Timestamp; readonly reusesMemory: boolean },
  ): Generator<FetchResult> {
    const reader = new ArchiveSource(archive, options)
    reader.setMode('interpolate', from, stepSec)
    try {
      for (;;) yield reader.fetchNow(ids, ALL_INSTANCES, reusesMemory)
    } catch (error) {
      if (!(error instanceof PcpError) || error.code !== 'PM_ERR_EOL') throw error
    }
  }
  return {
    archive: {
      label: archive.label,
      start: archive.start,
      end: () => {
        const end = archive.end()
        if (isError(end)) throw end
        return end
      },
      instances: (indom) => archive.metadata.instances(indom, undefined, undefined),
      setMode: (mode, when, stepSec) => source.setMode(mode, when, stepSec),
      samples,
    },
    lookupNames: (names) => source.lookupNames(names),
    descs: (ids) => source.descs(ids),
    instances: (indom) => source.instances(indom, undefined, ask),
    traverse: (prefix = '') => source.traverse(prefix),
    fetch: (ids) => source.fetch(ids, ask),
    dup: async () => archiveContext(archive, options),
    close: () => source.close(),
  }
}
