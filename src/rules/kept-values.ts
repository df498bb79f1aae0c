/** Bounds the memory of a statement before its nodes are built. docs/reference/pmproxy.md */
import type { FetchExpr } from './syntax.ts'
import type { Task } from './task.ts'

/** A cell of a metric also has its host and instance, id and previous counter, which take about as much as this many values. */
const VALUES_OF_CELL = 8

/** Size of an expression. */
interface Size {
  /** Values of one sample: of each host and instance. */
  readonly cells: number
  readonly samples: number
  /** All values that it and its operands keep. */
  readonly kept: number
}

/** Returns an upper bound of the values that a statement keeps, once its metrics are known. */
export function keptValues(expr: unknown, task: Task): number {
  return sizeOf(expr, task).kept
}

function sizeOf(expr: unknown, task: Task): Size {
  if (typeof expr !== 'object' || expr === null) return { cells: 0, samples: 1, kept: 0 }
  if ('kind' in expr && expr.kind === 'fetch') return fetchSize(expr as FetchExpr, task)
  let cells = 0
  let samples = 1
  let kept = 0
  for (const part of Object.values(expr)) {
    const size = sizeOf(part, task)
    cells = Math.max(cells, size.cells)
    samples = Math.max(samples, size.samples)
    kept += size.kept
  }
  if (!('kind' in expr)) return { cells, samples, kept }
  // An operator over samples keeps an index of its argument's values, and has one sample.
  const isOverSamples = 'dimension' in expr && expr.dimension === 'sample'
  return { cells, samples: isOverSamples ? 1 : samples, kept: kept + Math.max(1, cells * samples) }
}

function fetchSize({ metric, hosts, instances, from, to }: FetchExpr, task: Task): Size {
  let size = Math.max(1, instances.length)
  if (instances.length === 0)
    for (const { feeds } of task.hosts)
      for (const feed of feeds) if (feed.metric === metric) size = Math.max(size, feed.known?.size ?? 1)
  // A host that is written twice has its cells twice.
  const cells = size * Math.max(1, hosts.length)
  return { cells, samples: to - from + 1, kept: cells * (to + 1 + VALUES_OF_CELL) }
}
