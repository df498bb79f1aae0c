/** Messages for web clients name neither servers nor directories. */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { Redaction } from '../../src/pmproxy/redaction.ts'

const CONFIG = {
  archiveDirs: ['/var/log/pcp/pmlogger'],
  prometheus: { url: 'https://me:secret@prom.internal:9090/api' },
  keySettings: { servers: [{ host: 'keys', port: 6379 }] },
}

function redact(code: PcpError['code'], message: string): { shown: string; reported: readonly string[] } {
  const reported: string[] = []
  const { message: shown } = new Redaction(CONFIG, (text) => reported.push(text)).error(
    new PcpError(code, message),
  )
  return { shown, reported }
}

test.each([
  ['https://prom.internal:9090/api/: 503: try again later', 'Prometheus: 503: try again later'],
  ['https://prom.internal:9090/: closed', 'Prometheus: closed'],
  ['Host: prom.internal. is not in the altnames', 'Host: Prometheus. is not in the altnames'],
  ['getaddrinfo ENOTFOUND node7.internal', 'getaddrinfo ENOTFOUND'],
  ['Key server keys:6379: Connection refused', 'Key server: Connection refused'],
  ['Key server [fd00::7]:6380 has too many names', 'Key server has too many names'],
  ['Key server 10.0.0.7:1 (cluster) is full: used 5', 'Key server (cluster) is full: used 5'],
  ['/var/log/pcp/pmlogger/db1/2025.meta: damaged', 'pmlogger/db1/2025.meta: damaged'],
  ['/var/log/pcp/pmlogger: Permission denied', 'pmlogger: Permission denied'],
])('%s', (message, shown) => {
  expect(redact('EPROTO', message)).toEqual({ shown, reported: [message] })
})

test.each([
  'parse error at character 7 of keys_total{}',
  'more than 100 values match: select fewer',
  'hotkeys or prom.internals',
])('unchanged: %s', (message) => {
  expect(redact('EINVAL', message)).toEqual({ shown: message, reported: [] })
})

test('the operator gets an original message once a minute', () => {
  const reported: string[] = []
  let ms = 0
  const redaction = new Redaction(
    CONFIG,
    (text) => reported.push(text),
    () => ms,
  )
  const message = '/var/log/pcp/pmlogger: Permission denied'
  for (ms of [0, 59_999, 60_000]) redaction.error(new PcpError('EACCES', `${message} (${ms})`))
  expect(reported).toEqual([`${message} (0)`, `${message} (60000)`])
  expect(redaction.error(new PcpError('EACCES', message))).toMatchObject({ code: 'EACCES', status: -13 })
})
