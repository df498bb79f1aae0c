import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { onAbort } from '../../src/base/on-abort.ts'

test('every listener is called once on abort, except removed ones', () => {
  const controller = new AbortController()
  const heard: string[] = []
  onAbort(controller.signal, () => heard.push('first'))
  const stop = onAbort(controller.signal, () => heard.push('stopped'))
  onAbort(controller.signal, () => heard.push('second'))
  stop()
  controller.abort()
  controller.abort()
  expect(heard).toEqual(['first', 'second'])
})

test('thousands may listen to one signal without a warning', async () => {
  const warnings: Error[] = []
  const warned = (warning: Error): unknown => warnings.push(warning)
  process.on('warning', warned)
  const { signal } = new AbortController()
  for (let i = 0; i < 5000; i++) onAbort(signal, () => {})
  await new Promise((resolve) => setImmediate(resolve))
  process.removeListener('warning', warned)
  expect(warnings).toEqual([])
})

test('no listener remains on a signal once all are removed', () => {
  const { signal } = new AbortController()
  const stops = [onAbort(signal, () => {}), onAbort(signal, () => {})]
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  for (const stop of [...stops, ...stops]) stop()
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  onAbort(signal, () => {})
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
})

test('without a signal the listener is never called', () => {
  expect(onAbort(undefined, () => {})).not.toThrow()
})
