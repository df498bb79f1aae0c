/** The lines of -v, -V and -W. docs/pmie.md */
import { type BindingPlan, findBindings, picked } from './bindings.ts'
import type { Node } from './node.ts'
import { samplesText } from './value-text.ts'

/** How much is shown of every expression: values, values with their instances, or what makes it true. */
export type Verbosity = 'values' | 'annotated' | 'satisfying'

/** The text behind a name, up to and without the newline. */
export function valueReport(node: Node, plan: BindingPlan | undefined, verbosity: Verbosity): string {
  if (verbosity === 'values' || node.valid === 0) return listed(node, verbosity)
  if (verbosity === 'satisfying' && node.kind === 'truth' && plan !== undefined) {
    const bindings = findBindings(plan)?.filter(({ host }) => host !== undefined)
    if (bindings === undefined) return ' <no bindings available>'
    return bindings.map(({ host, instance, value }) => line(host, instance, value)).join('')
  }
  if (node.layout.every(({ host }) => host === undefined)) return listed(node, verbosity)
  return node.layout
    .map(({ host, inst }, i) => line(host?.name, inst ?? picked(node, i), samplesText(node, i)))
    .join('')
}

function line(host: string | undefined, instance: string | undefined, value: string): string {
  return `\n    ${host}: ${instance === undefined ? '' : `[${instance}] `}${value}`
}

function listed(node: Node, verbosity: Verbosity): string {
  // Of a metric without instances there is nothing to list.
  if (node.layout.length === 0) return verbosity !== 'values' && node.isListed === true ? '' : '?'
  return node.layout.map((_, i) => samplesText(node, i)).join(' ')
}
