/** Definitions of derived metrics: names, expressions and texts. pmRegisterDerived(3), pmAddDerived(3), docs/reference/derived-metrics.md */
import { debug } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { clusterOf, DOMAIN_RESERVED, domainOf, itemOf, type Pmid, pmid } from '../model/ids.ts'
import type { Expr, SyntaxFault } from './expr.ts'
import { isFault, parseExpr } from './parse.ts'
import { traceDefinition } from './trace.ts'

/** One derived metric as defined; it has a descriptor only once it is bound to a source. */
export interface DerivedDefinition {
  readonly name: string
  readonly pmid: Pmid
  /** The expression as given. */
  readonly text: string
  readonly expr: Expr
  oneline: string | undefined
  help: string | undefined
  /** Whether it has been removed; contexts then ignore it. */
  isRemoved: boolean
}

/** Settings of definition and binding. @see pmSetDerivedControl(3) */
export interface DerivedControls {
  /** Most global definitions, -1 for no limit. */
  globalLimit: number
  /** Most definitions of one context, -1 for no limit. */
  contextLimit: number
  /** A metric that cannot be bound has no values instead of an error. */
  optionNovalue: boolean
  /** Traces parsing, binding and evaluation; `-D derive` enables all three. */
  debugSyntax: boolean
  debugSemantics: boolean
  debugEval: boolean
}

/** Kind of help text. */
export type DerivedText = 'oneline' | 'help'

/** Valid names; like the reference, it allows a missing last component. */
const NAME = /^[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)*\.?$/
const MAX_ITEM = 1023
const MAX_CLUSTER = 2047
/** Identifiers used by event.flags and event.missed. */
const TAKEN = 2

/** Returns the default controls: no limits. */
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

/** Returns whether a derived metric may have this name. */
export function isDerivedName(name: string): boolean {
  return NAME.test(name)
}

/** Returns whether a PMID is that of a derived metric, not of one recorded in an archive, which has values there. */
export function isDerivedPmid(id: Pmid): boolean {
  return domainOf(id) === DOMAIN_RESERVED && itemOf(id) !== 0 && clusterOf(id) <= MAX_CLUSTER
}

/**
 * The definitions of one scope: global ones, which each context binds when it is opened, or those of one context.
 * Identifiers of removed metrics are not reused.
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

  /** Returns a copy of all definitions in order. */
  list(): readonly DerivedDefinition[] {
    return [...this.#byName.values()]
  }

  /** Number of definitions. */
  get size(): number {
    return this.#byName.size
  }

  /** Returns the definition of a name. */
  get(name: string): DerivedDefinition | undefined {
    return this.#byName.get(name)
  }

  /** Returns the definition with a PMID. */
  withPmid(id: Pmid): DerivedDefinition | undefined {
    return this.#byPmid.get(id)
  }

  /**
   * Defines a metric, or returns the fault: the expression is invalid, the name exists, or a limit is reached. Binding finds other errors.
   * PM_ERR_NAME for an invalid name.
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

  /** Sets a text of a metric. PM_ERR_NAME if it is not defined here, PM_ERR_TEXT if it has one. @see pmAddDerivedText(3) */
  setText(name: string, level: DerivedText, text: string): void {
    const definition = this.#byName.get(name)
    if (definition === undefined) throw new PcpError('PM_ERR_NAME', `Unknown derived metric: "${name}"`)
    if (definition[level] !== undefined)
      throw new PcpError('PM_ERR_TEXT', `Derived metric "${name}" already has a ${level} text`)
    definition[level] = text
  }

  /** Removes a definition; returns false if it does not exist. @see pmUnregisterDerived(3) */
  remove(name: string): boolean {
    const definition = this.#byName.get(name)
    if (definition === undefined) return false
    definition.isRemoved = true
    this.#byPmid.delete(definition.pmid)
    return this.#byName.delete(name)
  }
}

/** Returns whether defining succeeded. */
export function isDefinition(outcome: DerivedDefinition | SyntaxFault): outcome is DerivedDefinition {
  return 'pmid' in outcome
}

/** Formats a fault in an expression as the reference does, in four lines: headline, expression, caret, reason. */
export function faultText(headline: string, text: string, { offset, why }: SyntaxFault): string {
  const caret = `${' '.repeat(Math.abs(offset))}^`
  return `${headline}\n${text}\n${caret}\n${why === undefined ? '' : `${why}\n`}`
}
