/** The large value of a chart: the total of a stack, else the value of its main line. */
import type { Signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ChartData } from '../data/chart-data.ts'
import { showValue } from '../view/measure.ts'
import { type Crosshair, sampleAt } from './crosshair.ts'
import { legendOrder, meansOf } from './legend-order.ts'
import { newestIndex, readingOf } from './line-style.ts'
import { drawnColumns, type Stacking } from './stack.ts'

/** Colours of plots that do not count as use of a resource: idle time, free memory, and time in which a CPU waits for I/O. */
const UNUSED: readonly string[] = ['transparent', 'var(--iowait)']
/** Colour of lines that others are compared with, such as the number of CPUs. */
const REFERENCE = 'var(--faint)'

type Column = readonly (number | null | undefined)[]

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
  used: Column = usedColumn(data, stacking, hidden),
): HeadlineText | undefined {
  const indexOf = (values: Column): number | undefined => {
    const index = pointed === undefined ? newestIndex(data, values) : sampleAt(data.times, values, pointed)
    return index === -1 ? undefined : index
  }
  if (stacking === undefined) {
    const first = mainLine(data, hidden)
    const index = first && indexOf(first.values)
    if (first === undefined || index === undefined) return undefined
    const value = readingOf(data, stacking, data.lines.indexOf(first), index, hidden)
    return { value, of: data.lines.length === 1 && first.instance === null ? '' : first.label }
  }
  const index = indexOf(used)
  if (index === undefined) return undefined
  const measure = stacking === 'share' ? { ...data.measure, kind: 'share' as const } : data.measure
  return { value: showValue(measure, used[index]), of: partOf(data, hidden) }
}

const isUnused = ({ plot: { color = '' } }: ChartData['lines'][number]): boolean => UNUSED.includes(color)

/** Returns the height of a stack at each sample, without lines such as idle time; empty without stacking. */
function usedColumn(data: ChartData, stacking: Stacking | undefined, hidden: ReadonlySet<string>): Column {
  if (stacking === undefined) return []
  const unused = data.lines.filter(isUnused).map(({ key }) => key)
  return drawnColumns(data, new Set([...hidden, ...unused]), stacking).at(-1) ?? []
}

/** Returns which part of the stack is counted; empty if the only line is. */
function partOf({ lines, rest = [] }: ChartData, hidden: ReadonlySet<string>): string {
  const unused = lines.filter(isUnused).map(({ label }) => label)
  if (unused.length > 0) return `without ${unused.join(', ')}`
  if (rest.length > 0 || lines.some(({ key }) => hidden.has(key))) return 'of the shown lines'
  return lines.length > 1 ? 'total' : ''
}

interface Props {
  readonly data: ChartData
  readonly stacking: Stacking | undefined
  readonly hidden: ReadonlySet<string>
  readonly cursor: Signal<Crosshair | undefined>
}

/** Renders it. Screen readers read the legend, which has the same values. */
export function Headline({ data, stacking, hidden, cursor }: Props): ComponentChild {
  const used = useMemo(() => usedColumn(data, stacking, hidden), [data, stacking, hidden])
  const text = headlineOf(data, stacking, hidden, cursor.value, used)
  return (
    <p class="headline" aria-hidden="true">
      {text !== undefined && (
        <span>
          <b>{text.value}</b>
          {text.of !== '' && <small title={text.of}>{text.of}</small>}
        </span>
      )}
    </p>
  )
}
