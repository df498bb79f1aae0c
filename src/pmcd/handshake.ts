/**
 * How a client introduces itself, up to its first request. docs/formats/wire.md §4, docs/security.md
 *
 *     creds ──► [tls] ──► [login] ──► [container] ──► open
 *
 * Whatever fails on this way is told to the client, and ends its connection.
 */
import { PcpError } from '../model/errors.ts'
import type { SaslServer, SaslStep } from '../net/sasl/server.ts'
import { attrText, decodeAttr, encodeAttr, PCP_ATTR_CONTAINER, PCP_ATTR_NONE } from '../wire/attr.ts'
import {
  decodeCreds,
  PDU_FLAG_AUTH,
  PDU_FLAG_CERT_REQD,
  PDU_FLAG_COMPRESS,
  PDU_FLAG_CONTAINER,
  PDU_FLAG_CREDS_REQD,
  PDU_FLAG_SECURE,
  PDU_FLAG_SECURE_ACK,
  versionOf,
} from '../wire/creds.ts'
import { encodeError } from '../wire/error.ts'
import { PDU_CREDS, pduType } from '../wire/pdu.ts'

/** What this client is offered, and what it must do to get in. */
export interface Gate {
  /** PDU_FLAG_* offered besides what everybody gets. */
  readonly features: number
  /** It is not known who it is, and that matters. */
  readonly needsLogin: boolean
  /** It must come with TLS and a certificate. */
  readonly needsCertificate: boolean
  readonly isUnix: boolean
  /** Makes the connection secure and calls back, with an error when the client's certificate will not do. */
  readonly secure?: (done: (error?: PcpError) => void) => void
  /** Begins an authentication. */
  readonly beginLogin?: (isPrivate: boolean) => SaslServer
  /** It has not proved who it is: for the log. */
  readonly loginFailed?: (error: PcpError) => void
  /** It has proved to be this user, or is a guest without a name. Throws PcpError when that one may not connect. */
  readonly loggedIn?: (user: string | undefined) => void
}

/** A gate that stands open: no TLS, nobody to know. */
export const OPEN_GATE: Gate = { features: 0, needsLogin: false, needsCertificate: false, isUnix: false }

/** The client, as far as its introduction goes. */
export interface Newcomer {
  readonly send: (pdu: Uint8Array) => void
  readonly pause: () => void
  readonly resume: () => void
  readonly setContainer: (name: string) => void
  /** It may ask now. */
  readonly done: () => void
  /** It may not, and hears why. */
  readonly refuse: (error: PcpError) => void
  /** It is no client at all. */
  readonly drop: () => void
}

/** What may be asked for, when it is offered. The other features are announcements. */
const ASKABLE =
  PDU_FLAG_SECURE |
  PDU_FLAG_SECURE_ACK |
  PDU_FLAG_AUTH |
  PDU_FLAG_CREDS_REQD |
  PDU_FLAG_CONTAINER |
  PDU_FLAG_CERT_REQD
/** Features that exist but are not offered get 'not supported', all others are protocol errors. */
const KNOWN = ASKABLE | PDU_FLAG_COMPRESS

/** The flags of CREDS; undefined as long as the client has given no version. Throws when they are not on offer. */
export function flagsIn(pdu: Uint8Array, features: number): number | undefined {
  const { version, flags } = versionOf(decodeCreds(pdu))
  if (version === 0) return undefined
  const refused = flags & ~(features & ASKABLE)
  if ((refused & ~KNOWN) !== 0)
    throw new PcpError('PM_ERR_IPC', `Client asks for unknown features 0x${refused.toString(16)}`)
  if (refused !== 0)
    throw new PcpError('ENOTSUP', `Client asks for features 0x${refused.toString(16)} that are not offered`)
  return flags
}

/** One client's introduction. */
export class Handshake {
  readonly #newcomer: Newcomer
  readonly #gate: Gate
  readonly #features: number
  #state: 'creds' | 'tls' | 'login' | 'container' | 'over' = 'creds'
  #flags = 0
  #isSecure = false
  #login: SaslServer | undefined

  /** `features` are all PDU_FLAG_* the client was offered. */
  constructor(newcomer: Newcomer, gate: Gate, features: number) {
    this.#newcomer = newcomer
    this.#gate = gate
    this.#features = features
  }

  /** Stops; what is still going on has no effect. */
  end(): void {
    this.#state = 'over'
    this.#login?.end()
  }

  /** Takes a PDU; throws PcpError when the client cannot go on. */
  receive(pdu: Uint8Array): void {
    switch (this.#state) {
      case 'creds':
        this.#creds(pdu)
        break
      case 'login':
        this.#message(pdu)
        break
      case 'container':
        this.#container(pdu)
        break
      case 'tls': // nothing arrives before the connection is secure
      case 'over':
    }
  }

  #creds(pdu: Uint8Array): void {
    if (pduType(pdu) !== PDU_CREDS) {
      this.#newcomer.drop()
      return
    }
    const flags = flagsIn(pdu, this.#features)
    if (flags === undefined) return // no version yet: only another CREDS is acceptable
    this.#flags = flags
    const has = (flag: number): boolean => (flags & flag) !== 0
    if (this.#gate.needsCertificate && !has(PDU_FLAG_SECURE))
      throw new PcpError('PM_ERR_NEEDCLIENTCERT', 'A remote client without TLS')
    if (this.#gate.needsLogin && !this.#wantsLogin)
      throw new PcpError('PM_ERR_PERMISSION', 'A client that does not say who it is')
    if (!has(PDU_FLAG_SECURE)) {
      this.#afterTls()
      return
    }
    this.#state = 'tls'
    if (has(PDU_FLAG_SECURE_ACK)) this.#newcomer.send(encodeError(0))
    this.#gate.secure!((error) => {
      if (this.#state !== 'tls') return
      this.#isSecure = true
      if (error === undefined) this.#afterTls()
      else this.#newcomer.refuse(error)
    })
  }

  /** On a unix socket the kernel says who it is, so that a demand for users is not one for passwords there. */
  get #wantsLogin(): boolean {
    const demanded = this.#gate.isUnix ? 0 : PDU_FLAG_CREDS_REQD
    return (this.#flags & (PDU_FLAG_AUTH | demanded)) !== 0
  }

  #afterTls(): void {
    if (!this.#wantsLogin) {
      this.#afterLogin()
      return
    }
    this.#state = 'login'
    this.#login = this.#gate.beginLogin!(this.#isSecure || this.#gate.isUnix)
    this.#newcomer.send(encodeAttr(PCP_ATTR_NONE, this.#login.mechanisms))
  }

  /** A message of an authentication. Others wait until it has been judged. */
  #message(pdu: Uint8Array): void {
    const { key, value } = decodeAttr(pdu)
    if (key !== PCP_ATTR_NONE)
      throw new PcpError('PM_ERR_IPC', `Expected an authentication, not attribute ${key}`)
    this.#newcomer.pause()
    this.#login!.step(value)
      .then((step) => {
        if (this.#state === 'login') this.#step(step)
      })
      .catch((error: unknown) => {
        if (this.#state !== 'login') return
        const reason = PcpError.from(error)
        this.#gate.loginFailed?.(reason)
        this.#newcomer.refuse(reason)
      })
  }

  #step(step: SaslStep): void {
    if ('challenge' in step) {
      this.#newcomer.send(encodeAttr(PCP_ATTR_NONE, step.challenge))
    } else {
      this.#gate.loggedIn!(step.user)
      this.#afterLogin()
    }
    this.#newcomer.resume()
  }

  #afterLogin(): void {
    if ((this.#flags & PDU_FLAG_CONTAINER) !== 0) this.#state = 'container'
    else this.#open()
  }

  #container(pdu: Uint8Array): void {
    const attr = decodeAttr(pdu)
    if (attr.key !== PCP_ATTR_CONTAINER)
      throw new PcpError('PM_ERR_IPC', `Expected a container, not attribute ${attr.key}`)
    this.#newcomer.setContainer(attrText(attr))
    this.#open()
  }

  #open(): void {
    this.#state = 'over'
    this.#newcomer.done()
  }
}
