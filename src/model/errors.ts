/** The one error class, and the table from PM_ERR codes and errno to text. pmErrStr(3), docs/formats/wire.md §9 */
import { ERRNOS } from './errnos.ts'
import { PM_ERRORS, SASL_ERRORS } from './pm-errors.ts'

/**
 * A PCP error name such as `PM_ERR_PMID`, an errno name such as `ECONNREFUSED`, or, where a user is not accepted, a result of
 * SASL such as `SASL_BADAUTH`.
 */
export type ErrorCode = keyof typeof PM_ERRORS | keyof typeof ERRNOS | keyof typeof SASL_ERRORS

/** Lowest status of the PMAPI range; statuses between it and zero are negated errno values. */
const PM_ERR_BASE = -12345
const PM_ERR_NYI: number = PM_ERRORS.PM_ERR_NYI.status
/** How far below PM_ERR_NYI authentication errors go; encryption errors begin further down. */
const LAST_AUTH_ERROR = 100

const codeByStatus = new Map<number, ErrorCode>()
for (const [code, { status }] of Object.entries(PM_ERRORS)) codeByStatus.set(status, code as ErrorCode)
for (const [code, { errno }] of Object.entries(ERRNOS)) codeByStatus.set(-errno, code as ErrorCode)
for (const [code, { result }] of Object.entries(SASL_ERRORS))
  codeByStatus.set(PM_ERR_NYI + result, code as ErrorCode)

/** Returns the number of `code` on the wire: a PM_ERR_* status, one below PM_ERR_NYI for SASL, or a negated errno. */
export function statusOf(code: ErrorCode): number {
  if (code in PM_ERRORS) return PM_ERRORS[code as keyof typeof PM_ERRORS].status
  if (code in SASL_ERRORS) return PM_ERR_NYI + SASL_ERRORS[code as keyof typeof SASL_ERRORS].result
  return -ERRNOS[code as keyof typeof ERRNOS].errno
}

/** The name of a status, or undefined when PCP and Linux have none for it. */
export function codeOf(status: number): ErrorCode | undefined {
  return codeByStatus.get(status)
}

/** Text of a status, exactly as PCP prints it. @see pmErrStr(3) */
export function errStr(status: number): string {
  if (status === 0) return 'No error'
  const code = codeByStatus.get(status)
  if (code !== undefined) {
    if (code in PM_ERRORS) return PM_ERRORS[code as keyof typeof PM_ERRORS].text
    if (code in SASL_ERRORS) return `Authentication - ${SASL_ERRORS[code as keyof typeof SASL_ERRORS].text}`
    return ERRNOS[code as keyof typeof ERRNOS].text
  }
  if (status < 0 && status > PM_ERR_BASE) return `Unknown error ${-status}`
  if (status < PM_ERR_NYI - LAST_AUTH_ERROR) {
    return `Unknown secure sockets error ${status} (${status - PM_ERR_NYI})`
  }
  if (status < PM_ERR_NYI) return 'Authentication - undefined error!'
  return `No such PMAPI error code (${status})`
}

/** Tells errors of one code apart, where programs treat them differently: messages are for people. */
export type ErrorReason =
  /** Two metrics of a name space have one PMID. */
  | 'duplicate-pmid'
  | 'duplicate-name'
  /** A derived metric's expression names a metric that the source does not have. */
  | 'unknown-operand'
  /** A derived metric's expression has no meaning over its source, for other reasons. */
  | 'unbound'
  /** The collector accepts no client without a user. */
  | 'login-required'
  | 'time-window'
  /** The message is one of the reference's own, which stands without the command's name. */
  | 'verbatim'

/** What else an error may carry. */
export interface PcpErrorOptions {
  /** The error underneath. */
  readonly cause?: unknown
  /** The status when `code` alone does not determine it (an unassigned number from a peer). */
  readonly status?: number
  /** Default: that of the cause. */
  readonly reason?: ErrorReason | undefined
}

/**
 * Any failure of PCP: `code` to branch on, `status` as on the wire, `text` as pmErrStr prints it, and a
 * message that says on what it failed and what to do.
 */
export class PcpError extends Error {
  override readonly name = 'PcpError'
  readonly code: ErrorCode
  readonly status: number
  declare readonly reason?: ErrorReason

  /** `message` defaults to PCP's own text for the code. */
  constructor(code: ErrorCode, message?: string, options: PcpErrorOptions = {}) {
    const status = options.status ?? statusOf(code)
    super(message ?? errStr(status), options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = status
    const { reason = options.cause instanceof PcpError ? options.cause.reason : undefined } = options
    if (reason !== undefined) this.reason = reason
  }

  /**
   * Errors of other copies of this class count as well: a command and its parts are bundled each for itself, and a
   * program may import and require the library.
   */
  static override [Symbol.hasInstance](value: unknown): value is PcpError {
    return value instanceof Error && value.name === 'PcpError'
  }

  /** PCP's own short text for this error. @see pmErrStr(3) */
  get text(): string {
    return errStr(this.status)
  }

  /** The error a peer reported as a number. `on` says what was asked: `"foo.bar": Unknown metric name`. */
  static fromStatus(status: number, on?: string): PcpError {
    const text = errStr(status)
    return new PcpError(codeOf(status) ?? nearestCode(status), on === undefined ? text : `${on}: ${text}`, {
      status,
    })
  }

  /** `error` itself when it is a PcpError; a Node error with a known `code` by its errno; otherwise PM_ERR_GENERIC. */
  static from(error: unknown, on?: string): PcpError {
    if (error instanceof PcpError) return error
    const code = (error as { code?: unknown } | undefined)?.code
    const known =
      typeof code === 'string' && Object.hasOwn(ERRNOS, code) ? (code as ErrorCode) : 'PM_ERR_GENERIC'
    const message = systemText(error, known, on) ?? (error instanceof Error ? error.message : String(error))
    return new PcpError(known, on === undefined ? message : `${on}: ${message}`, { cause: error })
  }
}

/** Returns the code for a status without a name: TLS and SASL libraries have a range of numbers each. */
function nearestCode(status: number): ErrorCode {
  if (status >= PM_ERR_NYI) return 'PM_ERR_GENERIC'
  return status < PM_ERR_NYI - LAST_AUTH_ERROR ? 'PM_ERR_TLS' : 'SASL_FAIL'
}

/** The text of a failed system call without Node's words: the file, unless `on` names it, and what is wrong. */
function systemText(error: unknown, code: ErrorCode, on = ''): string | undefined {
  const { syscall, path } = error as { readonly syscall?: unknown; readonly path?: unknown }
  if (typeof syscall !== 'string' || code === 'PM_ERR_GENERIC') return undefined
  const text = errStr(statusOf(code))
  return typeof path !== 'string' || on.includes(path) ? text : `${path}: ${text}`
}

/** A value, or why there is none for this one item: errors about one item are data, never exceptions. */
export type Outcome<T> = T | PcpError

/** Is this outcome an error? */
export function isError<T>(outcome: Outcome<T>): outcome is PcpError {
  return outcome instanceof PcpError
}
