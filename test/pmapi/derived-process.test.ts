/** Derived metrics of the whole process; each test removes those it defined. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clearDebug, setDebug, traceTo } from '../../src/model/debug.ts'
import { Context } from '../../src/pmapi/context.ts'
import {
  addDerivedText,
  getDerivedControl,
  loadDerivedConfig,
  registerDerived,
  setDerivedControl,
  unregisterDerived,
} from '../../src/pmapi/derived.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { demoAgent } from '../lib/demo-agent.ts'

const open = (): Context => Context.over(openAgent(demoAgent))

test('contexts opened later have registered metrics with their texts, until these are removed', async () => {
  registerDerived('process.two', 'demo.one + demo.one')
  addDerivedText('process.two', 'oneline', 'Twice one')
  const context = open()
  const id = await context.lookupName('process.two')
  expect((await context.values(['process.two'])).value('process.two')).toBe(2)
  expect(await context.text(id, { level: 'oneline' })).toBe('Twice one')
  unregisterDerived('process.two')
  await expect(open().lookupName('process.two')).rejects.toMatchObject({ code: 'PM_ERR_NAME' })
})

test('an error points at its position', () => {
  expect(() => registerDerived('process.wrong', 'demo.one +')).toThrow(
    expect.objectContaining({ code: 'PM_ERR_BADDERIVE', message: expect.stringContaining('demo.one +\n') }),
  )
  expect(() => unregisterDerived('process.wrong')).toThrow(expect.objectContaining({ code: 'PM_ERR_NAME' }))
})

test('files define many at once', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'derived-process-'))
  try {
    writeFileSync(join(dir, 'defs'), 'process.a = demo.one\nprocess.b = 3 * demo.one\n')
    expect(loadDerivedConfig(join(dir, 'defs'))).toBe(2)
    expect((await open().values(['process.b'])).value('process.b')).toBe(3)
  } finally {
    unregisterDerived('process.a')
    unregisterDerived('process.b')
    rmSync(dir, { recursive: true })
  }
})

test('controls are read and set', () => {
  const before = getDerivedControl('global_limit')
  setDerivedControl('global_limit', 7)
  expect(getDerivedControl('global_limit')).toBe(7)
  setDerivedControl('global_limit', before)
  expect(() => getDerivedControl('no.such')).toThrow()
})

test('a context can have derived metrics of its own', async () => {
  const context = open()
  await context.addDerived('own.two', 'demo.one * 2')
  expect((await context.values(['own.two'])).value('own.two')).toBe(2)
  await expect(open().lookupName('own.two')).rejects.toMatchObject({ code: 'PM_ERR_NAME' })
  await expect(context.addDerived('own.bad', 'no.such')).rejects.toMatchObject({ code: 'PM_ERR_BADDERIVE' })
})

test('-D derive and the debug controls trace definitions, bindings and values', async () => {
  const lines: string[] = []
  traceTo((line) => lines.push(line))
  try {
    setDebug('derive')
    const context = open()
    await context.addDerived('own.two', 'demo.one * 2')
    await context.values(['own.two'])
    await expect(context.addDerived('own.bad', 'demo.one *')).rejects.toThrow()
    clearDebug('derive')
    setDerivedControl('debug_eval', 1)
    expect(getDerivedControl('debug_eval')).toBe(1)
    await open().addDerived('own.four', 'demo.one * 4')
    await context.values(['own.two'])
  } finally {
    clearDebug('derive')
    setDerivedControl('debug_eval', 0)
    traceTo()
  }
  expect(lines).toEqual([
    'derive: context own.two = demo.one * 2: is 511.2047.1023',
    'derive: own.two bound: U32 instant of PM_INDOM_NULL in no units',
    'derive: own.two: 2',
    'derive: context own.bad = demo.one *: rejected at column 10: Arithmetic expression expected to follow STAR',
    'derive: own.two: 2',
  ])
})
