/**
 * A source that remembers what seldom changes: PMIDs, names, descriptors, labels and texts, so that a request over the web costs a
 * collector no more than its values. What the collector says has changed is forgotten, and so is everything after a while.
 */
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { LABEL_INSTANCES, type LabelSet } from '../model/labels.ts'
import { layer } from '../model/layer.ts'
import type { Ask, Child, MetricSource, TextQuery } from '../model/source.ts'

import { SharedFetches } from './shared-fetches.ts'

/** How long an answer counts. Changes are told with fetches only, and those who ask for metadata alone make none. */
const KEEP_MS = 10_000
/** Answers of one kind: more metrics than any collector had so far. */
const MOST = 50_000

/** Adds a memory to a source. `now` is in milliseconds. */
export function cachedSource(source: MetricSource, now: () => number = Date.now): MetricSource {
  const children = new Memory<string, Promise<readonly Child[]>>(now)
  const leaves = new Memory<string, Promise<readonly string[]>>(now)
  const ids = new Memory<string, Outcome<Pmid>>(now)
  const names = new Memory<Pmid, Promise<readonly string[]>>(now)
  const descs = new Memory<Pmid, Outcome<MetricDesc>>(now)
  const labels = new Memory<string, Promise<readonly LabelSet[]>>(now)
  const texts = new Memory<string, Promise<string>>(now)
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

/** Answers by question. */
class Memory<K, V> {
  readonly #answers = new Map<K, V>()
  readonly #now: () => number
  #since = 0

  constructor(now: () => number) {
    this.#now = now
  }

  clear(): void {
    this.#answers.clear()
  }

  /** The answer to a question that is asked singly. One that fails is asked again. */
  one(key: K, ask: () => V & Promise<unknown>): V {
    this.#tidy()
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    const answer = ask()
    this.#answers.set(key, answer)
    answer.catch((error: unknown) => {
      // No text and no labels are answers too; a lost connection is none.
      if (!isLasting(error)) this.#answers.delete(key)
    })
    return answer
  }

  /** The answers to questions that are asked together: only for the unknown ones is the source asked. Errors are not kept. */
  async all(
    keys: readonly K[],
    ask: (unknown: readonly K[]) => Promise<readonly V[]>,
  ): Promise<readonly V[]> {
    this.#tidy()
    const unknown = keys.filter((key) => !this.#answers.has(key))
    if (unknown.length === 0) return keys.map((key) => this.#answers.get(key)!)
    const wanted = [...new Set(unknown)]
    const found = await ask(wanted)
    const fresh = new Map(wanted.map((key, i) => [key, found[i]!]))
    const answers = keys.map((key) => fresh.get(key) ?? this.#answers.get(key))
    for (const [key, value] of fresh) if (!isError(value)) this.#answers.set(key, value)
    // What was known when we asked may have been forgotten meanwhile.
    if (answers.every((answer) => answer !== undefined)) return answers as V[]
    return ask(keys)
  }

  #tidy(): void {
    const now = this.#now()
    if (now - this.#since < KEEP_MS && this.#answers.size < MOST) return
    this.#answers.clear()
    this.#since = now
  }
}

function isLasting(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'PM_ERR_TEXT' || code === 'PM_ERR_NOLABELS'
}
