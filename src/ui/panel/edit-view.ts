/** Adds, moves and removes charts of the view; `changeChart` of page.ts edits one. */
import { changeChart, view } from '../page.ts'
import { type Chart, newId, type Plot } from '../view/view.ts'

/** Removes a chart from the view. */
export function removeChart(id: string): void {
  const { name, charts } = view.value
  view.value = { name, charts: charts.filter((chart) => chart.id !== id) }
}

/** Moves a chart by one position. */
export function moveChart(id: string, by: -1 | 1): void {
  const { name } = view.value
  const charts = [...view.value.charts]
  const at = charts.findIndex((chart) => chart.id === id)
  const to = at + by
  if (at < 0 || to < 0 || to >= charts.length) return
  ;[charts[at], charts[to]] = [charts[to]!, charts[at]!]
  view.value = { name, charts }
}

/** Adds a chart at the end of the page. Returns its id. */
export function addChart(title: string, plots: readonly Plot[]): string {
  const id = newId()
  const chart: Chart = { id, title, style: 'plot', legend: true, plots }
  view.value = { name: view.value.name, charts: [...view.value.charts, chart] }
  return id
}

export function addPlots(id: string, plots: readonly Plot[]): void {
  const chart = view.value.charts.find((one) => one.id === id)
  if (chart !== undefined) changeChart(id, { plots: [...chart.plots, ...plots] })
}
