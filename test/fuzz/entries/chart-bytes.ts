/** Columns of archives as the page receives them. */
import type { ChartRange } from '../../../src/archive/chart-answer.ts'
import { ChartBytesError, decodeChartRange, encodeChartRange } from '../../../src/archive/chart-bytes.ts'
import type { FuzzEntry } from '../engine/entry.ts'

/** Entry of src/archive/chart-bytes.ts. */
export const chartBytes: FuzzEntry = {
  seeds: () => [encodeChartRange({ lists: [Float64Array.of(1, Number.NaN)] } as unknown as ChartRange)],
  mayThrow: (error) => error instanceof ChartBytesError,
  run: (input) => void decodeChartRange(input.slice()),
}
