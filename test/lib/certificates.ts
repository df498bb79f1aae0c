/** Certificates for tests, created by the openssl command on each run. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns whether openssl is available. */
export function canMakeCertificates(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Creates `NAME.crt` and `NAME.key` of a CA. */
export function makeAuthority(dir: string, name: string): void {
  const [key, crt] = [join(dir, `${name}.key`), join(dir, `${name}.crt`)]
  openssl('req', '-x509', ...NEW_KEY, '-keyout', key, '-out', crt, '-days', '2', '-subj', `/CN=${name}`)
}

/** Creates `NAME.crt` and `NAME.key`, signed by a CA in the same directory. */
export function makeCertificate(dir: string, name: string, authority: string, hosts: string, days = 2): void {
  const file = (suffix: string): string => join(dir, `${name}.${suffix}`)
  writeFileSync(file('ext'), `subjectAltName=${hosts}\n`)
  openssl('req', ...NEW_KEY, '-keyout', file('key'), '-out', file('csr'), '-subj', `/CN=${name}`)
  const signer = [
    '-CA',
    join(dir, `${authority}.crt`),
    '-CAkey',
    join(dir, `${authority}.key`),
    '-CAcreateserial',
  ]
  const validity = ['-days', String(days), '-extfile', file('ext')]
  openssl('x509', '-req', '-in', file('csr'), '-out', file('crt'), ...signer, ...validity)
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' })
}

/** Writes a tls.conf. */
export function writeTlsConf(path: string, settings: Readonly<Record<string, string>>): string {
  writeFileSync(
    path,
    Object.entries(settings)
      .map(([key, value]) => `tls-${key} = ${value}\n`)
      .join(''),
  )
  return path
}
