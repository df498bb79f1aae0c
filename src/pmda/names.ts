/** The name space of an agent: its metrics, aliases and dynamic subtrees. docs/reference/agent-toolkit.md */
import { PcpError } from '../model/errors.ts'
import { dynamicRoot, type Pmid } from '../model/ids.ts'
import type { Child } from '../model/source.ts'
import { Pmns } from '../pmns/tree.ts'
import type { AgentMetric, CompiledAgent } from './compile.ts'

/** A name and its PMID. */
export type NamedId = readonly [name: string, id: Pmid]

/** The name space of one set of tables. */
export class AgentNames {
  readonly #tree = new Pmns()
  /** In table order. */
  readonly #entries: readonly NamedId[]
  readonly #roots: readonly string[]
  readonly #domain: number
  readonly #hidesNodes: boolean

  constructor(compiled: CompiledAgent) {
    const { domain, tables, metrics } = compiled
    this.#domain = domain
    this.#roots = tables.dynamicRoots ?? []
    this.#hidesNodes = tables.hidesDynamicNodes === true
    this.#entries = entriesOf(tables.metrics, metrics)
    for (const [name, id] of this.#entries) this.#tree.add(name, id)
  }

  /** Returns the entries for a collector's name space: a dynamic subtree is one entry. */
  *forCollector(): Iterable<NamedId> {
    for (const root of this.#roots) yield [root, dynamicRoot(this.#domain)]
    for (const entry of this.#entries) if (this.#rootOf(entry[0]) === undefined) yield entry
  }

  /** @see MetricSource.children */
  children(name: string): readonly Child[] {
    return this.#roots.includes(name) && !this.#tree.has(name) ? [] : this.#tree.children(name)
  }

  /** As MetricSource.traverse, but in table order below a dynamic root, as PCP's agents return names. */
  traverse(name: string): readonly string[] {
    if (this.#rootOf(name) === undefined) return this.#tree.traverse(name)
    const found = this.#entries.filter(([entry]) => isAtOrBelow(entry, name)).map(([entry]) => entry)
    return found.length === 0 && !this.#roots.includes(name) ? this.#tree.traverse(name) : found
  }

  /** @see MetricSource.lookupNames */
  lookup(name: string): ReturnType<Pmns['lookup']> {
    const found = this.#tree.lookup(name)
    if (!this.#hidesNodes || typeof found === 'number' || this.#rootOf(name) === undefined) return found
    return new PcpError('PM_ERR_NAME', `Unknown metric name: "${name}"`)
  }

  /** Returns all names of a PMID, possibly none. */
  namesOf(id: Pmid): readonly string[] {
    return this.#tree.namesOf(id)
  }

  #rootOf(name: string): string | undefined {
    return this.#roots.find((root) => isAtOrBelow(name, root))
  }
}

function isAtOrBelow(name: string, root: string): boolean {
  return name.startsWith(root) && (name.length === root.length || name[root.length] === '.')
}

function entriesOf(
  rows: CompiledAgent['tables']['metrics'],
  metrics: ReadonlyMap<Pmid, AgentMetric>,
): readonly NamedId[] {
  const ids = new Map<string, Pmid>()
  for (const [id, { name }] of metrics) ids.set(name, id)
  return Object.entries(rows).map(([name, row]): NamedId => {
    // checkTables made sure that the other row exists.
    if (!('alias' in row)) return [name, ids.get(name)!]
    return [name, typeof row.alias === 'number' ? row.alias : ids.get(row.alias)!]
  })
}
