/** Vectors: format/labels_merge.json. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { parseLabels } from '../../src/model/label-json.ts'
import { labelSetOf, makeLabelSet, mergeLabelSets, mergeLabels } from '../../src/model/label-set.ts'
import {
  LABEL_COMPOUND,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INSTANCES,
  LABEL_ITEM,
  LABEL_OPTIONAL,
} from '../../src/model/labels.ts'
import { readVectors } from '../vectors.ts'

interface MergeCase {
  sets: (string | null)[]
  ok: boolean
  json?: string
  error?: string
  /** The correct result where the reference has a defect. */
  recommended?: string
}

test('merges texts as pmMergeLabels does', () => {
  const { cases } = readVectors<MergeCase>('format/labels_merge.json')
  for (const { sets, ok, json, error, recommended } of cases) {
    const run = (): string => mergeLabels(sets.map((set) => set ?? ''))
    const name = JSON.stringify(sets).slice(0, 200)
    if (ok) expect(run(), name).toBe(recommended ?? json)
    else expect(run, name).toThrow(expect.objectContaining({ code: error!.slice(1) }))
  }
  const mended = cases.filter((vector) => vector.recommended !== undefined).length
  console.info(`format/labels_merge.json: ${cases.length} cases, ${mended} of them mended defects`)
})

test('makes a flat sorted set with flags', () => {
  const set = makeLabelSet({ role: 'testing', nested: { b: [1, 'x'], a: null } }, LABEL_DOMAIN)
  expect(set).toEqual({
    inst: -1,
    status: 0,
    json: '{"nested.a":null,"nested.b":[1,"x"],"role":"testing"}',
    labels: [
      { name: 'nested.a', value: 'null', flags: LABEL_DOMAIN | LABEL_COMPOUND },
      { name: 'nested.b', value: '[1,"x"]', flags: LABEL_DOMAIN | LABEL_COMPOUND },
      { name: 'role', value: '"testing"', flags: LABEL_DOMAIN },
    ],
  })
  const optional = makeLabelSet('{ "userid" : 0 }', LABEL_INSTANCES, { inst: 7, isOptional: true })
  expect(optional.inst).toBe(7)
  expect(optional.labels[0]!.flags).toBe(LABEL_INSTANCES | LABEL_OPTIONAL)
  expect(makeLabelSet('{}', LABEL_ITEM)).toEqual({ inst: -1, status: 0, json: '', labels: [] })
})

test('rejects anything but a set of labels', () => {
  const refused = [
    '{"a":1',
    '[1]',
    '"x"',
    '{"a":1,"a":2}',
    '{"a":01}',
    '{"a":"\n"}',
    `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
  ]
  for (const text of refused) {
    expect(() => makeLabelSet(text, LABEL_ITEM), text).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  }
  expect(() => makeLabelSet({ 'a-b': 1 }, LABEL_ITEM)).toThrow('"a-b"')
  const invalid: string[] = []
  const options = { onInvalid: (name: string) => invalid.push(name) }
  expect(makeLabelSet({ 'a-b': 1, c: { 'd e': 2, f: 3 } }, LABEL_ITEM, options).json).toBe('{"c.f":3}')
  expect(invalid).toEqual(['a-b', 'c.d e'])
})

test('refuses sets that do not fit the wire', () => {
  const many = Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`l${i}`, i]))
  expect(() => makeLabelSet(many, LABEL_ITEM)).toThrow(expect.objectContaining({ code: 'E2BIG' }))
  expect(() => makeLabelSet({ a: 'x'.repeat(65535) }, LABEL_ITEM)).toThrow(
    expect.objectContaining({ code: 'E2BIG' }),
  )
})

test('merges sets by precedence, keeping the flags of the winner', () => {
  const context = makeLabelSet({ hostname: 'a', zone: 1 }, LABEL_CONTEXT)
  const item = makeLabelSet({ zone: 2 }, LABEL_ITEM, { inst: 3 })
  const failed = { ...labelSetOf([]), status: -12358 }
  const merged = mergeLabelSets([context, failed, item])
  expect(merged.json).toBe('{"hostname":"a","zone":2}')
  expect(merged.labels.map((label) => label.flags)).toEqual([LABEL_CONTEXT, LABEL_ITEM])
  expect(merged.inst).toBe(3)
  expect(mergeLabelSets([context, item], (label) => label.name !== 'zone').json).toBe('{"hostname":"a"}')
  expect(mergeLabelSets([]).json).toBe('')
})

test('reads back any JSON it is given and throws nothing but PcpError', () => {
  const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,8}$/)
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue({ maxDepth: 3 })), (labels) => {
      const { labels: parsed } = parseLabels(JSON.stringify(labels), LABEL_ITEM)
      for (const { value } of parsed) expect(JSON.stringify(JSON.parse(value)).length).toBeGreaterThan(0)
    }),
  )
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      try {
        mergeLabels([text])
      } catch (error) {
        expect(error).toBeInstanceOf(PcpError)
      }
    }),
  )
})

test('names nested too deeply are reported once, not for each label below them', () => {
  const many = Array.from({ length: 1000 }, (_, i) => `"k${i}":1`).join(',')
  const long = 'x'.repeat(300)
  expect(parseLabels(`{"${long}":{${many}},"a":1}`, LABEL_ITEM)).toMatchObject({
    labels: [{ name: 'a' }],
    invalid: [long],
  })
})
