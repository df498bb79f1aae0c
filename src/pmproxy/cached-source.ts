/**
 * A source that caches PMIDs, names, descriptors, labels and texts, so that a web request costs the collector only its values. The cache
 * is cleared when the collector reports changes, and after a while.
 */
import type { MetricDesc } from '../model/desc.ts'
import type { Outcome } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { LABEL_INSTANCES, type LabelSet } from '../model/labels.ts'
import { overrideSource } from '../model/layer.ts'
import type { Ask, Child, MetricSource, TextQuery } from '../model/source.ts'

import { AnswerCache, type CacheLimits } from './cache.ts'
import { SharedFetches } from './shared-fetches.ts'

/** Fetches report changes, but a client that only reads metadata makes none. 50,000 metrics exceed any known collector. */
const LIMITS: CacheLimits = { keepMs: 10_000, most: 50_000 }

/** Adds a cache to a source. `now` is in milliseconds. */
export function cachedSource(source: MetricSource, now: () => number = Date.now): MetricSource {
  const children = new AnswerCache<string, Promise<readonly Child[]>>(LIMITS, now)
  const leaves = new AnswerCache<string, Promise<readonly string[]>>(LIMITS, now)
  const ids = new AnswerCache<string, Outcome<Pmid>>(LIMITS, now)
  const names = new AnswerCache<Pmid, Promise<readonly string[]>>(LIMITS, now)
  const descs = new AnswerCache<Pmid, Outcome<MetricDesc>>(LIMITS, now)
  const labels = new AnswerCache<string, Promise<readonly LabelSet[]>>(LIMITS, now)
  const texts = new AnswerCache<string, Promise<string>>(LIMITS, now)
  const fetches = new SharedFetches(source)
  const all = [children, leaves, ids, names, descs, labels, texts]
  source.subscribe(({ type }) => {
    if (type === 'changed') for (const memory of all) memory.clear()
  })
  // Without the signal, because other callers may share the request.
  const shared = ({ requester, at }: Ask): Ask => (at === undefined ? { requester } : { requester, at })
  return overrideSource(source, {
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
