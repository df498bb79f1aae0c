/** Evaluates statements. docs/reference/pmie.md */
import { type Actions, type FiringContext, prepareActions } from './actions.ts'
import { type Binding, type BindingPlan, findBindings, planBindings } from './bindings.ts'
import { type BuildContext, build, SemanticError } from './build.ts'
import { constantNode, FALSE, type Node, TRUE, UNKNOWN } from './node.ts'
import { isAction, type RuleExpr, type Statement } from './syntax.ts'

/** Numbers of evaluations by result. */
export interface EvaluationCounts {
  actions: number
  isTrue: number
  isFalse: number
  isUnknown: number
  actual: number
}

/** Arguments of an evaluation. */
export interface Evaluation extends Pick<FiringContext, 'perform' | 'sec' | 'file'> {
  readonly counts: EvaluationCounts
}

/** A statement that is evaluated periodically. */
export interface EvaluatedStatement {
  readonly name: string
  /** The expression. */
  readonly node: Node
  readonly plan: BindingPlan | undefined
  /**
   * Returns what made a condition true at the last evaluation, whether or not an action was due; undefined if none was true, so also
   * if `otherwise` or `unknown` applied. Absent without conditions.
   */
  readonly reasons?: () => readonly Binding[] | undefined
  /** Evaluates the expression and performs actions. Returns a promise only if actions have to be waited for. */
  evaluate(evaluation: Evaluation): void | Promise<void>
}

interface ActiveRule {
  readonly condition: Node
  readonly plan: BindingPlan
  readonly actions: Actions
}

/** Prepares a statement; undefined for a constant. Throws SemanticError. */
export function prepareStatement(
  name: string,
  { expr, place }: Statement,
  context: BuildContext,
): EvaluatedStatement | undefined {
  const { line } = place
  if (expr.kind === 'rule') {
    const rule = activateRule(expr, context)
    return ruleStatement(name, line, { rules: [rule], unknown: undefined, otherwise: undefined })
  }
  if (expr.kind === 'ruleset') {
    const rules = expr.rules.map((rule) => activateRule(rule, context))
    const unknown = expr.unknown && prepareActions(expr.unknown)
    const otherwise = expr.otherwise && prepareActions(expr.otherwise)
    return ruleStatement(name, line, { rules, unknown, otherwise })
  }
  if (isAction(expr)) return actionStatement(name, line, prepareActions(expr))
  const node = build(expr, context)
  if (node.isConstant) return undefined
  const plan = node.kind === 'truth' ? planBindings(node) : undefined
  return {
    name,
    node,
    plan,
    evaluate: ({ counts }) => {
      node.update()
      count(counts, node.kind === 'truth' ? truthOf(node) : undefined)
    },
  }
}

function activateRule({ condition, action, line }: RuleExpr, context: BuildContext): ActiveRule {
  const node = build(condition, context)
  const { hosts, instances = 1, samples = 1 } = node.domains
  // Instances may remain after aggregating over hosts; any true one makes the rule true.
  if ((hosts !== undefined && (hosts > 1 || instances > 1)) || samples > 1)
    throw new SemanticError('rule condition must have a single boolean value', { line })
  return { condition: node, plan: planBindings(node), actions: prepareActions(action) }
}

interface RuleParts {
  readonly rules: readonly ActiveRule[]
  readonly unknown: Actions | undefined
  readonly otherwise: Actions | undefined
}

const NO_REASON: readonly Binding[] = [
  { host: undefined, connection: undefined, instance: undefined, value: 'true' },
]

/** Prepares rules that are tried in order until one is true. */
function ruleStatement(
  name: string,
  line: number,
  { rules, unknown, otherwise }: RuleParts,
): EvaluatedStatement {
  const verdict = { ...constantNode(false), isConstant: false }
  const [first] = rules
  let reason: BindingPlan | undefined
  return {
    name,
    node: verdict,
    plan: first!.condition.isConstant ? undefined : first!.plan,
    reasons: () => reason && (findBindings(reason) ?? []),
    evaluate: ({ counts, perform, sec, file }) => {
      let result: number = UNKNOWN
      let valid = 0
      let isAnyFalse = false
      let taken: Actions | undefined
      reason = undefined
      for (const { condition, plan, actions } of rules) {
        // Every condition is evaluated, so that all keep their history.
        condition.update()
        const truth = truthOf(condition)
        if (taken !== undefined) continue
        if (condition.valid > 0) {
          result = truth
          valid = 1
        }
        if (truth === FALSE) isAnyFalse = true
        if (truth !== TRUE) continue
        taken = actions
        reason = plan
      }
      if (taken === undefined) {
        const isUnknown = !isAnyFalse && unknown !== undefined
        taken = isUnknown ? unknown : otherwise
        if (taken !== undefined && !isUnknown) {
          result = TRUE
          valid = 1
        }
      }
      verdict.values[0] = result
      verdict.valid = valid
      count(counts, result)
      if (taken === undefined) return undefined
      const found = reason
      const bindings = (): readonly Binding[] | undefined =>
        found === undefined ? NO_REASON : findBindings(found)
      const onAction = (): void => void counts.actions++
      const done = taken({ rule: name, file, line, sec, bindings, perform, onAction })
      return typeof done === 'boolean' ? undefined : done.then(() => undefined)
    },
  }
}

/** Prepares an action without a condition. */
function actionStatement(name: string, line: number, actions: Actions): EvaluatedStatement {
  const node = { ...constantNode(false), isConstant: false }
  node.values[0] = UNKNOWN
  return {
    name,
    node,
    plan: undefined,
    evaluate: ({ counts, perform, sec, file }) => {
      count(counts, UNKNOWN)
      const onAction = (): void => void counts.actions++
      const done = actions({ rule: name, file, line, sec, bindings: () => undefined, perform, onAction })
      return typeof done === 'boolean' ? undefined : done.then(() => undefined)
    },
  }
}

/** Returns the truth of several cells: true if any is true, false if all are. */
function truthOf({ valid, layout, values }: Node): number {
  if (valid === 0 || layout.length === 0) return UNKNOWN
  let truth = values[0]!
  for (let i = 1; i < layout.length && truth !== TRUE; i++) if (values[i] !== FALSE) truth = values[i]!
  return truth
}

function count(counts: EvaluationCounts, truth: number | undefined): void {
  counts.actual++
  if (truth === TRUE) counts.isTrue++
  else if (truth === FALSE) counts.isFalse++
  else if (truth === UNKNOWN) counts.isUnknown++
}
