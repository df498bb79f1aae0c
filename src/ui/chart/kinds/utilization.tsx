/** Shares of a whole, on top of each other. */
import type { ChartKind } from '../kind.ts'
import { TimeView } from '../TimeView.tsx'
import { stackLook } from '../time-chart.ts'

const LOOK = stackLook('share')

export const utilization: ChartKind = {
  id: 'utilization',
  title: 'Utilisation',
  legend: true,
  stacking: 'share',
  view: (props) => <TimeView {...props} look={LOOK} />,
  svg: (drawn, color, { timePicture, stackMarks }) => timePicture(drawn, color, stackMarks, 'share'),
}
