/** A source seen through a name space of one's own. pmLoadNameSpace(3) */

import { PcpError } from '../model/errors.ts'
import type { MetricSource } from '../model/source.ts'
import type { Pmns } from '../pmns/tree.ts'

/** Takes names from `names` and everything else from the source. Dynamic roots of `names` stay what they are. */
export function withLocalNames(source: MetricSource, names: Pmns): MetricSource {
  return {
    children: async (name) => names.children(name),
    traverse: async (name) => names.traverse(name),
    lookupNames: async (list) => list.map((name) => names.lookup(name)),
    lookupId: async (id) => {
      const found = names.namesOf(id)
      if (found.length === 0) throw new PcpError('PM_ERR_PMID')
      return found
    },
    descs: (ids, ask) => source.descs(ids, ask),
    instances: (indom, query, ask) => source.instances(indom, query, ask),
    text: (query, ask) => source.text(query, ask),
    labels: (query, ask) => source.labels(query, ask),
    fetch: (ids, ask) => source.fetch(ids, ask),
    store: (sets, ask) => source.store(sets, ask),
    endClient: (client) => source.endClient?.(client),
    subscribe: (listener) => source.subscribe(listener),
    close: () => source.close(),
  }
}

/** A source of names alone: every question about anything else fails with PM_ERR_NOCONTEXT. */
export function namesOnly(names: Pmns): MetricSource {
  const nobody = async (): Promise<never> => {
    throw new PcpError('PM_ERR_NOCONTEXT')
  }
  const nowhere: MetricSource = {
    children: nobody,
    traverse: nobody,
    lookupNames: nobody,
    lookupId: nobody,
    descs: nobody,
    instances: nobody,
    text: nobody,
    labels: nobody,
    fetch: nobody,
    store: nobody,
    subscribe: () => () => {},
    close: async () => {},
  }
  return withLocalNames(nowhere, names)
}
