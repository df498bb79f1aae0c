/** Many values at once, a bar each: rows are instances, columns the metrics. What 3-D scenes of PCP showed. */
import type { ComponentChild } from 'preact'
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { paletteColor } from '../theme.ts'
import { showValue } from '../view/measure.ts'
import { heatLimits } from './heat-map.ts'
import { Name } from './Name.tsx'

/** More than this of the limit is a warning. */
const NEAR = 0.9

const newest = ({ values }: ChartLine): number | null => values.findLast((value) => value != null) ?? null

/** Shows the newest value of each line beside its limit. */
export function GridView({ data }: { readonly data: ChartData }): ComponentChild {
  const limits = heatLimits(data)
  const plots = [...new Set(data.lines.map(({ plot }) => plot))]
  const rows = Map.groupBy(data.lines, ({ instance }) => instance ?? '')
  return (
    <div class="table-scroll">
      <table class={`grid-bars${data.measure.kind === 'bytes' ? ' long' : ''}`}>
        {plots.length > 1 && (
          <thead>
            <tr>
              <td />
              {plots.map((plot, i) => (
                <th key={i} scope="col">
                  {data.heads.get(plot)}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {[...rows].map(([instance, lines]) => (
            <tr class="grid-row" key={instance}>
              <th scope="row" title={instance}>
                <Name text={instance || (plots.length > 1 ? 'all' : lines[0]!.label)} />
              </th>
              {plots.map((plot, i) => (
                <Cell
                  key={i}
                  line={lines.find((line) => line.plot === plot)}
                  data={data}
                  limits={limits}
                  color={plot.color ?? paletteColor(i)}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface CellProps {
  readonly line: ChartLine | undefined
  readonly data: ChartData
  readonly limits: readonly [number, number]
  readonly color: string
}

function Cell({ line, data, limits: [low, high], color }: CellProps): ComponentChild {
  if (line === undefined) return <td />
  const value = newest(line)
  const share = value === null ? 0 : Math.min(1, Math.max(0, (value - low) / (high - low)))
  const isOver = value !== null && value > high
  const background = share > NEAR && data.limits !== undefined ? 'var(--bad)' : color
  return (
    <td>
      <span class="grid-cell">
        <span class={`grid-bar${isOver ? ' over' : ''}`} aria-hidden="true">
          <span style={{ width: `${100 * share}%`, background }} />
        </span>
        <span class="grid-value">{showValue(data.measure, value)}</span>
      </span>
    </td>
  )
}
