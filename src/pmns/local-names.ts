/** A source with a local name space. pmLoadNameSpace(3) */
import { PcpError } from '../model/errors.ts'
import { overrideSource, rejectingSource } from '../model/layer.ts'
import type { MetricSource } from '../model/source.ts'
import type { Pmns } from './tree.ts'

/** Takes names from `names` and everything else from the source. Dynamic roots of `names` are not resolved. */
export function withLocalNames(source: MetricSource, names: Pmns): MetricSource {
  return overrideSource(source, {
    children: async (name) => names.children(name),
    traverse: async (name) => names.traverse(name),
    lookupNames: async (list) => list.map((name) => names.lookup(name)),
    lookupId: async (id) => {
      const found = names.namesOf(id)
      if (found.length === 0) throw new PcpError('PM_ERR_PMID')
      return found
    },
  })
}

/** Returns a source of names only, which rejects all other requests with PM_ERR_NOCONTEXT. */
export function nameSpaceSource(names: Pmns): MetricSource {
  return withLocalNames(rejectingSource(new PcpError('PM_ERR_NOCONTEXT')), names)
}
