/** Saves a chart as a file. */
import type { ChartData } from '../data/chart-data.ts'
import { time } from '../time/control.ts'
import type { Chart } from '../view/view.ts'
import { toCsv } from './csv.ts'
import { download, toPng } from './export.ts'
import { fileName } from './file-name.ts'
import { toSvg } from './svg.ts'

/** What a chart shows. */
export interface Saved {
  readonly chart: Chart
  readonly title: string
  readonly data: ChartData
  readonly hidden: ReadonlySet<string>
}

/** Hands the browser a file of what the chart shows now. */
export async function saveChart(saved: Saved, kind: 'csv' | 'svg' | 'png'): Promise<void> {
  const { chart, title, data, hidden } = saved
  const name = fileName(title, kind)
  const zone = time.zone.peek()
  if (kind === 'csv') {
    download(name, new Blob([toCsv(chart, data, hidden, zone)], { type: 'text/csv' }))
    return
  }
  const svg = toSvg({ chart, title, data, hidden, frame: time.frame.peek(), zone })
  download(name, kind === 'svg' ? new Blob([svg], { type: 'image/svg+xml' }) : await toPng(svg))
}
