/** Adds the charts of one process to the page. */
import type { ProcessFamily } from '../../model/process-sample.ts'
import type { Source } from '../data/source.ts'
import { currentKey, showNotice, view } from '../page.ts'
import { newId } from '../view/view.ts'
import { chartsOf } from './charts-of-process.ts'
import type { ProcessRow } from './rows.ts'

/** Adds the charts of a process at the end of the page, unless they exist, and scrolls to them. */
export function chartProcess(row: ProcessRow, family: ProcessFamily, source: Source): void {
  const isHost = source.span === undefined
  const key = source.key === currentKey.peek() ? undefined : source.key
  const wanted = chartsOf(row, isHost ? ['proc', 'hotproc'] : [family], key)
  const { name, charts } = view.value
  let first = charts.find(({ title }) => title === wanted[0]!.title)?.id
  if (first === undefined) {
    const added = wanted.map((chart) => ({ ...chart, id: newId() }))
    first = added[0]!.id
    view.value = { name, charts: [...charts, ...added] }
    showNotice(`Added charts of process ${row.pid}`)
  }
  requestAnimationFrame(() =>
    document.querySelector(`[data-chart="${CSS.escape(first)}"]`)?.scrollIntoView({ block: 'nearest' }),
  )
}
