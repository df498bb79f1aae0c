/** Many values at once, a bar each: rows are instances, columns the metrics. What 3-D scenes of PCP showed. */
import type { ComponentChild } from 'preact'
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { showValue } from '../view/measure.ts'
import { heatLimits } from './heat-map.ts'
import { lineColor } from './line-look.ts'

const newest = ({ values }: ChartLine): number | null => values.findLast((value) => value != null) ?? null

/** Shows the newest value of each line beside its limit. */
export function GridView({ data }: { readonly data: ChartData }): ComponentChild {
  const [low, high] = heatLimits(data)
  const rows = Map.groupBy(data.lines, ({ instance }) => instance ?? '')
  return (
    <div class="grid-bars">
      {[...rows].map(([instance, lines]) => (
        <div class="grid-row" key={instance}>
          <span class="grid-name">{instance || lines[0]!.label}</span>
          {lines.map((line) => {
            const value = newest(line)
            const share = value === null ? 0 : Math.min(1, Math.max(0, (value - low) / (high - low)))
            return (
              <span
                class={`grid-bar${value !== null && value > high ? ' over' : ''}`}
                key={line.key}
                title={`${line.label}: ${showValue(data.measure, value)}`}
                aria-hidden="true"
              >
                <span
                  style={{
                    width: `${100 * share}%`,
                    background:
                      share > 0.9 && data.limits !== undefined
                        ? 'var(--bad)'
                        : lineColor(data, data.lines.indexOf(line)),
                  }}
                />
              </span>
            )
          })}
          <span class="grid-value">{lines.map((line) => gridText(data, line)).join(' · ')}</span>
        </div>
      ))}
    </div>
  )
}

/** File systems and the like count in percent without saying so in their units. */
function gridText(data: ChartData, line: ChartLine): string {
  return showValue(data.measure, newest(line))
}
