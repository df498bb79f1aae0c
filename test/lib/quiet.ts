/** Test files share a process; diagnostics left on by one would affect the next. */
import { afterAll } from 'vitest'
import { clearDebug, debugList } from '../../src/model/debug.ts'

afterAll(() => {
  const left = debugList()
  clearDebug('all')
  if (left !== '') throw new Error(`A test of this file leaves diagnostics on: ${left}`)
})
