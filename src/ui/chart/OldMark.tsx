/** Shows how old the readings of a chart are, once samples have been missed. */
import type { ComponentChild } from 'preact'
import type { ChartData } from '../data/chart-data.ts'
import { oldText } from './age.ts'

/** A part of its own: the age changes each second, and the chart stays. */
export function OldMark({ data }: { readonly data: ChartData }): ComponentChild {
  const old = oldText(data, data.lines)
  if (old === undefined) return null
  return (
    <span class="old-mark" title={old}>
      {old.slice(0, old.indexOf(','))}
    </span>
  )
}
