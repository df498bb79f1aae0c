import { expect, test } from 'vitest'
import type { PcpError } from '../../src/model/errors.ts'
import { parseMetricSpec } from '../../src/pmapi/metric-spec.ts'
import { readVectors } from '../vectors.ts'

interface SpecCase {
  readonly spec: string
  readonly defaultIsArchive: number
  readonly defaultSource: string
  readonly ok: boolean
  readonly isarch?: number
  readonly source?: string
  readonly metric?: string
  readonly inst?: readonly string[]
  readonly message?: string
}

const KINDS = ['host', 'archive', 'local'] as const
const { cases } = readVectors<SpecCase>('format/metric_spec.json')

/** The reference makes one empty name of a lone comma; everywhere else it drops empty names. */
const MENDED: Readonly<Record<string, readonly string[]>> = { 'sample.bin[,]': [] }

function outcome(text: string): unknown {
  try {
    return parseMetricSpec(text)
  } catch (error) {
    return (error as PcpError).message
  }
}

test.each(cases)('parses $spec with default $defaultSource like the reference', (spec) => {
  const given = spec.source === spec.defaultSource ? undefined : spec.source
  const kind = given === undefined ? 'host' : KINDS[spec.isarch ?? 0]
  expect(outcome(spec.spec)).toEqual(
    spec.ok
      ? { kind, source: given, metric: spec.metric, instances: MENDED[spec.spec] ?? spec.inst }
      : spec.message,
  )
})

test('covers every recorded specification', () => {
  console.log(`metric specifications: ${cases.length} cases`)
  expect(cases.length).toBe(74)
})
