/** A common scale for charts of several sources side by side, so that equal heights mean equal values. */
import { type Signal, signal } from '@preact/signals'
import type { Measure } from '../view/measure.ts'
import type { Chart } from '../view/view.ts'

type Extent = readonly [low: number, high: number]

interface Member {
  readonly unit: string
  readonly extent: Extent
}

/** The scale of one chart of the view over all sources. */
export class SharedScale {
  readonly #members = new Map<string, Member>()
  readonly #version: Signal<number> = signal(0)

  /** Changes when the charts have to be redrawn. */
  get version(): number {
    return this.#version.value
  }

  /** Registers the range of one chart, and returns the range of all charts with the same measure. */
  include(id: string, measure: Measure, [low, high]: Extent): Extent {
    const unit = `${measure.kind} ${measure.suffix}`
    const known = this.#members.get(id)
    if (known?.unit !== unit || known.extent[0] !== low || known.extent[1] !== high)
      this.#change(() => this.#members.set(id, { unit, extent: [low, high] }))
    return this.#union(unit) ?? [low, high]
  }

  /** Removes a chart that has left the page or draws nothing. */
  drop(id: string): void {
    if (this.#members.has(id)) this.#change(() => this.#members.delete(id))
  }

  #change(act: () => void): void {
    const before = this.#text()
    act()
    if (this.#text() !== before) this.#version.value = this.#version.peek() + 1
  }

  #text(): string {
    const units = new Set(Array.from(this.#members.values(), ({ unit }) => unit))
    return JSON.stringify([...units].sort().map((unit) => [unit, this.#union(unit)]))
  }

  #union(unit: string): Extent | undefined {
    const extents = [...this.#members.values()].filter((one) => one.unit === unit).map(({ extent }) => extent)
    if (extents.length === 0) return undefined
    return [Math.min(...extents.map(([low]) => low)), Math.max(...extents.map(([, high]) => high))]
  }
}

const scales = new WeakMap<Chart, SharedScale>()

/** Returns the scale of a chart of the view, common to all sources. */
export function sharedScale(origin: Chart): SharedScale {
  const known = scales.get(origin) ?? new SharedScale()
  scales.set(origin, known)
  return known
}
