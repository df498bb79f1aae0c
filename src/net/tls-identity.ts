/** Reads a certificate and its key from files, with errors that name the file. docs/explanation/security.md */
import type { X509Certificate } from 'node:crypto'
import { PcpError } from '../model/errors.ts'
import { readPem } from './tls-config.ts'

/** Certificate and key of one end of a connection. */
export interface TlsIdentity {
  /** PEM; intermediate certificates may follow. */
  readonly cert: string
  readonly key: string
  /** Why peers will reject the certificate although it is usable; undefined when there is no reason. */
  readonly warning: string | undefined
}

/** Reads both files. Throws PM_ERR_TLS naming the unusable file. */
export function readIdentity(certFile: string, keyFile: string, nowMs: number = Date.now()): TlsIdentity {
  const { X509Certificate, createPrivateKey } = process.getBuiltinModule('node:crypto')
  const [cert, key] = [readPem(certFile), readPem(keyFile)]
  // Both formats are marked in the PEM text; OpenSSL's message depends on the format.
  if (/^(-----BEGIN |Proc-Type: 4,)ENCRYPTED/m.test(key))
    throw new PcpError(
      'PM_ERR_TLS',
      `The key in ${keyFile} has a passphrase: remove it, a daemon cannot prompt for it`,
    )
  const certificate = usable(certFile, 'a certificate in PEM', () => new X509Certificate(cert))
  const secret = usable(keyFile, 'a private key in PEM', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(secret))
    throw new PcpError('PM_ERR_TLS', `The key in ${keyFile} does not match the certificate in ${certFile}`)
  return { cert, key, warning: warningOf(certificate, certFile, nowMs) }
}

function usable<T>(path: string, what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new PcpError('PM_ERR_TLS', `${path} is not ${what}: ${(error as Error).message}`, { cause: error })
  }
}

function warningOf({ validFrom, validTo }: X509Certificate, path: string, nowMs: number): string | undefined {
  if (Date.parse(validTo) < nowMs)
    return `The certificate in ${path} expired on ${validTo}: peers will reject it`
  if (Date.parse(validFrom) > nowMs)
    return `The certificate in ${path} is not valid before ${validFrom}: peers will reject it`
  return undefined
}
