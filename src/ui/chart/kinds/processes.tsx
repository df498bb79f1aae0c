/** The processes of the instant under the crosshair. It has no plots: it reads processes whole. */
import type { ChartKind } from '../kind.ts'

export const processes: ChartKind = {
  id: 'processes',
  title: 'Processes',
  legend: false,
  own: (props, { Processes }) => <Processes {...props} />,
  view: () => undefined,
  svg: () => ({ parts: [], height: 0 }),
}
