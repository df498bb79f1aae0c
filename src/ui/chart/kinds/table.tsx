/** A table of the newest values: a row for each instance, a column for each metric. */
import type { ChartKind } from '../kind.ts'

export const table: ChartKind = {
  id: 'table',
  title: 'Table',
  legend: false,
  hasOwnUnits: true,
  most: 20_000,
  view: (props, parts) => parts && <parts.TableView {...props} />,
  svg: (drawn, color, { tablePicture }) => tablePicture(drawn, color),
  list: (chart, data, { tableList }) => tableList(chart, data),
}
