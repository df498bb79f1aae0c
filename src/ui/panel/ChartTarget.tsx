/** Selects a chart of the page, or a new one. */
import type { Signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { currentSource, view } from '../page.ts'
import { expandWildcards, titleOf } from '../view/view.ts'

interface Props {
  readonly name: string
  /** Id of the chart; undefined for a new one. */
  readonly target: Signal<string | undefined>
}

/** Renders the list of charts. A chart that is removed from the page is deselected. */
export function ChartTarget({ name, target }: Props): ComponentChild {
  const { charts } = view.value
  if (!charts.some(({ id }) => id === target.value)) target.value = undefined
  return (
    <select
      aria-label={name}
      value={target.value ?? ''}
      onChange={({ currentTarget }) => (target.value = currentTarget.value || undefined)}
    >
      <option value="">New chart</option>
      {charts.map((chart) => (
        <option key={chart.id} value={chart.id}>
          {expandWildcards(titleOf(chart), { host: currentSource.value?.host ?? '' })}
        </option>
      ))}
    </select>
  )
}
