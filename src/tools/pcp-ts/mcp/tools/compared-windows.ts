/** The two windows that tools compare. */
import type { z } from 'zod'
import { PcpError } from '../../../../model/errors.ts'
import type { Moments, Window } from '../moments.ts'
import type { SourceSpan } from '../sources.ts'
import { FROM, TO } from './arguments.ts'

/** Arguments of both windows. */
export const WINDOWS: Readonly<
  Record<'from' | 'to' | 'before_from' | 'before_to', z.ZodOptional<z.ZodString>>
> = {
  from: FROM,
  to: TO,
  before_from: FROM.describe('Start of the earlier window; default: as long, just before'),
  before_to: TO.describe('End of the earlier window'),
}

/** Values of the arguments. */
export type WindowTexts = Readonly<Partial<Record<keyof typeof WINDOWS, string | undefined>>>

/** Windows include both ends, so the earlier of two adjacent windows is shortened by this time, in seconds. */
const GAP = 0.001

/** Returns the windows. PM_ERR_ARG for a time that is not understood, or if nothing is before the window. */
export function comparedWindows(
  { from, to, before_from, before_to }: WindowTexts,
  span: SourceSpan,
  moments: Moments,
): { readonly before: Window; readonly now: Window } {
  const now = moments.window(from, to, span)
  const isNamed = before_from !== undefined || before_to !== undefined
  return {
    now,
    before: isNamed ? moments.window(before_from, before_to, span) : windowBefore(now, span.start),
  }
}

/** Returns the window of the same length before; shorter if the archive starts later. */
function windowBefore({ from, to }: Window, start: number): Window {
  const earliest = Math.max(start, from - (to - from))
  if (earliest < from - GAP) return { from: earliest, to: from - GAP }
  throw new PcpError(
    'PM_ERR_ARG',
    'Nothing was recorded before this window; choose a later one, or name both windows',
  )
}
