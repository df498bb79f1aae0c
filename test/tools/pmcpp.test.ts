/** pmcpp in-process against 242 recorded runs; those with #shell are in test/e2e. */
import { expect, test } from 'vitest'
import { FIXED_DEFECTS, isShellCase, pmcppCases, run } from './pmcpp-runner.ts'

const cases = pmcppCases().filter((testCase) => !isShellCase(testCase))

test.each(cases.map((testCase) => [testCase.name, testCase] as const))('%s', async (name, testCase) => {
  const { rc, stdout, stderr } = await run(testCase)
  const want = { ...testCase, ...FIXED_DEFECTS[name] }
  expect(stdout).toBe(want.stdout)
  if (want.stderr.includes('Usage:')) {
    // The help texts differ, but not the errors before them and the layout.
    expect(stderr.slice(0, stderr.indexOf('Usage:'))).toBe(
      want.stderr.slice(0, want.stderr.indexOf('Usage:')),
    )
    // Only this implementation has -V.
    const ours = optionColumn(stderr).filter((line) => !line.includes('--version'))
    expect(ours).toEqual(optionColumn(want.stderr))
  } else {
    expect(stderr).toBe(want.stderr)
  }
  expect(rc).toBe(want.rc)
})

/** Returns the first 24 columns of a usage text: options without help texts. */
function optionColumn(usage: string): string[] {
  const lines = usage.slice(usage.indexOf('Usage:')).split('\n').slice(1)
  return lines.map((line) => (line.includes(', --define=') ? line : line.slice(0, 24)))
}

test('covers every recorded case', () => {
  expect(pmcppCases().length).toBe(242)
  console.log(
    `pmcpp: ${cases.length} of 242 cases here, ${Object.keys(FIXED_DEFECTS).length} of all differ from the recording on purpose`,
  )
})

test('reads large input in blocks without splitting characters', async () => {
  const line = 'é'.repeat(1000)
  const { stdout } = await run({
    name: '',
    args: ['-P'],
    input: `${line}\n`.repeat(1000),
    rc: 0,
    stdout: '',
    stderr: '',
  })
  expect(stdout).toBe(`${line}\n`.repeat(1000))
})

test('keeps bytes that are not valid UTF-8', async () => {
  const bytes = Uint8Array.from([0x61, 0xff, 0xc3, 0x0a])
  const { stdoutBytes } = await run({
    name: '',
    args: ['-P'],
    input: '',
    bytes,
    rc: 0,
    stdout: '',
    stderr: '',
  })
  expect([...stdoutBytes]).toEqual([...bytes])
})
