/** Stacked areas. */
import type { ChartKind } from '../kind.ts'
import { TimeView } from '../TimeView.tsx'
import { stackLook } from '../time-look.ts'

const LOOK = stackLook('sum')

export const stacking: ChartKind = {
  id: 'stacking',
  title: 'Stacked area',
  legend: true,
  stacking: 'sum',
  view: (props) => <TimeView {...props} look={LOOK} />,
  svg: (drawn, color, { timePicture, stackMarks }) => timePicture(drawn, color, stackMarks, 'sum'),
}
