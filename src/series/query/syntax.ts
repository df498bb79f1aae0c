/** The syntax tree of a query. pmseries(1), docs/reference/series-queries.md */

/** A query: what it selects or calculates, and whether its selectors have windows. */
export interface Query {
  readonly body: Expression
  /** Without windows a query finds series; with windows, their values. */
  readonly hasWindow: boolean
}

/** A selector or a calculation. */
export type Expression = Selector | Call | Binary | Scaled

/** `kernel.all.load{hostname=="db1"}[count:5]` */
export interface Selector {
  readonly kind: 'selector'
  /** Name or pattern of the metric; undefined for `{...}` alone. */
  readonly metric: string | undefined
  /** Groups of conditions, of which all must hold. */
  readonly groups: readonly Group[]
  /** Undefined without a window. */
  readonly window: WindowTexts | undefined
}

/** Conditions joined from left to right by && and ||. */
export interface Group {
  readonly first: Condition
  readonly rest: readonly { readonly operator: '&&' | '||'; readonly condition: Condition }[]
}

/** `hostname =~ "db.*"` */
export interface Condition {
  readonly key: string
  readonly relation: Relation
  /** Strings without quotes. */
  readonly value: string
  readonly isNumber: boolean
  /** An unquoted word as value, or a quoted key; it selects nothing. */
  readonly isVoid: boolean
}

/** Relations between a name or label and a value. */
export type Relation = '==' | '~~' | ':' | '=~' | '!~' | '!=' | '<' | '<=' | '>' | '>='

/** `max(...)` */
export interface Call {
  readonly kind: 'call'
  readonly name: string
  readonly operand: Expression
  /** k, n or base, or the units of rescale. */
  readonly parameter: string | undefined
}

/** Two operands. */
export interface Binary {
  readonly kind: 'binary'
  readonly operator: '+' | '-' | '*' | '/'
  readonly left: Expression
  readonly right: Expression
}

/** A number times an operand, in this order or the other. */
export interface Scaled {
  readonly kind: 'scaled'
  readonly factor: string
  readonly operand: Expression
  readonly isFactorFirst: boolean
}

/** Texts of a window by their key; synonyms are replaced. */
export interface WindowTexts {
  readonly samples?: string
  readonly interval?: string
  readonly start?: string
  readonly finish?: string
  /** The last so much time. */
  readonly range?: string
  readonly align?: string
  readonly offset?: string
  readonly zone?: string
}

/**
 * Returns the text that identifies an expression: without windows and blanks. The series of its results is the hash of
 * this text.
 */
export function canonicalText(expression: Expression): string {
  switch (expression.kind) {
    case 'selector': {
      const { metric = '', groups } = expression
      return groups.length === 0 ? metric : `${metric}{${groups.map(groupText).join(',')}}`
    }
    case 'call': {
      const { name, operand, parameter } = expression
      if (parameter === undefined) return `${name}(${canonicalText(operand)})`
      // PCP names both functions of percentiles alike.
      if (name === 'nth_percentile_sample')
        return canonicalText({ ...expression, name: 'nth_percentile_inst' })
      // Written differently by PCP, and part of the hash.
      if (name === 'rescale') return `${name}(${canonicalText(operand)},"${parameter}")`
      return `${name}(${canonicalText(operand)},${name === 'log' ? '' : ' '}${parameter})`
    }
    case 'binary':
      return canonicalText(expression.left) + expression.operator + canonicalText(expression.right)
    case 'scaled': {
      const { factor, operand, isFactorFirst } = expression
      return isFactorFirst ? `${factor}*${canonicalText(operand)}` : `${canonicalText(operand)}*${factor}`
    }
  }
}

function groupText({ first, rest }: Group): string {
  return conditionText(first) + rest.map((each) => each.operator + conditionText(each.condition)).join('')
}

function conditionText({ key, relation, value, isNumber }: Condition): string {
  return `${key}${relation}${isNumber ? value : `"${value}"`}`
}
