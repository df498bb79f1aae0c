/** A label that may not fit. It is shortened in the middle, because names differ mostly at their ends. */
import type { ComponentChild } from 'preact'
import { printableWord } from '../../base/printable.ts'

const SHORT = 14
const END = 8

/** Renders the label, with visible substitutes for control and other deceptive characters. */
export function Name({ text: given }: { readonly text: string }): ComponentChild {
  const text = printableWord(given)
  if (text.length <= SHORT) return <span class="name">{text}</span>
  return (
    <span class="name split">
      <span class="name-start">{text.slice(0, -END)}</span>
      <span class="name-end">{text.slice(-END)}</span>
    </span>
  )
}
