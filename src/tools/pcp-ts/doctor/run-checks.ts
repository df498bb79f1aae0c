/** Runs checks in parallel, each within a time limit. */
import { withTimeout } from '../../../base/within.ts'
import { type Check, type Finding, fail, type Machine, warn } from './check.ts'

const CHECK_MS = 5000

/** A finding with the check it belongs to. */
export interface Result extends Finding {
  readonly id: string
  readonly title: string
}

/** Runs the checks of this platform. A check that throws or does not end is a finding too. */
export async function runChecks(
  checks: readonly Check[],
  machine: Machine,
  limitMs: number = CHECK_MS,
): Promise<readonly Result[]> {
  const meant = checks.filter(({ platforms }) => platforms?.includes(machine.platform) !== false)
  return Promise.all(
    meant.map(async ({ id, title, run }) => {
      const finding = await withTimeout(
        limitMs,
        attempt(() => run(machine)),
      )
      return {
        id,
        title,
        ...(finding ?? warn(`no result within ${limitMs / 1000} s`, 'run it again on an idle machine')),
      }
    }),
  )
}

async function attempt(run: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await run()
  } catch (error) {
    return fail(
      `cannot be checked: ${error instanceof Error ? error.message : String(error)}`,
      'report this as a defect',
    )
  }
}
