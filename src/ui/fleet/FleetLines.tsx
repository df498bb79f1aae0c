/** Quantiles over hosts, as lines over time. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useMemo } from 'preact/hooks'
import type { FleetRange } from '../../archive/fleet/answer.ts'
import { fleetQuantiles } from '../../archive/fleet/statistics.ts'
import type { Crosshair } from '../chart/crosshair.ts'
import { lines as linesKind } from '../chart/kinds/lines.tsx'
import { Legend } from '../chart/Legend.tsx'
import { Tip } from '../chart/Tip.tsx'
import type { ChartData } from '../data/chart-data.ts'
import type { Measure } from '../view/measure.ts'
import type { Chart } from '../view/view.ts'
import type { FleetRow } from './rows.ts'
import { cellRow, measure, shown } from './state.ts'

const QUANTILES = [
  ['max', 'highest'],
  ['p99', '99 %'],
  ['p90', '90 %'],
  ['p50', 'median'],
] as const

/** Renders the lines of the hosts that match the filter. */
export function FleetLines({ range }: { readonly range: FleetRange }): ComponentChild {
  const hidden = useSignal<ReadonlySet<string>>(new Set())
  const cursor = useSignal<Crosshair | undefined>(undefined)
  const rows = shown.value
  const data = useMemo(() => dataOf(range, rows, measure.value), [range, rows, measure.value])
  const chart: Chart = {
    id: 'fleet-quantiles',
    title: `Quantiles of ${range.title}`,
    style: 'plot',
    legend: true,
    plots: [],
  }
  return (
    <>
      <Tip stacking={undefined} data={data} hidden={hidden.value} cursor={cursor}>
        {linesKind.view(
          {
            ...{
              chart,
              data,
              cursor,
              hidden: hidden.value,
              scale: undefined,
              oldText: undefined,
              Marks: undefined,
            },
            frame: data.frame,
          },
          undefined,
        )}
      </Tip>
      <Legend
        stacking={undefined}
        data={data}
        hidden={hidden.value}
        onHide={(keys) => (hidden.value = keys)}
        cursor={cursor}
      />
    </>
  )
}

function dataOf(range: FleetRange, hosts: readonly FleetRow[], measure: Measure): ChartData {
  const { start, step, buckets, title, help, units, sem, unit } = range
  const rows = hosts.map(({ key }) => cellRow(key)).filter((row) => row >= 0)
  const quantiles = fleetQuantiles(range, rows)
  const times = Array.from({ length: buckets }, (_, b) => start + (b + 0.5) * step)
  const info = { name: title, pmid: '', type: 'double', sem, units, indom: null, help }
  const end = start + step * buckets
  return {
    frame: { from: start, to: end },
    times,
    lines: QUANTILES.map(([which, label]) => ({
      ...{ key: which, label, plot: { metric: `${title} ${label}` }, info, instance: null },
      values: Array.from(quantiles[which], (value) => (Number.isNaN(value) ? null : value * measure.factor)),
    })),
    heads: new Map(),
    measure,
    isMixed: false,
    limits: unit === 'share' ? [0, 1] : undefined,
    ends: new Map([[undefined, { at: end, quietSec: () => 0, every: step }]]),
    problems: [],
    isWaiting: false,
    isReading: false,
  }
}
