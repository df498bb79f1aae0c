/**
 * A source that remembers what seldom changes: PMIDs, names, descriptors, labels and texts, so that a request over the web costs a
 * collector no more than its values. What the collector says has changed is forgotten, and so is everything after a while.
 */
import type { MetricDesc } from '../model/desc.ts'
import type { Outcome } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { LABEL_INSTANCES, type LabelSet } from '../model/labels.ts'
import { layer } from '../model/layer.ts'
import type { Ask, Child, MetricSource, TextQuery } from '../model/source.ts'

import { Memory, type MemoryLimits } from './memory.ts'
import { SharedFetches } from './shared-fetches.ts'

/** Collectors report changes with fetches, which clients that ask for metadata alone do not make. No collector had 50,000 metrics so far. */
const LIMITS: MemoryLimits = { keepMs: 10_000, most: 50_000 }

/** Adds a memory to a source. `now` is in milliseconds. */
export function cachedSource(source: MetricSource, now: () => number = Date.now): MetricSource {
  const children = new Memory<string, Promise<readonly Child[]>>(LIMITS, now)
  const leaves = new Memory<string, Promise<readonly string[]>>(LIMITS, now)
  const ids = new Memory<string, Outcome<Pmid>>(LIMITS, now)
  const names = new Memory<Pmid, Promise<readonly string[]>>(LIMITS, now)
  const descs = new Memory<Pmid, Outcome<MetricDesc>>(LIMITS, now)
  const labels = new Memory<string, Promise<readonly LabelSet[]>>(LIMITS, now)
  const texts = new Memory<string, Promise<string>>(LIMITS, now)
  const fetches = new SharedFetches(source)
  const all = [children, leaves, ids, names, descs, labels, texts]
  source.subscribe(({ type }) => {
    if (type === 'changed') for (const memory of all) memory.clear()
  })
  // Nobody's signal may end what others wait for.
  const shared = ({ requester, at }: Ask): Ask => (at === undefined ? { requester } : { requester, at })
  return layer(source, {
    children: (name, ask) => children.one(name, () => source.children(name, shared(ask))),
    traverse: (name, ask) => leaves.one(name, () => source.traverse(name, shared(ask))),
    lookupNames: (wanted, ask) => ids.all(wanted, (unknown) => source.lookupNames(unknown, ask)),
    lookupId: (id, ask) => names.one(id, () => source.lookupId(id, shared(ask))),
    descs: (wanted, ask) => descs.all(wanted, (unknown) => source.descs(unknown, ask)),
    text: (query, ask) => texts.one(textKey(query), () => source.text(query, shared(ask))),
    labels: (query, ask) =>
      query.level === LABEL_INSTANCES
        ? source.labels(query, ask)
        : labels.one(`${query.level}:${query.id}`, () => source.labels(query, shared(ask))),
    fetch: (wanted, ask) => fetches.fetch(wanted, ask),
  })
}

function textKey({ kind, id, level }: TextQuery): string {
  return `${kind}:${level}:${id}`
}
