/** The seed of random tests, and how much of a long comparison a run samples. CONTRIBUTING.md: Random tests */

const DAY_MS = 86_400_000

/** Seed of this run: PCP_TS_SEED, otherwise the number of the day (UTC), so that each day tests other cases. */
export const seed: number = seedFrom(process.env['PCP_TS_SEED'], Date.now())

/** Whether long comparisons cover everything instead of a sample: PCP_TS_EXHAUSTIVE=1, as `npm run exhaustive` sets it. */
export const isExhaustive: boolean = process.env['PCP_TS_EXHAUSTIVE'] === '1'

console.log(
  `PCP_TS_SEED=${seed}${isExhaustive ? ' PCP_TS_EXHAUSTIVE=1' : ''} repeats the random cases of this run`,
)

/**
 * Whether a run includes the case of this number, of which it samples one in `every`: as the seed changes by day, `every` days include all of
 * them. An exhaustive run includes each.
 */
export function isSampled(index: number, every: number): boolean {
  return isExhaustive || (index + seed) % every === 0
}

/** Reads a seed; throws on anything but a whole number from 0 to 2^32 - 1. */
export function seedFrom(text: string | undefined, now: number): number {
  if (text === undefined || text === '') return Math.floor(now / DAY_MS)
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > 0xffff_ffff)
    throw new Error(`PCP_TS_SEED is ${JSON.stringify(text)}, not a whole number from 0 to ${0xffff_ffff}`)
  return value
}
