/** Formats values for reports and messages. docs/reference/pmie.md */
import { formatF, formatG } from '../base/printf.ts'
import { type Node, TRUE, UNKNOWN } from './node.ts'

/** Formats a number: integers in full, others with fewer digits the larger they are; `?` if unknown. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return '?'
  // Avoids "-0".
  if (Number.isSafeInteger(value)) return String(value + 0)
  if (Number.isInteger(value)) return formatF(value, 0)
  const size = Math.abs(value)
  if (size < 0.5) return formatG(value)
  if (size < 5) return formatF(value, 2)
  return size < 50 ? formatF(value, 1) : formatF(value, 0)
}

/** Returns `true`, `false` or `unknown`. */
export function truthText(value: number): string {
  return value === UNKNOWN ? 'unknown' : value === TRUE ? 'true' : 'false'
}

/** Formats one value of a node; `sample` 0 is the newest. */
export function valueText(node: Node, cell: number, sample: number): string {
  const at = sample * node.layout.length + cell
  const isKnown = node.valid > sample
  if (node.kind === 'truth') return isKnown ? truthText(node.values[at]!) : 'unknown'
  if (node.kind === 'text') return isKnown ? `"${node.texts[at]}"` : '?'
  return isKnown ? numberText(node.values[at]!) : '?'
}

/** Formats all samples of a cell, newest first. */
export function samplesText(node: Node, cell: number): string {
  let text = valueText(node, cell, 0)
  for (let sample = 1; sample < node.samples; sample++) text += ` ${valueText(node, cell, sample)}`
  return text
}
