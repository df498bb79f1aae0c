/** Random numbers of a seed for the host model. */
import { generator } from '../../lib/generator.ts'

/** Numbers of some distributions. */
export interface Random {
  /** From 0 to 1. */
  uniform(): number
  /** Mean 0, deviation 1. */
  normal(): number
  /** About 1, with a relative deviation. */
  around(deviation: number): number
  /** A number of independent events with this mean. */
  events(mean: number): number
}

/** Returns the distributions for a seed. */
export function random(seed: number): Random {
  const next = generator(seed)
  const uniform = (): number => next(2 ** 30) / 2 ** 30
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
  const events = (mean: number): number => {
    if (mean > 30) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()))
    let [count, left] = [-1, 1]
    while (left > Math.exp(-mean) || count < 0) {
      left *= uniform()
      count++
    }
    return count
  }
  return { uniform, normal, around: (deviation) => Math.exp(deviation * normal()), events }
}
