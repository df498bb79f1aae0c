/** Lines filled down to zero. */
import { withOpacity } from '../../theme.ts'
import type { ChartKind } from '../kind.ts'
import { TimeView } from '../TimeView.tsx'
import type { TimeLook } from '../time-look.ts'

const LOOK: TimeLook = {
  isFromZero: true,
  series: ({ color }) => ({ fill: withOpacity(color, 0.2) }),
}

export const area: ChartKind = {
  id: 'area',
  title: 'Filled area',
  legend: true,
  isOverlaid: true,
  view: (props) => <TimeView {...props} look={LOOK} />,
  svg: (drawn, color, { timePicture, areaMarks }) => timePicture(drawn, color, areaMarks),
}
