/** Figures of several runs, by what they measure, program and number of hosts. */
import type { Panel } from './plot.ts'

/** Figures that grow with each run; a later one replaces an earlier one of the same number of hosts. */
export class Figures {
  readonly #panels: Map<string, Map<string, Map<number, number>>>

  constructor(panels: readonly Panel[]) {
    this.#panels = new Map()
    for (const { title, growths } of panels)
      for (const { name, points } of growths)
        for (const { hosts, value } of points) this.add(title, name, hosts, value)
  }

  /** Panels in the order in which they were added; points by number of hosts. */
  get panels(): readonly Panel[] {
    return [...this.#panels].map(([title, growths]) => ({
      title,
      growths: [...growths].map(([name, points]) => ({
        name,
        points: [...points].map(([hosts, value]) => ({ hosts, value })).sort((a, b) => a.hosts - b.hosts),
      })),
    }))
  }

  /** Adds a figure; NaN, which was not measured, is left out. */
  add(title: string, name: string, hosts: number, value: number): void {
    if (!Number.isFinite(value)) return
    const growths = this.#panels.get(title) ?? new Map<string, Map<number, number>>()
    this.#panels.set(title, growths)
    const points = growths.get(name) ?? new Map<number, number>()
    growths.set(name, points)
    points.set(hosts, value)
  }
}
