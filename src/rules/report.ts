/** Output of -v, -V and -W. docs/reference/pmie.md */
import { aggregatedInstance, type BindingPlan, findBindings } from './bindings.ts'
import type { Node } from './node.ts'
import { samplesText } from './value-text.ts'

/** Detail per expression: values, values with instances, or the bindings that make it true. */
export type Verbosity = 'values' | 'annotated' | 'satisfying'

/** Returns the text after an expression's name, without the newline. */
export function valueReport(node: Node, plan: BindingPlan | undefined, verbosity: Verbosity): string {
  if (verbosity === 'values' || node.valid === 0) return listed(node, verbosity)
  if (verbosity === 'satisfying' && node.kind === 'truth' && plan !== undefined) {
    const bindings = findBindings(plan)?.filter(({ host }) => host !== undefined)
    if (bindings === undefined) return ' <no bindings available>'
    return bindings.map(({ host, instance, value }) => line(host, instance, value)).join('')
  }
  if (node.layout.every(({ host }) => host === undefined)) return listed(node, verbosity)
  return node.layout
    .map(({ host, inst }, i) => line(host?.name, inst ?? aggregatedInstance(node, i), samplesText(node, i)))
    .join('')
}

function line(host: string | undefined, instance: string | undefined, value: string): string {
  return `\n    ${host}: ${instance === undefined ? '' : `[${instance}] `}${value}`
}

function listed(node: Node, verbosity: Verbosity): string {
  // A metric known to have no instances prints nothing.
  if (node.layout.length === 0) return verbosity !== 'values' && node.isListed === true ? '' : '?'
  return node.layout.map((_, i) => samplesText(node, i)).join(' ')
}
