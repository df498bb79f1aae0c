/** The large value of a chart: the total of a stack, else the value of its main line. */
import type { Signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import type { ChartData } from '../data/chart-data.ts'
import { showValue } from '../view/measure.ts'
import { type Crosshair, sampleAt } from './crosshair.ts'
import { legendOrder, meansOf } from './legend-order.ts'
import { newestIndex, readingOf, valueAt } from './line-style.ts'
import { type Stacking, totalsOf } from './stack.ts'

/** Colours of plots that do not count as use of a resource: idle time, free memory, and time in which a CPU waits for I/O. */
const UNUSED: readonly string[] = ['transparent', 'var(--iowait)']
/** Colour of lines that others are compared with, such as the number of CPUs. */
const REFERENCE = 'var(--faint)'

/** A value with what it is the value of. */
export interface HeadlineText {
  readonly value: string
  /** Empty if the title of the chart names it. */
  readonly of: string
}

/**
 * Returns the line that a chart is about: the first one, or of instances the one with the highest mean, which changes rarely. Views
 * give colours to lines whose order means something.
 */
function mainLine(data: ChartData, hidden: ReadonlySet<string>): ChartData['lines'][number] | undefined {
  const shown = legendOrder(data, undefined).shown.map((i) => data.lines[i]!)
  const some = shown.filter(({ key, plot }) => !hidden.has(key) && plot.color !== REFERENCE)
  const [first] = some
  if (first === undefined || first.instance === null || first.plot.color !== undefined) return first
  const means = meansOf(data)
  const meanOf = (line: ChartData['lines'][number]): number => means[data.lines.indexOf(line)] ?? -Infinity
  return some.reduce((a, b) => (meanOf(b) > meanOf(a) ? b : a))
}

/** Returns the newest value, or the one under the pointer; undefined without one. */
export function headlineOf(
  data: ChartData,
  stacking: Stacking | undefined,
  hidden: ReadonlySet<string>,
  pointed: Crosshair | undefined,
): HeadlineText | undefined {
  const indexOf = ({ values }: ChartData['lines'][number]): number | undefined => {
    const index = pointed === undefined ? newestIndex(data, values) : sampleAt(data.times, values, pointed)
    return index === -1 ? undefined : index
  }
  if (stacking === undefined) {
    const first = mainLine(data, hidden)
    const index = first && indexOf(first)
    if (first === undefined || index === undefined) return undefined
    const value = readingOf(data, stacking, data.lines.indexOf(first), index, hidden)
    return { value, of: data.lines.length === 1 ? '' : first.label }
  }
  const isUnused = ({ plot: { color = '' } }: ChartData['lines'][number]): boolean => UNUSED.includes(color)
  let total: number | undefined
  for (const line of data.lines) {
    const index = indexOf(line)
    if (index === undefined || isUnused(line) || hidden.has(line.key)) continue
    const value = valueAt(line.values, index)
    if (value == null) continue
    const whole = stacking === 'share' ? totalsOf(data)[index] : 1
    if (whole == null || whole === 0) return undefined
    total = (total ?? 0) + value / whole
  }
  if (total === undefined) return undefined
  const measure = stacking === 'share' ? { ...data.measure, kind: 'share' as const } : data.measure
  const unused = data.lines.filter(isUnused).map(({ label }) => label)
  const of = unused.length > 0 ? `without ${unused.join(', ')}` : data.lines.length > 1 ? 'total' : ''
  return { value: showValue(measure, total), of }
}

interface Props {
  readonly data: ChartData
  readonly stacking: Stacking | undefined
  readonly hidden: ReadonlySet<string>
  readonly cursor: Signal<Crosshair | undefined>
}

/** Renders it. Screen readers read the legend, which has the same values. */
export function Headline({ data, stacking, hidden, cursor }: Props): ComponentChild {
  const text = headlineOf(data, stacking, hidden, cursor.value)
  return (
    <p class="headline" aria-hidden="true">
      <span class="headline-now">{text?.value}</span>
      {text !== undefined && text.of !== '' && <span class="headline-of">{text.of}</span>}
    </p>
  )
}
