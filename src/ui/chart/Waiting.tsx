/** A chart before its first values: as large as it is going to be, so that nothing moves when they come. */
import type { ComponentChild } from 'preact'
import { type Chart, columnTitle, isList } from '../view/view.ts'

/** Stands for what is drawn, and for the legend. */
export function Waiting({ chart }: { readonly chart: Chart }): ComponentChild {
  const { style, plots, legend } = chart
  const isOverTime = !isList(style)
  const names = plots.map(columnTitle)
  return (
    <>
      <p class={`empty ${isOverTime ? 'plot' : 'list'}`}>Waiting for values …</p>
      {legend && isOverTime && style !== 'heat' && (
        <ul class="legend" style={{ '--longest': longest(names) }} aria-hidden="true">
          {Array.from(names, (_, i) => (
            <li key={i} />
          ))}
        </ul>
      )}
    </>
  )
}

/** Length of the longest of some names: legends are laid out by it. */
export function longest(names: readonly string[]): number {
  return Math.max(1, ...names.map(({ length }) => length))
}
