/** A heat map: a row for each instance, coloured by its values. */
import type { ChartKind } from '../kind.ts'

export const heat: ChartKind = {
  id: 'heat',
  title: 'Heat map',
  legend: false,
  isOverlaid: true,
  most: 512,
  view: (props, parts) => parts && <parts.HeatView {...props} />,
  svg: (drawn, color, { heatPicture }) => heatPicture(drawn, color),
}
