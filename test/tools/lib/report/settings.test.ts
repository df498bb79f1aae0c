import { expect, test } from 'vitest'
import { applySetting, checkValues, defaultSettings } from '../../../../src/tools/lib/report/settings.ts'

test('numbers are checked in a fixed order', () => {
  const settings = defaultSettings()
  applySetting(settings, 'output', 'nosuch')
  applySetting(settings, 'width', '-1')
  applySetting(settings, 'limit_filter', '1e3')
  expect(() => checkValues(settings)).toThrow('Error while reading option limit_filter: Integer expected.')
  applySetting(settings, 'limit_filter', '3')
  expect(() => checkValues(settings)).toThrow(
    'Error while reading option width: Non-negative integer expected.',
  )
  applySetting(settings, 'width', '8')
  expect(() => checkValues(settings)).toThrow('Invalid output target specified.')
})

test('a later valid value replaces an invalid one', () => {
  const settings = defaultSettings()
  for (const [key, value] of [
    ['precision', 'x'],
    ['precision', '2'],
    ['repeat_header', 'x'],
    ['repeat_header', 'auto'],
    ['output', 'nosuch'],
    ['output', 'csv'],
  ] as const)
    applySetting(settings, key, value)
  checkValues(settings)
  expect(settings).toMatchObject({ precision: 2, repeat_header: 'auto', output: 'csv' })
})
