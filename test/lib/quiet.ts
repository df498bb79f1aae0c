/** Test files share a process: one that leaves diagnostics on changes what the next ones see. */
import { afterAll } from 'vitest'
import { clearDebug, debugList } from '../../src/model/debug.ts'

afterAll(() => {
  const left = debugList()
  clearDebug('all')
  if (left !== '') throw new Error(`A test of this file leaves diagnostics on: ${left}`)
})
