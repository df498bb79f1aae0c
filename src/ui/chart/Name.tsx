/** A name that may be too long for its place: what is left out is in its middle, as ends tell names apart. */
import type { ComponentChild } from 'preact'
import { printableWord } from '../../base/printable.ts'

const SHORT = 14
const END = 8

/** Shows it, as much as fits, with pictures for characters that would deceive about it. */
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
