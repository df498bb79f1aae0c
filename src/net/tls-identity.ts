/** A certificate and its key, from files: what is wrong with them is said in words that name the file. docs/security.md */
import type { X509Certificate } from 'node:crypto'
import { PcpError } from '../model/errors.ts'
import { readPem } from './tls-config.ts'

/** Who one end of a connection is. */
export interface TlsIdentity {
  /** In PEM; other certificates may follow that lead to an authority. */
  readonly cert: string
  readonly key: string
  /** Why others will not accept it although it can be used; undefined when there is no reason. */
  readonly warning: string | undefined
}

/** Reads both. PM_ERR_TLS names the file that cannot be used. */
export function readIdentity(certFile: string, keyFile: string, nowMs: number = Date.now()): TlsIdentity {
  const { X509Certificate, createPrivateKey } = process.getBuiltinModule('node:crypto')
  const [cert, key] = [readPem(certFile), readPem(keyFile)]
  // Both forms of such keys say so; what OpenSSL says depends on the form.
  if (/^(-----BEGIN |Proc-Type: 4,)ENCRYPTED/m.test(key))
    throw new PcpError('PM_ERR_TLS', `The key in ${keyFile} has a passphrase: there is nobody to ask for it`)
  const certificate = usable(certFile, 'a certificate in PEM', () => new X509Certificate(cert))
  const secret = usable(keyFile, 'a private key in PEM', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(secret))
    throw new PcpError('PM_ERR_TLS', `The key in ${keyFile} is not that of the certificate in ${certFile}`)
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
    return `The certificate in ${path} expired on ${validTo}: others will refuse it`
  if (Date.parse(validFrom) > nowMs)
    return `The certificate in ${path} is not valid before ${validFrom}: others will refuse it`
  return undefined
}
