/** Definitions of derived metrics: names, expressions and texts. pmRegisterDerived(3), pmAddDerived(3), docs/derived.md */
import { debug } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { clusterOf, DOMAIN_RESERVED, domainOf, itemOf, type Pmid, pmid } from '../model/ids.ts'
import type { Expr, SyntaxFault } from './expr.ts'
import { isFault, parseExpr } from './parse.ts'
import { traceDefinition } from './trace.ts'

/** One derived metric as it was defined; what it is over a source is known once it is bound. */
export interface DerivedDefinition {
  readonly name: string
  readonly pmid: Pmid
  /** The expression as given. */
  readonly text: string
  readonly expr: Expr
  oneline: string | undefined
  help: string | undefined
  /** Was it removed since? Contexts that know it then no longer do. */
  isRemoved: boolean
}

/** What holds for definitions and binding. @see pmSetDerivedControl(3) */
export interface DerivedControls {
  /** How many global definitions there may be, -1 for no limit. */
  globalLimit: number
  /** How many definitions of one context there may be, -1 for no limit. */
  contextLimit: number
  /** A metric that cannot be bound has no values, instead of being an error. */
  optionNovalue: boolean
  /** Tell about expressions as they are read, bound, computed; `-D derive` asks for all three. */
  debugSyntax: boolean
  debugSemantics: boolean
  debugEval: boolean
}

/** Which of a metric's texts. */
export type DerivedText = 'oneline' | 'help'

/** Legal names; that the last component may be missing is a habit of the reference's. */
const NAME = /^[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)*\.?$/
const MAX_ITEM = 1023
const MAX_CLUSTER = 2047
/** event.flags and event.missed have the first two identifiers. */
const TAKEN = 2

/** Controls as they are unless set: no limits. */
export function defaultControls(): DerivedControls {
  return {
    globalLimit: -1,
    contextLimit: -1,
    optionNovalue: false,
    debugSyntax: false,
    debugSemantics: false,
    debugEval: false,
  }
}

/** May a derived metric have this name? */
export function isDerivedName(name: string): boolean {
  return NAME.test(name)
}

/** Is this the identifier of a derived metric? That of one recorded in an archive is not: its values are there. */
export function isDerivedPmid(id: Pmid): boolean {
  return domainOf(id) === DOMAIN_RESERVED && itemOf(id) !== 0 && clusterOf(id) <= MAX_CLUSTER
}

/**
 * The definitions of one scope: those of the whole process, which are bound in each context when it is opened, or those of
 * one context. Identifiers of removed metrics are not given out again.
 */
export class DerivedDefinitions {
  readonly scope: 'global' | 'context'
  readonly controls: DerivedControls
  readonly #byName = new Map<string, DerivedDefinition>()
  readonly #byPmid = new Map<Pmid, DerivedDefinition>()
  #used: number

  constructor(scope: 'global' | 'context', controls: DerivedControls = defaultControls()) {
    this.scope = scope
    this.controls = controls
    this.#used = scope === 'global' ? TAKEN : 0
  }

  /** All definitions in their order, as they are now. */
  list(): readonly DerivedDefinition[] {
    return [...this.#byName.values()]
  }

  /** How many there are. */
  get size(): number {
    return this.#byName.size
  }

  /** The definition of a name. */
  get(name: string): DerivedDefinition | undefined {
    return this.#byName.get(name)
  }

  /** The definition with an identifier. */
  withPmid(id: Pmid): DerivedDefinition | undefined {
    return this.#byPmid.get(id)
  }

  /**
   * Defines a metric, or says where and why not: the expression is none, the name is taken, a limit is reached. Whether it
   * means something is known when it is bound. PM_ERR_NAME for what can be no name.
   */
  add(name: string, text: string): DerivedDefinition | SyntaxFault {
    const outcome = this.#add(name, text)
    if (debug.derive || this.controls.debugSyntax) traceDefinition(this.scope, name, text, outcome)
    return outcome
  }

  #add(name: string, text: string): DerivedDefinition | SyntaxFault {
    if (!isDerivedName(name)) throw new PcpError('PM_ERR_NAME', `Illegal derived metric name: "${name}"`)
    const start = text.length - text.trimStart().length
    const scope = this.scope === 'global' ? 'global' : 'per-context'
    if (this.#byName.has(name))
      return { offset: start, why: `Duplicate ${scope} derived metric name`, reason: 'duplicate-name' }
    const { globalLimit, contextLimit } = this.controls
    const limit = this.scope === 'global' ? globalLimit : contextLimit
    if (limit >= 0 && this.size >= limit) return { offset: start, why: `Too many ${scope} derived metrics` }
    const expr = parseExpr(text)
    if (isFault(expr)) return expr
    const cluster = Math.floor(this.#used / MAX_ITEM)
    if (cluster > MAX_CLUSTER) return { offset: start, why: `${scope} PMID space exhausted` }
    const item = this.#used++ % MAX_ITEM
    const id =
      this.scope === 'global'
        ? pmid(DOMAIN_RESERVED, cluster, item + 1)
        : pmid(DOMAIN_RESERVED, MAX_CLUSTER - cluster, MAX_ITEM - item)
    const definition = { name, pmid: id, text, expr, oneline: undefined, help: undefined, isRemoved: false }
    this.#byName.set(name, definition)
    this.#byPmid.set(id, definition)
    return definition
  }

  /** Gives a metric a text. PM_ERR_NAME when it is not defined here, PM_ERR_TEXT when it has one. @see pmAddDerivedText(3) */
  setText(name: string, level: DerivedText, text: string): void {
    const definition = this.#byName.get(name)
    if (definition === undefined) throw new PcpError('PM_ERR_NAME', `Unknown derived metric: "${name}"`)
    if (definition[level] !== undefined)
      throw new PcpError('PM_ERR_TEXT', `Derived metric "${name}" has a ${level} text already`)
    definition[level] = text
  }

  /** Forgets a definition; false when there is none. @see pmUnregisterDerived(3) */
  remove(name: string): boolean {
    const definition = this.#byName.get(name)
    if (definition === undefined) return false
    definition.isRemoved = true
    this.#byPmid.delete(definition.pmid)
    return this.#byName.delete(name)
  }
}

/** Is this a definition, not a fault? */
export function isDefinition(outcome: DerivedDefinition | SyntaxFault): outcome is DerivedDefinition {
  return 'pmid' in outcome
}

/** A fault in an expression as the reference prints it, on lines of their own: headline, expression, caret, reason. */
export function faultText(headline: string, text: string, { offset, why }: SyntaxFault): string {
  const caret = `${' '.repeat(Math.abs(offset))}^`
  return `${headline}\n${text}\n${caret}\n${why === undefined ? '' : `${why}\n`}`
}
