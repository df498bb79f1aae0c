/** A source seen through a name space of one's own. pmLoadNameSpace(3) */
import { PcpError } from '../model/errors.ts'
import { layer, refusing } from '../model/layer.ts'
import type { MetricSource } from '../model/source.ts'
import type { Pmns } from './tree.ts'

/** Takes names from `names` and everything else from the source. Dynamic roots of `names` stay what they are. */
export function withLocalNames(source: MetricSource, names: Pmns): MetricSource {
  return layer(source, {
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

/** Returns a source of names alone: it rejects every other question with PM_ERR_NOCONTEXT. */
export function namesOnly(names: Pmns): MetricSource {
  return withLocalNames(refusing(new PcpError('PM_ERR_NOCONTEXT')), names)
}
