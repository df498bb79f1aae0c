/** The heat map of a fleet as pixels. */
import type { FleetRange } from '../../archive/fleet/answer.ts'
import type { FleetMatrix } from '../../archive/fleet/statistics.ts'
import { shareOf } from '../chart/heat-map.ts'

/** Which host and bucket a pixel shows. */
export interface HeatCell {
  /** Index in the list of hosts. */
  readonly host: number
  readonly bucket: number
}

/** A host at a time. Its cell changes with the order of the hosts and with the window. */
export interface FleetReading {
  /** Key of the host. */
  readonly key: string
  /** Seconds since the epoch. */
  readonly at: number
}

/** A window in equal parts. */
type Buckets = Pick<FleetRange, 'start' | 'step' | 'buckets'>
type Hosts = readonly { readonly key: string }[]

/** Returns what a cell shows: its host, in the middle of its part of the window. */
export function readingOf({ start, step }: Buckets, hosts: Hosts, { host, bucket }: HeatCell): FleetReading {
  return { key: hosts[host]!.key, at: start + (bucket + 0.5) * step }
}

/** Returns the cell of a reading; undefined if its host or its time is not shown any longer. */
export function cellOf(
  { start, step, buckets }: Buckets,
  hosts: Hosts,
  { key, at }: FleetReading,
): HeatCell | undefined {
  const host = hosts.findIndex((one) => one.key === key)
  const bucket = Math.floor((at - start) / step)
  return host >= 0 && bucket >= 0 && bucket < buckets ? { host, bucket } : undefined
}

/** Returns the number of lines for hosts in a height: if there are more hosts, each line shows the highest of several. */
export function heatLines(hosts: number, height: number): number {
  return Math.max(1, Math.min(hosts, Math.floor(height)))
}

/** Returns the hosts of a line, from the first to before the last. */
export function hostsOfLine(line: number, lines: number, hosts: number): readonly [number, number] {
  return [Math.floor((line * hosts) / lines), Math.floor(((line + 1) * hosts) / lines)]
}

/** Returns the host of a line with the highest value in a bucket; undefined if none has a value. */
export function highestOfLine(
  { cells, buckets }: FleetMatrix,
  rows: readonly number[],
  line: number,
  lines: number,
  bucket: number,
): HeatCell | undefined {
  const [from, to] = hostsOfLine(line, lines, rows.length)
  let best: HeatCell | undefined
  let most = Number.NEGATIVE_INFINITY
  for (let host = from; host < to; host++) {
    const value = cells[rows[host]! * buckets + bucket]!
    if (value > most) {
      most = value
      best = { host, bucket }
    }
  }
  return best
}

/** Returns RGBA pixels, one per bucket and line; without a value they are transparent. `colors` go from low to high. */
export function heatPixels(
  matrix: FleetMatrix,
  rows: readonly number[],
  lines: number,
  limits: readonly [number, number],
  colors: readonly (readonly [number, number, number])[],
): Uint8ClampedArray<ArrayBuffer> {
  const { cells, buckets } = matrix
  const pixels = new Uint8ClampedArray(4 * buckets * lines)
  for (let line = 0; line < lines; line++) {
    const [from, to] = hostsOfLine(line, lines, rows.length)
    for (let bucket = 0; bucket < buckets; bucket++) {
      let most = Number.NEGATIVE_INFINITY
      for (let host = from; host < to; host++) {
        const value = cells[rows[host]! * buckets + bucket]!
        if (value > most) most = value
      }
      if (most === Number.NEGATIVE_INFINITY) continue
      const color = colors[Math.round(shareOf(most, limits) * (colors.length - 1))]!
      const at = 4 * (line * buckets + bucket)
      pixels[at] = color[0]
      pixels[at + 1] = color[1]
      pixels[at + 2] = color[2]
      pixels[at + 3] = 255
    }
  }
  return pixels
}
