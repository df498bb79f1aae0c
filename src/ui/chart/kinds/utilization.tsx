/** Shares of a whole, stacked to 100 %. */
import type { ChartKind } from '../kind.ts'
import { TimeView } from '../TimeView.tsx'
import { stackLook } from '../time-look.ts'

const LOOK = stackLook('share')

export const utilization: ChartKind = {
  id: 'utilization',
  title: 'Utilisation',
  legend: true,
  stacking: 'share',
  view: (props) => <TimeView {...props} look={LOOK} />,
  svg: (drawn, color, { timePicture, stackMarks }) => timePicture(drawn, color, stackMarks, 'share'),
}
