import { expect, test } from 'vitest'
import { labelText, mergedTexts } from '../../../../src/tools/lib/report/label-texts.ts'

test('labels are merged level by level, as text', () => {
  const json = mergedTexts(['{"hostname":"h","userid":0}', '', '{"agent":"sample","hostname":"other"}'])
  expect(json).toBe('{"hostname":"other","userid":"0","agent":"sample"}')
  expect(labelText(new Map([[-1, json]]), 5)).toBe("{'hostname':'other','userid':'0','agent':'sample'}")
})

test('instances without labels have those of the metric', () => {
  const labels = new Map([
    [-1, '{"a":"1"}'],
    [7, '{"a":"2"}'],
  ])
  expect(labelText(labels, 7)).toBe("{'a':'2'}")
  expect(labelText(labels, 8)).toBe("{'a':'1'}")
  expect(labelText(undefined, 8)).toBe('{}')
})
