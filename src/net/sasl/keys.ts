/** Passwords and the keys made of them for SCRAM-SHA-256. RFC 5802 §3, RFC 7677, docs/security.md */
import { PcpError } from '../../model/errors.ts'

/** What a server keeps of a password: it can check one with it, but not log in anywhere. */
export interface Verifier {
  readonly iterations: number
  readonly salt: Uint8Array
  readonly storedKey: Uint8Array
  readonly serverKey: Uint8Array
}

/** Bytes of a SHA-256 digest. */
export const KEY_BYTES = 32

/** Iterations of new verifiers: about 8 ms for each login, at the client. */
const ITERATIONS = 16_384
const SALT_BYTES = 16
/** Mapped to nothing, RFC 3454 table B.1. */
const INVISIBLE = /\u034f|[\u180b-\u180d]|[\ufe00-\ufe0f]|\u200d|[\u00ad\u1806\u200b\u200c\u2060\ufeff]/g
/** Mapped to a blank, RFC 3454 table C.1.2. */
const BLANKS = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g

/** node:crypto, loaded on first use: no tool may pay for it that does not authenticate. */
export function crypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}

/** A password as it is hashed: equal however its characters were typed. EINVAL for control characters. RFC 4013 */
export function saslPrep(text: string): string {
  const prepared = text.replace(BLANKS, ' ').replace(INVISIBLE, '').normalize('NFKC')
  if (/\p{Cc}/u.test(prepared))
    throw new PcpError('EINVAL', 'Names and passwords cannot have control characters')
  return prepared
}

/** The key that everything else is made of: PBKDF2, off the main thread. */
export function saltPassword(password: string, salt: Uint8Array, iterations: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    crypto().pbkdf2(saslPrep(password), salt, iterations, KEY_BYTES, 'sha256', (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}

/** A verifier for a new password, with a salt of its own. */
export async function makeVerifier(password: string): Promise<Verifier> {
  const salt = crypto().randomBytes(SALT_BYTES)
  return verifierOf(await saltPassword(password, salt, ITERATIONS), salt, ITERATIONS)
}

/** The verifier for a salted password. */
export function verifierOf(salted: Uint8Array, salt: Uint8Array, iterations: number): Verifier {
  return {
    iterations,
    salt,
    storedKey: sha256(hmac(salted, 'Client Key')),
    serverKey: hmac(salted, 'Server Key'),
  }
}

/**
 * A verifier for a user who does not exist, the same each time: whoever guesses names learns nothing. No password fits.
 * `secret` is known to this process only.
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

/** Is this the password of the verifier? Takes as long whether it is or not. */
export async function checkPassword(password: string, verifier: Verifier): Promise<boolean> {
  const salted = await saltPassword(password, verifier.salt, verifier.iterations)
  return isEqual(verifierOf(salted, verifier.salt, verifier.iterations).storedKey, verifier.storedKey)
}

/** HMAC-SHA-256. */
export function hmac(key: Uint8Array, data: string | Uint8Array): Uint8Array {
  return crypto().createHmac('sha256', key).update(data).digest()
}

/** SHA-256. */
export function sha256(data: Uint8Array): Uint8Array {
  return crypto().createHash('sha256').update(data).digest()
}

/** Compares secrets without telling by the time it takes where they differ. */
export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && crypto().timingSafeEqual(a, b)
}

/** `a` with the bits of `b` flipped; both have the length of a key. */
export function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, i) => byte ^ b[i]!)
}
