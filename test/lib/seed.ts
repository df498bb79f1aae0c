/** Seed of random tests, and sampling of long comparisons. CONTRIBUTING.md: Random tests */

const DAY_MS = 86_400_000

/** Seed of this run: PCP_TS_SEED, else the number of the day (UTC), so that each day tests other cases. */
export const seed: number = seedFrom(process.env['PCP_TS_SEED'], Date.now())

/** Run long comparisons completely instead of sampling: PCP_TS_EXHAUSTIVE=1, set by `npm run exhaustive`. */
export const isExhaustive: boolean = process.env['PCP_TS_EXHAUSTIVE'] === '1'

console.log(
  `PCP_TS_SEED=${seed}${isExhaustive ? ' PCP_TS_EXHAUSTIVE=1' : ''} repeats the random cases of this run`,
)

/**
 * Returns whether a run includes the case of this number, one in `every`. The seed changes daily, so `every` days cover
 * all cases. An exhaustive run includes every case.
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
