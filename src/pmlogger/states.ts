/** Whether a metric and each of its instances is logged, under which control, and how often. docs/reference/pmlogger.md */

/** Logging state of a metric or instance. Undefined before any request: off and advisory. */
export interface LoggingState {
  /** Only mandatory requests may change it. */
  readonly isMandatory: boolean
  readonly isOn: boolean
  /** Interval; 0 for once. */
  readonly deltaMs: number
  /** Number of the request to log once; different requests are fetched separately. */
  readonly round?: number
}

/** A request to change a logging state. */
export interface StateRequest {
  readonly control: 'mandatory' | 'advisory'
  /** `maybe` hands control back to advisory requests. */
  readonly state: 'on' | 'off' | 'maybe'
  readonly deltaMs: number
  /** Number of a request to log once. */
  readonly round?: number
}

/** Why a request was refused. */
export interface Refusal {
  /** The refused instance; undefined if it concerns all of them. */
  readonly inst?: number
  /** The state it conflicts with, if that is the reason. */
  readonly mode?: LoggingState
}

/** State before any request. */
export const ADVISORY_OFF: LoggingState = { isMandatory: false, isOn: false, deltaMs: 0 }

/**
 * Logging state of one metric: one for all instances, or one for each of some instances.
 *
 *     mandatory on, off ──mandatory maybe──► advisory off ◄──► advisory on
 *             ▲───────────mandatory on, off───────┘──────────────┘
 */
export class MetricStates {
  #whole: LoggingState | undefined
  #others: readonly LoggingState[] = []
  readonly #parts = new Map<number, LoggingState>()

  /** State of all instances, including future ones. */
  get whole(): LoggingState | undefined {
    return this.#whole
  }

  /** Other intervals at which all instances are logged, if a configuration has several; reset by the next request. */
  get otherIntervals(): readonly LoggingState[] {
    return this.#others
  }

  /** States of single instances; empty if all have the same. */
  get byInstance(): ReadonlyMap<number, LoggingState> {
    return this.#parts
  }

  /** Returns the state of an instance. */
  modeOf(inst: number): LoggingState | undefined {
    return this.#parts.get(inst) ?? this.#whole
  }

  /** Like `requestAll`, but keeps logging at the previous interval too if the control is the same and the interval differs. */
  requestAdditionally(request: StateRequest): Refusal | undefined {
    const before = this.#whole
    const others = this.#others
    const refusal = this.requestAll(request)
    if (refusal !== undefined || request.state !== 'on' || before?.isOn !== true) return refusal
    const isOther = (mode: LoggingState): boolean =>
      mode.isMandatory === this.#whole!.isMandatory && mode.deltaMs !== this.#whole!.deltaMs
    this.#others = [...others, before].filter(isOther)
    return undefined
  }

  /** Changes the state of all instances. A refused request changes nothing. */
  requestAll(request: StateRequest): Refusal | undefined {
    if (this.#parts.size > 0) {
      const isRefused =
        request.control === 'advisory' && [...this.#parts.values()].some((mode) => mode.isMandatory)
      if (isRefused) return {}
    }
    const next = changed(this.#whole, request)
    if (next === undefined) return { mode: this.#whole! }
    if (request.state === 'maybe' && this.#parts.size > 0) {
      for (const [inst, mode] of this.#parts) this.#parts.set(inst, changed(mode, request) ?? mode)
      return undefined
    }
    this.#parts.clear()
    if (next !== this.#whole) this.#others = []
    this.#whole = next
    return undefined
  }

  /** Changes the state of one instance. Refused if all instances are logged or mandatory. */
  requestOne(inst: number, request: StateRequest): Refusal | undefined {
    if (this.#whole?.isOn === true || this.#whole?.isMandatory === true) return { inst, mode: this.#whole }
    this.#whole = undefined
    this.#others = []
    const current = this.#parts.get(inst)
    // As in PCP's logger, `maybe` switches off advisory logging here, and only here.
    const next = request.state === 'maybe' ? ADVISORY_OFF : changed(current, request)
    if (next === undefined) return { inst, mode: current! }
    this.#parts.set(inst, next)
    return undefined
  }
}

/** Returns the state after a request; undefined if it is refused. */
function changed(
  current: LoggingState | undefined,
  { control, state, deltaMs, round }: StateRequest,
): LoggingState | undefined {
  if (state === 'maybe') return current === undefined || current.isMandatory ? ADVISORY_OFF : current
  const isMandatory = control === 'mandatory'
  if (!isMandatory && current?.isMandatory === true) return undefined
  const isOn = state === 'on'
  const mode = { isMandatory, isOn, deltaMs: isOn ? deltaMs : 0 }
  return isOn && deltaMs === 0 && round !== undefined ? { ...mode, round } : mode
}
