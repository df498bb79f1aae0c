/** Series without those of some metrics, for users who may not see these. docs/reference/pmproxy.md */
import type { Pmid } from '../model/ids.ts'
import { findByConditions, findSeries } from './query/find.ts'
import type { Selector } from './query/syntax.ts'
import type {
  NameKind,
  Sample,
  SampleWindow,
  SearchText,
  SeriesDesc,
  SeriesInstance,
  SeriesStore,
} from './store.ts'
import type { ValueBudget } from './value-budget.ts'

/** Names that are examined together. */
const TOGETHER = 1000
/** The most names that are known to be visible. */
const MOST_KNOWN = 100_000

/**
 * Hides series, and the names, labels and instances that only hidden series have. Series without a descriptor are hidden too.
 * Calculations are not kept; calculations kept by others use only series that are visible here.
 */
export class VisibleSeries implements SeriesStore {
  readonly #store: SeriesStore
  readonly #isHidden: (pmid: Pmid) => boolean
  /** Names and values of labels that a visible series has, with their kind. */
  readonly #known = new Set<string>()
  #all: readonly SearchText[] | undefined
  #texts: readonly SearchText[] = []

  constructor(store: SeriesStore, isHidden: (pmid: Pmid) => boolean) {
    this.#store = store
    this.#isHidden = isHidden
  }

  get readsAtOnce(): number {
    return this.#store.readsAtOnce ?? 1
  }

  async names(kind: NameKind): Promise<readonly string[]> {
    const names = await this.#store.names(kind)
    if (kind === 'label')
      return this.#filter(names, kind, async (name) => (await this.labelValues(name)).length > 0)
    return this.#filter(names, kind, async (name) => (await this.withName(kind, name)).length > 0)
  }

  async labelValues(label: string): Promise<readonly string[]> {
    const values = await this.#store.labelValues(label)
    return this.#filter(
      values,
      `value of ${label}`,
      async (value) => (await this.withLabel(label, value)).length > 0,
    )
  }

  async withName(kind: 'metric' | 'instance' | 'context', name: string): Promise<readonly string[]> {
    return this.#visible(await this.#store.withName(kind, name))
  }

  async withLabel(label: string, value: string): Promise<readonly string[]> {
    return this.#visible(await this.#store.withLabel(label, value))
  }

  /** Hides series after all conditions are applied, so that fewer have to be looked at. */
  async select(selector: Selector): Promise<readonly string[]> {
    let found: readonly string[]
    try {
      found = await findSeries(this.#store, selector)
    } catch {
      // An error after a condition that only hidden series fulfil would reveal them.
      return findByConditions(this, selector)
    }
    return this.#visible(found)
  }

  async desc(series: string): Promise<SeriesDesc | undefined> {
    const desc = await this.#store.desc(series)
    return desc === undefined || this.#isHidden(desc.pmid) ? undefined : desc
  }

  async metricNames(series: string): Promise<readonly string[]> {
    return (await this.#isVisible(series)) ? this.#store.metricNames(series) : []
  }

  async instances(series: string): Promise<readonly SeriesInstance[]> {
    return (await this.#isVisible(series)) ? this.#store.instances(series) : []
  }

  async labels(id: string): Promise<ReadonlyMap<string, string> | undefined> {
    const isVisible = (await this.#isVisible(id)) || (await this.#isVisibleInstance(id))
    return isVisible ? this.#store.labels(id) : undefined
  }

  sourceNames(source: string): Promise<readonly string[]> {
    return this.#store.sourceNames(source)
  }

  async samples(series: string, window: SampleWindow, budget: ValueBudget): Promise<readonly Sample[]> {
    return (await this.#isVisible(series)) ? this.#store.samples(series, window, budget) : []
  }

  async texts(): Promise<readonly SearchText[]> {
    const all = await this.#store.texts()
    if (all === this.#all) return this.#texts
    const metrics = new Set(await this.names('metric'))
    const instances = new Set(await this.names('instance'))
    const domains = new Set(
      all.flatMap(({ type, name, indom }) => (type === 'metric' && metrics.has(name) ? [indom] : [])),
    )
    this.#texts = all.filter(({ type, name, indom }) => {
      if (type === 'metric') return metrics.has(name)
      return domains.has(indom) && (type === 'indom' || instances.has(name))
    })
    this.#all = all
    return this.#texts
  }

  async expression(id: string): Promise<string | undefined> {
    return this.#store.expression?.(id)
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #isVisible(series: string): Promise<boolean> {
    return (await this.desc(series)) !== undefined
  }

  /** Returns whether a visible series has an instance. */
  async #isVisibleInstance(id: string): Promise<boolean> {
    const name = await this.#store.instanceName?.(id)
    if (name === undefined) return false
    for (const series of await this.withName('instance', name)) {
      const instances = await this.#store.instances(series)
      if (instances.some((each) => each.id === id)) return true
    }
    return false
  }

  async #visible(series: readonly string[]): Promise<readonly string[]> {
    return filterAll(series, (each) => this.#isVisible(each))
  }

  /** Returns the names that pass a test; those of kind `kind` that have passed it once are not tested again. */
  async #filter(
    names: readonly string[],
    kind: string,
    test: (name: string) => Promise<boolean>,
  ): Promise<readonly string[]> {
    return filterAll(names, async (name) => {
      const key = JSON.stringify([kind, name])
      if (this.#known.has(key)) return true
      if (!(await test(name))) return false
      if (this.#known.size >= MOST_KNOWN) this.#known.clear()
      this.#known.add(key)
      return true
    })
  }
}

/** Returns the elements that pass a test, some of them tested together. */
async function filterAll(
  all: readonly string[],
  test: (each: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const passed: string[] = []
  for (let i = 0; i < all.length; i += TOGETHER) {
    const some = all.slice(i, i + TOGETHER)
    const results = await Promise.all(some.map(test))
    passed.push(...some.filter((_, j) => results[j]))
  }
  return passed
}
