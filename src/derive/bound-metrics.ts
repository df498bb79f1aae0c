/** The derived metrics of a source, and their bindings. docs/reference/derived-metrics.md */
import { debug } from '../model/debug.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { PM_INDOM_NULL } from '../model/ids.ts'
import type { Ask, MetricSource } from '../model/source.ts'
import { PM_SEM_DISCRETE, PM_TYPE_U32 } from '../model/types.ts'
import { METRICS_MAY_HAVE_CHANGED } from '../model/values.ts'
import { type BindFault, bind, isBindFault, namesIn, type Operand } from './bind.ts'
import type { Binding, Bound } from './bound.ts'
import { type DerivedDefinition, type DerivedDefinitions, isDerivedPmid } from './definitions.ts'
import type { SameIndom } from './meta.ts'
import { traceBinding } from './trace.ts'

/** A bound metric. */
export interface BoundMetric {
  readonly binding: Binding
  readonly desc: MetricDesc
  /** Domains whose instance names the expression uses, with the operands that have values in them. */
  readonly named: readonly number[]
  /** Domains for whose instances constants have a value each. */
  readonly listed: readonly number[]
}

/** The global definitions by name and by PMID. */
interface GlobalMetrics {
  readonly byName: ReadonlyMap<string, DerivedDefinition>
  readonly byPmid: ReadonlyMap<Pmid, DerivedDefinition>
}

/** Options of binding. */
interface Options {
  readonly sameIndom?: SameIndom
  readonly report?: (text: string) => void
}

const NO_VALUES: Binding = {
  root: {
    kind: 'none',
    meta: { type: PM_TYPE_U32, indom: PM_INDOM_NULL, sem: PM_SEM_DISCRETE, units: 0 },
    isNovalue: false,
  },
  operands: [],
  slots: 0,
}

/**
 * The global definitions as of opening the source, and those of this context, which take precedence. A metric is
 * bound on first use, and again when its operands have changed.
 */
export class BoundMetrics {
  readonly #source: MetricSource
  readonly #globals: () => readonly DerivedDefinition[]
  readonly #own: DerivedDefinitions
  readonly #options: Options
  readonly #bound = new Map<Pmid, BoundMetric | PcpError>()
  readonly #descs = new Map<string, Operand>()
  #global: GlobalMetrics | undefined
  /** Number of change notifications from the source, and how many of them have been processed. */
  #announcedVersion = 0
  #seenVersion = 0
  #unsubscribe: (() => void) | undefined

  constructor(
    source: MetricSource,
    globals: () => readonly DerivedDefinition[],
    own: DerivedDefinitions,
    options: Options,
  ) {
    this.#source = source
    this.#globals = globals
    this.#own = own
    this.#options = options
  }

  #globalsOnFirstUse(): GlobalMetrics {
    if (this.#global !== undefined) return this.#global
    const list = this.#globals()
    this.#global = {
      byName: new Map(list.map((definition) => [definition.name, definition])),
      byPmid: new Map(list.map((definition) => [definition.pmid, definition])),
    }
    return this.#global
  }

  /** Returns the definition of a name: this context's, or a global one unless it was removed since. */
  #find(name: string): DerivedDefinition | undefined {
    const own = this.#own.get(name)
    if (own !== undefined) return own
    const global = this.#globalsOnFirstUse().byName.get(name)
    return global?.isRemoved === true ? undefined : global
  }

  /** Returns the definition with a PMID. */
  definition(id: Pmid): DerivedDefinition | undefined {
    const global = this.#globalsOnFirstUse().byPmid.get(id)
    if (global !== undefined) return global.isRemoved ? undefined : global
    return this.#own.withPmid(id)
  }

  #all(): readonly DerivedDefinition[] {
    const own = this.#own.list()
    const hidden = new Set(own.map(({ name }) => name))
    const globals = [...this.#globalsOnFirstUse().byName.values()]
    return [...globals.filter(({ name, isRemoved }) => !isRemoved && !hidden.has(name)), ...own]
  }

  /** Whether computed values are traced. */
  get isTraced(): boolean {
    return debug.derive || this.#own.controls.debugEval
  }

  /** Returns the PMID of a name; PM_ERR_NONLEAF for a non-leaf; undefined for an unknown name. */
  lookup(name: string): Outcome<Pmid> | undefined {
    const definition = this.#find(name)
    if (definition !== undefined) return definition.pmid
    const prefix = `${name}.`
    return this.#all().some((other) => other.name.startsWith(prefix))
      ? new PcpError('PM_ERR_NONLEAF')
      : undefined
  }

  /**
   * Returns the names at and below a node of all metrics that can be bound, in order of definition. Metrics outside the node are not
   * bound, because that would query the source.
   */
  async visibleNames(node: string, ask: Ask): Promise<readonly string[]> {
    const prefix = node === '' ? '' : `${node}.`
    const all = this.#all().filter(({ name }) => name === node || name.startsWith(prefix))
    if (all.length === 0) return []
    await this.#bind(all, ask)
    return all.filter(({ pmid }) => !isError(this.#bound.get(pmid)!)).map(({ name }) => name)
  }

  /** Binds these metrics unless they are bound. */
  async bindAll(ids: readonly Pmid[], ask: Ask): Promise<void> {
    await this.#bind(
      ids.map((id) => this.definition(id)).filter((found) => found !== undefined),
      ask,
    )
  }

  /** Binds a metric of this context; returns the error, if any. */
  async bindOwn(definition: DerivedDefinition, ask: Ask): Promise<PcpError | undefined> {
    await this.#bind([definition], ask)
    const bound = this.#bound.get(definition.pmid)!
    return isError(bound) ? bound : undefined
  }

  /** Returns a bound metric, or PM_ERR_BADDERIVE, or PM_ERR_PMID if it was not bound. */
  bound(id: Pmid): Outcome<BoundMetric> {
    return this.#bound.get(id) ?? new PcpError('PM_ERR_PMID')
  }

  /** Returns the descriptor of a bound metric, or PM_ERR_BADDERIVE. */
  desc(id: Pmid): Outcome<MetricDesc> {
    const bound = this.bound(id)
    return isError(bound) ? bound : bound.desc
  }

  /** Whether bound metrics may have changed; binding again checks them. */
  get isStale(): boolean {
    return this.#announcedVersion !== this.#seenVersion
  }

  /** Unsubscribes for good, also from requests in flight, because the source may stay open for others. */
  release(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = () => {}
  }

  /** Unbinds metrics whose operands have changed. An unavailable operand does not count: its agent may come back. */
  async #refresh(ask: Ask): Promise<void> {
    const told = this.#announcedVersion
    const others = new Set<string>()
    for (const [name, operand] of await this.#lookUp([...this.#descs.keys()], ask)) {
      if (operand.desc === undefined || isSame(operand.desc, this.#descs.get(name)?.desc)) continue
      this.#descs.set(name, operand)
      others.add(name)
    }
    for (let before = 0; others.size > before; ) {
      before = others.size
      for (const { name, pmid, expr } of this.#all()) {
        if (others.has(name) || ![...namesIn(expr)].some((operand) => others.has(operand))) continue
        others.add(name)
        this.#bound.delete(pmid)
      }
    }
    this.#seenVersion = Math.max(this.#seenVersion, told)
  }

  async #bind(definitions: readonly DerivedDefinition[], ask: Ask): Promise<void> {
    this.#unsubscribe ??= this.#source.subscribe((event) => {
      if (event.type === 'changed' && (event.changes & METRICS_MAY_HAVE_CHANGED) !== 0)
        this.#announcedVersion++
    })
    if (this.isStale) await this.#refresh(ask)
    const unbound = definitions.filter(({ pmid }) => !this.#bound.has(pmid))
    // An alias of another derived metric has that metric's descriptor, so that one is bound first.
    for (let i = 0; i < unbound.length; i++) {
      const { expr } = unbound[i]!
      const other = expr.kind === 'metric' ? this.#find(expr.name) : undefined
      if (other !== undefined && !this.#bound.has(other.pmid) && !unbound.includes(other)) unbound.push(other)
    }
    if (unbound.length === 0) return
    await this.#learn(new Set(unbound.flatMap(({ expr }) => [...namesIn(expr)])), ask)
    const pending = new Set(unbound.map(({ pmid }) => pmid))
    for (const definition of unbound) this.#bindOne(definition, pending)
    // Another request may have unbound some of them meanwhile.
    if (definitions.some(({ pmid }) => !this.#bound.has(pmid))) await this.#bind(definitions, ask)
  }

  /** Looks up names that were not found yet. */
  async #learn(names: ReadonlySet<string>, ask: Ask): Promise<void> {
    const unknown = [...names].filter((name) => this.#descs.get(name)?.desc === undefined)
    for (const [name, operand] of await this.#lookUp(unknown, ask)) this.#descs.set(name, operand)
  }

  /** Looks up names in the source. */
  async #lookUp(names: readonly string[], ask: Ask): Promise<ReadonlyMap<string, Operand>> {
    const operands = new Map<string, Operand>()
    if (names.length === 0) return operands
    const ids = await this.#source.lookupNames(names, ask)
    const found = ids.filter((id): id is Pmid => !isError(id))
    const descs = found.length === 0 ? [] : await this.#source.descs(found, ask)
    let next = 0
    for (const [i, name] of names.entries()) {
      const id = ids[i]!
      if (isError(id)) operands.set(name, { desc: undefined, isDerived: false, isKnown: false })
      else {
        const desc = descs[next++]!
        const isDerived = isDerivedPmid(id)
        operands.set(
          name,
          isError(desc) ? { desc: undefined, isDerived, isKnown: true } : { desc, isDerived },
        )
      }
    }
    return operands
  }

  /** Binds one metric, after the metric of `pending` for which it is an alias. */
  #bindOne(definition: DerivedDefinition, pending: ReadonlySet<Pmid>): void {
    const { pmid, expr } = definition
    if (this.#bound.has(pmid)) return
    this.#bound.set(pmid, new PcpError('PM_ERR_BADDERIVE')) // found by an alias of itself
    const { sameIndom } = this.#options
    const outcome = bind(expr, {
      operand: (name) => this.#operand(name, pending),
      sameIndom: (a, b) => a === b || sameIndom?.(a, b) === true,
    })
    this.#bound.set(pmid, isBindFault(outcome) ? this.#failed(definition, outcome) : described(pmid, outcome))
    if (debug.derive || this.#own.controls.debugSemantics) traceBinding(definition.name, this.desc(pmid))
  }

  #operand(name: string, pending: ReadonlySet<Pmid>): Operand {
    const known = this.#descs.get(name)
    if (known !== undefined && (known.desc !== undefined || known.isKnown)) return known
    const other = this.#find(name)
    if (other === undefined) return { desc: undefined, isDerived: false, isKnown: false }
    if (pending.has(other.pmid)) this.#bindOne(other, pending)
    const desc = this.desc(other.pmid)
    return isError(desc) ? { desc: undefined, isDerived: true, isKnown: true } : { desc, isDerived: true }
  }

  #failed(
    { name, pmid }: DerivedDefinition,
    { where, why, isOperand, reason }: BindFault,
  ): BoundMetric | PcpError {
    if (this.#own.controls.optionNovalue) return described(pmid, NO_VALUES)
    // A missing metric is not reported, because configuration files are used for many hosts.
    if (isOperand) return new PcpError('PM_ERR_BADDERIVE', why, { reason })
    const report = `Semantic error: derived metric ${name}: ${where}: ${why}`
    if (this.#own.withPmid(pmid) === undefined) this.#options.report?.(`${report}\n`)
    return new PcpError('PM_ERR_BADDERIVE', why, { reason, cause: new PcpError('PM_ERR_BADDERIVE', report) })
  }
}

function isSame(a: MetricDesc, b: MetricDesc | undefined): boolean {
  if (b === undefined || a.pmid !== b.pmid || a.indom !== b.indom) return false
  return a.type === b.type && a.sem === b.sem && a.units === b.units
}

function described(pmid: Pmid, binding: Binding): BoundMetric {
  const named = new Set<number>()
  const listed = new Set<number>()
  const walk = (node: Bound): void => {
    const { indom } = node.meta
    if (indom !== PM_INDOM_NULL && node.kind === 'const') listed.add(indom)
    if (indom !== PM_INDOM_NULL && (node.kind === 'instance' || node.kind === 'match')) named.add(indom)
    if ('operand' in node) walk(node.operand)
    if ('guard' in node) walk(node.guard)
    if ('a' in node) {
      walk(node.a)
      walk(node.b)
    }
  }
  walk(binding.root)
  return { binding, desc: { pmid, ...binding.root.meta }, named: [...named], listed: [...listed] }
}
