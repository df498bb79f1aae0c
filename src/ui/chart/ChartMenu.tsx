/** What to do with a chart. */
import type { ComponentChild } from 'preact'
import type { ChartData } from '../data/chart-data.ts'
import { complain, editing, moveChart, removeChart } from '../page.ts'
import { Menu } from '../panel/Menu.tsx'
import { time } from '../time/control.ts'
import type { Chart } from '../view/view.ts'
import { toCsv } from './csv.ts'
import { download, toPng } from './export.ts'
import { fileName } from './file-name.ts'
import { toSvg } from './svg.ts'

interface MenuProps {
  readonly chart: Chart
  /** Id of the chart in the view. */
  readonly originId: string
  readonly title: string
  readonly data: ChartData
  readonly hidden: ReadonlySet<string>
}

/** What can be done with it. */
export function ChartMenu({ chart, originId, title, data, hidden }: MenuProps): ComponentChild {
  const save = (kind: 'csv' | 'svg' | 'png') => (): void => {
    const name = fileName(title, kind)
    const zone = time.zone.peek()
    if (kind === 'csv') {
      download(name, new Blob([toCsv(chart, data, hidden, zone)], { type: 'text/csv' }))
      return
    }
    const svg = toSvg({ chart, title, data, hidden, frame: time.frame.peek(), zone })
    if (kind === 'svg') download(name, new Blob([svg], { type: 'image/svg+xml' }))
    else toPng(svg).then((blob) => download(name, blob), complain)
  }
  return (
    <Menu
      label={`Menu of ${title}`}
      items={[
        { text: 'Change …', action: () => (editing.value = originId) },
        { text: 'Move back', action: () => moveChart(originId, -1) },
        { text: 'Move on', action: () => moveChart(originId, 1) },
        { text: 'Save as CSV', action: save('csv') },
        { text: 'Save as SVG', action: save('svg') },
        { text: 'Save as PNG', action: save('png') },
        { text: 'Remove', isDanger: true, action: () => removeChart(originId) },
      ]}
    />
  )
}
