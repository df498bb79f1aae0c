/** A grid of bars: the newest value of each instance beside its limit. */
import type { ChartKind } from '../kind.ts'

export const grid: ChartKind = {
  id: 'grid',
  title: 'Bar grid',
  legend: false,
  most: 512,
  view: (props, parts) => parts && <parts.GridView {...props} />,
  svg: (drawn, color, { gridPicture }) => gridPicture(drawn, color),
  list: (chart, data, { gridList }) => gridList(chart, data),
}
