import { createPrivateKey } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readIdentity } from '../../src/net/tls-identity.ts'
import { canMakeCertificates, makeAuthority, makeCertificate } from '../lib/certificates.ts'

const DAY_MS = 86_400_000

describe.skipIf(!canMakeCertificates())('a certificate and its key', () => {
  let dir: string
  const file = (name: string): string => join(dir, name)
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'pcp-ts-identity-'))
    makeAuthority(dir, 'ca')
    for (const name of ['mine', 'yours']) makeCertificate(dir, name, 'ca', `DNS:${name}`)
    writeFileSync(file('nonsense'), 'nonsense')
    const key = createPrivateKey(readFileSync(file('mine.key')))
    const locked = { type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' } as const
    writeFileSync(file('locked.key'), key.export(locked))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  test('are read, with a warning if peers will reject the certificate', () => {
    const [cert, key] = [file('mine.crt'), file('mine.key')]
    expect(readIdentity(cert, key).warning).toBeUndefined()
    const shifted = (days: number) => readIdentity(cert, key, Date.now() + days * DAY_MS).warning
    expect(shifted(100_000)).toMatch(/mine\.crt expired on .* GMT: peers will reject it$/)
    expect(shifted(-10)).toMatch(/mine\.crt is not valid before .* GMT/)
  })

  test.each([
    ['nonsense', 'mine.key', /nonsense is not a certificate in PEM: /],
    ['mine.crt', 'nonsense', /nonsense is not a private key in PEM: /],
    [
      'mine.crt',
      'locked.key',
      /The key in .*locked\.key has a passphrase: remove it, a daemon cannot prompt for it$/,
    ],
    ['mine.crt', 'yours.key', /The key in .*yours\.key does not match the certificate in .*mine\.crt$/],
    ['nosuch', 'mine.key', /Cannot read .*nosuch: No such file/],
  ])('errors of %s with %s name the file', (cert, key, message) => {
    expect(() => readIdentity(file(cert), file(key))).toThrow(
      expect.objectContaining({ code: 'PM_ERR_TLS', message: expect.stringMatching(message) }),
    )
  })
})
