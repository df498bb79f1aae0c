/** Columns of archives as the page receives them. */
import { ChartBytesError, decodeChartRange } from '../../../src/archive/chart-bytes.ts'
import type { FuzzEntry } from '../engine/entry.ts'

/** Entry of src/archive/chart-bytes.ts. */
export const chartBytes: FuzzEntry = {
  seeds: () => [new TextEncoder().encode('{"lists":[]}')],
  mayThrow: (error) => error instanceof ChartBytesError,
  run: (input) => void decodeChartRange(input.slice()),
}
