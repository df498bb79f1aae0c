/** A stacked bar for each sample. */
import uPlot from 'uplot'
import { resolveColor } from '../../theme.ts'
import type { ChartKind } from '../kind.ts'
import { TimeView } from '../TimeView.tsx'
import type { TimeLook } from '../time-look.ts'

const LOOK: TimeLook = {
  stacking: 'sum',
  isFromZero: true,
  // Each bar is drawn over the taller bar of which it is a part.
  isReversed: true,
  series: ({ color }) => ({
    points: { show: false },
    width: 0,
    fill: resolveColor(color),
    paths: uPlot.paths.bars!({ size: [0.8, 60] }),
  }),
}

export const bar: ChartKind = {
  id: 'bar',
  title: 'Bars',
  legend: true,
  stacking: 'sum',
  view: (props) => <TimeView {...props} look={LOOK} />,
  svg: (drawn, color, { timePicture, barMarks }) => timePicture(drawn, color, barMarks, 'sum'),
}
