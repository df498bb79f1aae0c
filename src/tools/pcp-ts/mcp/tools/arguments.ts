/** Arguments that several tools have. */
import { z } from 'zod'
import { MOST_METRICS } from '../series.ts'

/** Longest name, and most instances. */
const LONGEST = 500
const MOST_INSTANCES = 50

const text = (): z.ZodString => z.string().max(LONGEST)

/** The source. */
export const SOURCE: z.ZodOptional<z.ZodString> = text()
  .optional()
  .describe('Id from the tool "sources"; default: the first source, for times of the past the first archive')

/** Names of metrics. */
export const METRICS: z.ZodArray<z.ZodString> = z
  .array(text())
  .min(1)
  .max(MOST_METRICS)
  .describe('Names of metrics, as from "find_metrics"')

/** Names of instances. */
export const INSTANCES: z.ZodOptional<z.ZodArray<z.ZodString>> = z
  .array(text())
  .max(MOST_INSTANCES)
  .optional()
  .describe('Names of instances, such as sda or eth0; default: all')

const FORMS = '"2026-11-28 03:10", "03:10", "-10min" (before the end of the archive)'

/** The ends of a window. */
export const FROM: z.ZodOptional<z.ZodString> = text()
  .optional()
  .describe(`Start: ${FORMS}; default: an hour before the end`)
export const TO: z.ZodOptional<z.ZodString> = text()
  .optional()
  .describe(`End: the same forms; default: the end of the archive`)

/** An instant. */
export const AT: z.ZodOptional<z.ZodString> = text()
  .optional()
  .describe(`Time: ${FORMS}; default: the end of the archive, or now for a host`)
