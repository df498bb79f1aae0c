/** The error class of PCP, and the table from PM_ERR codes and errno to text. pmErrStr(3), docs/formats/wire.md §9 */
import { ERRNOS } from './errnos.ts'
import { PM_ERRORS, SASL_ERRORS } from './pm-errors.ts'

/**
 * A PCP error name such as `PM_ERR_PMID`, an errno name such as `ECONNREFUSED`, or, for failed authentication, a result of
 * SASL such as `SASL_BADAUTH`.
 */
export type ErrorCode = keyof typeof PM_ERRORS | keyof typeof ERRNOS | keyof typeof SASL_ERRORS

/** Lowest status of the PMAPI range; statuses between it and zero are negated errno values. */
const PM_ERR_BASE = -12345
const PM_ERR_NYI: number = PM_ERRORS.PM_ERR_NYI.status
/** Size of the range of authentication errors below PM_ERR_NYI; encryption errors follow below that. */
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

/** Returns the name of a status; undefined if PCP and Linux have none. */
export function codeOf(status: number): ErrorCode | undefined {
  return codeByStatus.get(status)
}

/** Returns the text of a status, exactly as PCP prints it. @see pmErrStr(3) */
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

/** Distinguishes errors with the same code for programs, which must not parse messages. */
export type ErrorReason =
  /** Two metrics in a name space have the same PMID. */
  | 'duplicate-pmid'
  | 'duplicate-name'
  /** The expression of a derived metric refers to a metric missing from the source. */
  | 'unknown-operand'
  /** The expression of a derived metric cannot be evaluated on its source, for other reasons. */
  | 'unbound'
  /** The collector requires authentication. */
  | 'login-required'
  | 'time-window'
  /** The message is PCP's own text, printed without the command's name. */
  | 'verbatim'

/** Optional properties of an error. */
export interface PcpErrorOptions {
  readonly cause?: unknown
  /** The status if `code` does not determine it, such as an unassigned number from a peer. */
  readonly status?: number
  /** Default: the reason of the cause. */
  readonly reason?: ErrorReason | undefined
}

/**
 * Any failure of PCP: `code` for programs, `status` as on the wire, `text` as pmErrStr prints it, and a message for people that
 * names the object and, where possible, a remedy.
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
   * Accepts instances of other copies of this class: a command and its parts are bundled separately, and a program may both
   * import and require the library.
   */
  static override [Symbol.hasInstance](value: unknown): value is PcpError {
    return value instanceof Error && value.name === 'PcpError'
  }

  /** PCP's short text for this error. @see pmErrStr(3) */
  get text(): string {
    return errStr(this.status)
  }

  /** Returns the error for a status from a peer. `on` names the object: `"foo.bar": Unknown metric name`. */
  static fromStatus(status: number, on?: string): PcpError {
    const text = errStr(status)
    return new PcpError(codeOf(status) ?? nearestCode(status), on === undefined ? text : `${on}: ${text}`, {
      status,
    })
  }

  /** Returns `error` itself if it is a PcpError, the errno for a Node error with a known `code`, and otherwise PM_ERR_GENERIC. */
  static from(error: unknown, on?: string): PcpError {
    if (error instanceof PcpError) return error
    const code = (error as { code?: unknown } | undefined)?.code
    const known =
      typeof code === 'string' && Object.hasOwn(ERRNOS, code) ? (code as ErrorCode) : 'PM_ERR_GENERIC'
    const message = systemText(error, known, on) ?? (error instanceof Error ? error.message : String(error))
    return new PcpError(known, on === undefined ? message : `${on}: ${message}`, { cause: error })
  }
}

/** Returns the code for an unnamed status: TLS and SASL libraries each have a range of numbers. */
function nearestCode(status: number): ErrorCode {
  if (status >= PM_ERR_NYI) return 'PM_ERR_GENERIC'
  return status < PM_ERR_NYI - LAST_AUTH_ERROR ? 'PM_ERR_TLS' : 'SASL_FAIL'
}

/** Returns the text of a failed system call without Node's phrasing: the path, unless `on` names it, and the reason. */
function systemText(error: unknown, code: ErrorCode, on = ''): string | undefined {
  const { syscall, path } = error as { readonly syscall?: unknown; readonly path?: unknown }
  if (typeof syscall !== 'string' || code === 'PM_ERR_GENERIC') return undefined
  const text = errStr(statusOf(code))
  return typeof path !== 'string' || on.includes(path) ? text : `${path}: ${text}`
}

/** A value, or the error for this one item: errors of single items are data, not exceptions. */
export type Outcome<T> = T | PcpError

/** Returns whether an outcome is an error. */
export function isError<T>(outcome: Outcome<T>): outcome is PcpError {
  return outcome instanceof PcpError
}
