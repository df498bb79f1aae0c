/** Messages of failed connections: PCP's text, with our explanation of TLS and login failures. */
import { expect, test } from 'vitest'
import { PcpError, statusOf } from '../../../src/model/errors.ts'
import { SASL_ERRORS } from '../../../src/model/pm-errors.ts'
import { connectProblem } from '../../../src/tools/lib/open-error.ts'
import { tool } from '../../../src/tools/pminfo/index.ts'
import { testIo } from '../run-tool.ts'

const REFUSALS: readonly [PcpError, string][] = [
  [
    new PcpError('PM_ERR_TLS', 'pmcd at h:44321: TLS failed: certificate has expired'),
    'TLS protocol failure: pmcd at h:44321: TLS failed: certificate has expired',
  ],
  [
    new PcpError('SASL_NOMECH', 'The server offers GSSAPI'),
    'Authentication - no mechanism available: The server offers GSSAPI',
  ],
  [
    new PcpError('ENOTSUP', 'pmcd at h offers no encryption'),
    'Operation not supported: pmcd at h offers no encryption',
  ],
  // PCP's text is sufficient.
  [
    PcpError.fromStatus(statusOf('SASL_BADAUTH'), 'Authentication of "me"'),
    'Authentication - authentication failure',
  ],
  [new PcpError('ECONNREFUSED', 'h:44321: Connection refused'), 'Connection refused'],
  [new PcpError('EHOSTUNREACH', 'h: unknown host'), 'No route to host'],
]

test.each(REFUSALS)('%s', async (error, printed) => {
  expect(connectProblem(error)).toBe(printed)
  const io = { ...testIo('pminfo', ['-h', 'h', 'x']), connect: () => Promise.reject(error) }
  const thrown = await tool.run(io).catch((problem: unknown) => problem)
  const text = thrown instanceof Error ? thrown.message : io.printed.stderr
  expect(text).toContain(`Cannot connect to PMCD on host "h": ${printed}`)
})

test('each SASL result has a code, including unknown ones', () => {
  for (const [code, { text }] of Object.entries(SASL_ERRORS)) {
    const error = new PcpError(code as keyof typeof SASL_ERRORS)
    expect(PcpError.fromStatus(error.status)).toMatchObject({ code, text: `Authentication - ${text}` })
  }
  expect(PcpError.fromStatus(statusOf('PM_ERR_NYI') - 77).code).toBe('SASL_FAIL')
  expect(PcpError.fromStatus(statusOf('PM_ERR_NYI') - 12_000).code).toBe('PM_ERR_TLS')
})
