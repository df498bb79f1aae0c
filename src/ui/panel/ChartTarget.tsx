/** Chooses a chart of the page, or a new one. */
import type { Signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { shown, view } from '../page.ts'
import { fillIn, titleOf } from '../view/view.ts'

interface Props {
  readonly name: string
  /** Id of the chart; nothing for a new one. */
  readonly target: Signal<string | undefined>
}

/** A list of the charts. One that is taken off the page is no longer chosen. */
export function ChartTarget({ name, target }: Props): ComponentChild {
  const { charts } = view.value
  if (!charts.some(({ id }) => id === target.value)) target.value = undefined
  return (
    <select
      aria-label={name}
      value={target.value ?? ''}
      onChange={({ currentTarget }) => (target.value = currentTarget.value || undefined)}
    >
      <option value="">in a new chart</option>
      {charts.map((chart) => (
        <option key={chart.id} value={chart.id}>
          in {fillIn(titleOf(chart), { host: shown.value?.host ?? '' })}
        </option>
      ))}
    </select>
  )
}
