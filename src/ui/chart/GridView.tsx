/** A grid of bars: a row for each instance, a column for each metric. It replaces the 3-D scenes of PCP. */
import type { ComponentChild } from 'preact'
import type { ChartData } from '../data/chart-data.ts'
import { paletteColor } from '../theme.ts'
import { showValue } from '../view/measure.ts'
import { oldText } from './age.tsx'
import type { ViewProps } from './drawn.ts'
import { shareOf, useLimits } from './heat-map.ts'
import { Name } from './Name.tsx'
import { gridList } from './table-rows.ts'

/** Bars above this share of the limit are shown as warnings. */
const NEAR = 0.9

/** Shows the newest value of each line beside its limit. */
export function GridView({ chart, data, scale }: ViewProps): ComponentChild {
  const limits = useLimits(chart.id, data, scale)
  const { columns, rows } = gridList(chart, data)
  const olds = columns.map(({ plot }) =>
    oldText(
      data,
      data.lines.filter((line) => line.plot === plot),
    ),
  )
  return (
    <div class="table-scroll">
      <table class={`grid-bars${data.measure.kind === 'bytes' ? ' long' : ''}`}>
        {chart.plots.length > 1 && (
          <thead>
            <tr>
              <td />
              {columns.map(({ title }, i) => (
                <th key={i} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map(({ instance, name, values }) => (
            <tr class="grid-row" key={instance}>
              <th scope="row" title={instance}>
                <Name text={name} />
              </th>
              {columns.map(({ plot }, i) => (
                <Cell
                  key={i}
                  value={values[i] ?? null}
                  data={data}
                  limits={limits}
                  color={plot.color ?? paletteColor(i)}
                  old={olds[i]}
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
  readonly value: number | null
  readonly data: ChartData
  readonly limits: readonly [number, number]
  readonly color: string
  /** Age of the value if samples have been missed since, else undefined. */
  readonly old: string | undefined
}

function Cell({ value, data, limits, color, old }: CellProps): ComponentChild {
  if (value === null) return <td />
  const share = shareOf(value, limits)
  const background = share > NEAR && data.limits !== undefined ? 'var(--bad)' : color
  return (
    <td class={old === undefined ? undefined : 'old'} title={old}>
      <span class="grid-cell">
        <span class={`grid-bar${value > limits[1] ? ' over' : ''}`} aria-hidden="true">
          <span style={{ width: `${100 * share}%`, background }} />
        </span>
        <span class="grid-value">{showValue(data.measure, value)}</span>
      </span>
    </td>
  )
}
