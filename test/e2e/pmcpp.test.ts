/** The recorded pmcpp runs that start commands with #shell. */
import { expect, test } from 'vitest'
import { FIXED_DEFECTS, isShellCase, pmcppCases, run } from '../tools/pmcpp-runner.ts'

const cases = pmcppCases().filter(isShellCase)

test.each(cases.map((testCase) => [testCase.name, testCase] as const))('%s', async (name, testCase) => {
  const { rc, stdout, stderr } = await run(testCase)
  const want = { ...testCase, ...FIXED_DEFECTS[name] }
  expect({ rc, stdout, stderr }).toEqual({ rc: want.rc, stdout: want.stdout, stderr: want.stderr })
})

test('covers some', () => {
  expect(cases.length).toBeGreaterThan(10)
  console.log(`pmcpp: ${cases.length} cases with #shell`)
})
