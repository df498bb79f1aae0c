/** The server's end of an authentication. docs/formats/wire.md §4.3, docs/security.md */
import { decodeText, encodeText } from '../../base/text.ts'
import { checkPassword, crypto, KEY_BYTES, saslPrep, type Verifier } from './keys.ts'
import {
  MAX_PAYLOAD,
  MECHANISMS,
  type Mechanism,
  SASL_BADAUTH,
  SASL_BADPROT,
  SASL_NOAUTHZ,
  SASL_NOMECH,
  saslError,
} from './mechanism.ts'
import { challengeScram, type ScramExchange, type Verifiers, verifierFor, verifyScram } from './scram.ts'

/** What follows from a client's message: one more message to it, or the user it has proved to be. */
export type SaslStep = { readonly challenge: Uint8Array } | { readonly user: string }

/** Finds the verifier of a user. */
export type FindVerifier = (user: string) => Verifier | undefined

const EMPTY = new Uint8Array(0)
/** Passwords checked at once: each keeps a thread busy that others need. */
const MAX_CHECKS = 2

/** Checks passwords of many clients. */
export class Authenticator {
  readonly #find: FindVerifier
  #secret: Uint8Array | undefined
  #checks = 0
  readonly #waiting: (() => void)[] = []

  constructor(find: FindVerifier) {
    this.#find = find
  }

  get #verifiers(): Verifiers {
    this.#secret ??= crypto().randomBytes(KEY_BYTES)
    return { find: this.#find, secret: this.#secret }
  }

  /** An exchange with one client. On a connection that others can read, passwords are not accepted as they are. */
  begin(isPrivate: boolean): SaslServer {
    const offered = MECHANISMS.filter((name) => name !== 'PLAIN' || isPrivate)
    return new SaslServer(offered, this.#verifiers, (...of) => this.#check(...of))
  }

  async #check(user: string, password: string, isOver: () => boolean): Promise<boolean> {
    while (this.#checks >= MAX_CHECKS) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#checks++
    try {
      // Otherwise whoever connects, asks and leaves, again and again, would keep everybody else out.
      if (isOver()) throw saslError(SASL_BADAUTH, 'The client did not wait for the verdict')
      return await checkPassword(password, verifierFor(user, this.#verifiers))
    } finally {
      this.#checks--
      this.#waiting.shift()?.()
    }
  }
}

/** Is this the user's password? Rejects when it is the user's turn and nobody wants to know any more. */
type CheckPassword = (user: string, password: string, isOver: () => boolean) => Promise<boolean>

/**
 * One exchange. The first message names a mechanism, the others are the mechanism's:
 *
 *     start ──► scram ──► proof ──► user
 *       └─────► plain ────────────► user
 */
export class SaslServer {
  /** Names of the mechanisms offered, as they are sent. */
  readonly mechanisms: string
  readonly #verifiers: Verifiers
  readonly #check: CheckPassword
  #isOver = false
  #next: (message: Uint8Array) => SaslStep | Promise<SaslStep>

  constructor(offered: readonly Mechanism[], verifiers: Verifiers, check: CheckPassword) {
    this.mechanisms = offered.join(' ')
    this.#verifiers = verifiers
    this.#check = check
    this.#next = (message) => this.#start(message, offered)
  }

  /** Takes a client's message, which it does not keep. Rejects with a SASL status; the exchange is over then. */
  async step(message: Uint8Array): Promise<SaslStep> {
    if (message.length >= MAX_PAYLOAD) throw saslError(SASL_BADPROT, `A message of ${message.length} bytes`)
    return this.#next(message)
  }

  /** The client has gone: a password that waits to be checked no longer is. */
  end(): void {
    this.#isOver = true
  }

  #start(message: Uint8Array, offered: readonly Mechanism[]): SaslStep | Promise<SaslStep> {
    const nul = message.indexOf(0)
    const name = decodeText(message, 0, nul < 0 ? message.length : nul)
    const mechanism = offered.find((candidate) => candidate === name.toUpperCase())
    if (mechanism === undefined)
      throw saslError(SASL_NOMECH, `Asked for mechanism ${JSON.stringify(name)}, offered ${this.mechanisms}`)
    this.#next = (first) => (mechanism === 'PLAIN' ? this.#plain(first) : this.#scram(first))
    const first = nul < 0 ? EMPTY : message.subarray(nul + 1)
    return first.length === 0 ? { challenge: EMPTY } : this.#next(first)
  }

  async #plain(message: Uint8Array): Promise<SaslStep> {
    const [authzid, name, password, ...more] = decodeText(message).split('\0')
    if (name === undefined || name === '' || password === undefined || password === '' || more.length > 0)
      throw saslError(SASL_BADPROT, 'Not a message of PLAIN')
    const user = saslPrep(name)
    if (authzid !== '' && authzid !== name)
      throw saslError(SASL_NOAUTHZ, `${JSON.stringify(user)} asks to act for another user`)
    if (!(await this.#check(user, password, () => this.#isOver)))
      throw saslError(SASL_BADAUTH, `Wrong name or password: ${JSON.stringify(user)}`)
    return { user }
  }

  #scram(message: Uint8Array): SaslStep {
    const exchange = challengeScram(decodeText(message), this.#verifiers)
    this.#next = (proof) => this.#proof(exchange, proof)
    return { challenge: encodeText(exchange.challenge) }
  }

  #proof(exchange: ScramExchange, proof: Uint8Array): SaslStep {
    const final = verifyScram(exchange, decodeText(proof))
    // The client answers the last message as well, with nothing.
    this.#next = (answer) => {
      if (answer.length > 0) throw saslError(SASL_BADPROT, 'SCRAM is over, but the client goes on')
      return { user: exchange.user }
    }
    return { challenge: encodeText(final) }
  }
}
