/** Passwords and the keys made of them for SCRAM-SHA-256. RFC 5802 §3, RFC 7677, docs/explanation/security.md */
import { PcpError } from '../../model/errors.ts'

/** Salted keys that a server stores instead of a password. They can check it but cannot be used to log in. */
export interface Verifier {
  readonly iterations: number
  readonly salt: Uint8Array
  readonly storedKey: Uint8Array
  readonly serverKey: Uint8Array
}

/** Bytes of a SHA-256 digest. */
export const KEY_BYTES = 32

/** Iterations of new verifiers: about 8 ms per login, at the client. */
const ITERATIONS = 16_384
const SALT_BYTES = 16
/** Mapped to nothing, RFC 3454 table B.1. */
const INVISIBLE = /\u034f|[\u180b-\u180d]|[\ufe00-\ufe0f]|\u200d|[\u00ad\u1806\u200b\u200c\u2060\ufeff]/g
/** Mapped to a blank, RFC 3454 table C.1.2. */
const BLANKS = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g

/** Loads node:crypto on first use; tools that do not authenticate should not pay for it. */
export function loadCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}

/** Returns a password in the form that is hashed, independent of how its characters were typed. EINVAL for control characters. RFC 4013 */
export function saslPrep(text: string): string {
  const prepared = text.replace(BLANKS, ' ').replace(INVISIBLE, '').normalize('NFKC')
  if (/\p{Cc}/u.test(prepared))
    throw new PcpError('EINVAL', 'Names and passwords cannot have control characters')
  return prepared
}

/** Derives the salted password with PBKDF2, off the main thread. */
export function saltPassword(password: string, salt: Uint8Array, iterations: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    loadCrypto().pbkdf2(saslPrep(password), salt, iterations, KEY_BYTES, 'sha256', (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}

/** Creates a verifier for a new password, with a random salt. */
export async function makeVerifier(password: string): Promise<Verifier> {
  const salt = loadCrypto().randomBytes(SALT_BYTES)
  return verifierOf(await saltPassword(password, salt, ITERATIONS), salt, ITERATIONS)
}

/** Derives the verifier of a salted password. */
export function verifierOf(salted: Uint8Array, salt: Uint8Array, iterations: number): Verifier {
  return {
    iterations,
    salt,
    storedKey: sha256(hmac(salted, 'Client Key')),
    serverKey: hmac(salted, 'Server Key'),
  }
}

/**
 * Returns a verifier for an unknown user, the same each time, so that guessing names reveals nothing. No password
 * matches it. `secret` is private to this process.
 */
export function fakeVerifier(user: string, secret: Uint8Array): Verifier {
  const salt = hmac(secret, user).subarray(0, SALT_BYTES)
  return {
    iterations: ITERATIONS,
    salt,
    storedKey: hmac(secret, 'stored'),
    serverKey: hmac(secret, 'server'),
  }
}

/** Returns whether a password matches, in constant time. */
export async function checkPassword(password: string, verifier: Verifier): Promise<boolean> {
  const salted = await saltPassword(password, verifier.salt, verifier.iterations)
  return isEqual(verifierOf(salted, verifier.salt, verifier.iterations).storedKey, verifier.storedKey)
}

/** HMAC-SHA-256. */
export function hmac(key: Uint8Array, data: string | Uint8Array): Uint8Array {
  return loadCrypto().createHmac('sha256', key).update(data).digest()
}

/** SHA-256. */
export function sha256(data: Uint8Array): Uint8Array {
  return loadCrypto().createHash('sha256').update(data).digest()
}

/** Compares secrets in constant time. */
export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && loadCrypto().timingSafeEqual(a, b)
}

/** Returns the bitwise XOR of two keys. */
export function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, i) => byte ^ b[i]!)
}
