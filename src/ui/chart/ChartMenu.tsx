/** The menu of a chart. */
import type { ComponentChild } from 'preact'
import type { ChartData } from '../data/chart-data.ts'
import { marks } from '../marks/marks.ts'
import { editing, showError } from '../page.ts'
import { moveChart, removeChart } from '../panel/edit-view.ts'
import { Menu } from '../panel/Menu.tsx'
import type { Chart } from '../view/view.ts'
import { saveChart } from './export.ts'
import { kindOf } from './kinds/registry.ts'

interface MenuProps {
  readonly chart: Chart
  /** Id of the chart in the view. */
  readonly originId: string
  readonly title: string
  readonly data: ChartData
  readonly hidden: ReadonlySet<string>
  /** Do the marks belong to its source? */
  readonly hasMarks: boolean
}

/** Renders the menu: edit, move, save, remove. */
export function ChartMenu({ chart, originId, title, data, hidden, hasMarks }: MenuProps): ComponentChild {
  const save = (kind: 'csv' | 'svg' | 'png') => (): void => {
    saveChart({ chart, title, data, hidden, marks: hasMarks ? marks.peek() : [] }, kind).catch(showError)
  }
  return (
    <Menu
      label={`Menu for ${title}`}
      items={[
        { text: 'Edit …', action: () => (editing.value = originId) },
        { text: 'Move back', action: () => moveChart(originId, -1) },
        { text: 'Move forward', action: () => moveChart(originId, 1) },
        ...(kindOf(chart.style).own === undefined
          ? [
              { text: 'Save as CSV', action: save('csv') },
              { text: 'Save as SVG', action: save('svg') },
              { text: 'Save as PNG', action: save('png') },
            ]
          : []),
        { text: 'Remove', isDanger: true, action: () => removeChart(originId) },
      ]}
    />
  )
}
