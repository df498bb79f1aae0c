/** A line for each instance. */
import type { ChartKind } from '../kind.ts'
import { TimeView } from '../TimeView.tsx'
import type { TimeLook } from '../time-look.ts'

const LOOK: TimeLook = { series: () => ({}) }

export const lines: ChartKind = {
  id: 'plot',
  title: 'Lines',
  legend: true,
  isOverlaid: true,
  view: (props) => <TimeView {...props} look={LOOK} />,
  svg: (drawn, color, { timePicture, lineMarks }) => timePicture(drawn, color, lineMarks),
}
