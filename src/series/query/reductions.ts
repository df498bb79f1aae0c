/** Reductions of the query language: `max_inst`, `sum_sample` and others without their ending. They choose some of several numbers, or combine all. */

/** Returns the positions of the chosen numbers, of which there is at least one. */
export type Choice = (numbers: readonly number[], parameter: number) => readonly number[]
/** Combines numbers, of which there is at least one, to a new one. */
export type Combination = (numbers: readonly number[]) => number

export const CHOICES: Readonly<Record<string, Choice>> = {
  max: (numbers) => [best(numbers, (a, b) => a > b)],
  min: (numbers) => [best(numbers, (a, b) => a < b)],
  topk: (numbers, k) => descending(numbers).slice(0, k),
  nth_percentile: (numbers, n) => {
    const sorted = descending(numbers).reverse()
    return [sorted[Math.round((n / 100) * (sorted.length - 1))]!]
  },
}

export const COMBINATIONS: Readonly<Record<string, Combination>> = {
  sum,
  avg: mean,
  stdev: (numbers) => {
    const middle = mean(numbers)
    return Math.sqrt(mean(numbers.map((each) => (each - middle) ** 2)))
  },
}

/** Returns the position of the first number that is better than all others. */
function best(numbers: readonly number[], isBetter: (a: number, b: number) => boolean): number {
  let at = 0
  for (let i = 1; i < numbers.length; i++) if (isBetter(numbers[i]!, numbers[at]!)) at = i
  return at
}

function descending(numbers: readonly number[]): number[] {
  return [...numbers.keys()].sort((a, b) => numbers[b]! - numbers[a]!)
}

function sum(numbers: readonly number[]): number {
  let all = 0
  for (const each of numbers) all += each
  return all
}

function mean(numbers: readonly number[]): number {
  return sum(numbers) / numbers.length
}
