/** Whether a metric and each of its instances is logged, who decides, and how often. docs/pmlogger.md */

/** What holds for a metric or an instance of it. Without one nobody has asked for anything: off, and left to others. */
export interface Mode {
  /** Only mandatory requests may change it. */
  readonly isMandatory: boolean
  readonly isOn: boolean
  /** Interval, 0 for once. */
  readonly deltaMs: number
  /** Which request asked to log it once: what different ones ask for is fetched apart. */
  readonly round?: number
}

/** A request to change what holds. */
export interface ModeRequest {
  readonly control: 'mandatory' | 'advisory'
  /** `maybe`: advisory requests decide again. */
  readonly state: 'on' | 'off' | 'maybe'
  readonly deltaMs: number
  /** Number of a request to log once. */
  readonly round?: number
}

/** Why a request changed nothing. */
export interface Refusal {
  /** The instance it failed for; undefined when it is about all of them. */
  readonly inst?: number
  /** What holds instead, when that is what it is in conflict with. */
  readonly mode?: Mode
}

/** What holds where nobody has asked for anything. */
export const ADVISORY_OFF: Mode = { isMandatory: false, isOn: false, deltaMs: 0 }

/**
 * What holds for one metric: either for all its instances alike, or for some of them.
 *
 *     mandatory on, off ──mandatory maybe──► advisory off ◄──► advisory on
 *             ▲───────────mandatory on, off───────┘──────────────┘
 */
export class MetricStates {
  #whole: Mode | undefined
  #others: readonly Mode[] = []
  readonly #parts = new Map<number, Mode>()

  /** What holds for all instances, those to come included. */
  get whole(): Mode | undefined {
    return this.#whole
  }

  /** How else all instances are logged, when a configuration asks for several intervals: until the next request. */
  get others(): readonly Mode[] {
    return this.#others
  }

  /** What holds for single instances; empty when all are alike. */
  get parts(): ReadonlyMap<number, Mode> {
    return this.#parts
  }

  /** What holds for an instance. */
  modeOf(inst: number): Mode | undefined {
    return this.#parts.get(inst) ?? this.#whole
  }

  /** As `requestAll`, but what is logged already at another interval, and as mandatory, goes on besides. */
  requestAlso(request: ModeRequest): Refusal | undefined {
    const before = this.#whole
    const others = this.#others
    const refusal = this.requestAll(request)
    if (refusal !== undefined || request.state !== 'on' || before?.isOn !== true) return refusal
    const isOther = (mode: Mode): boolean =>
      mode.isMandatory === this.#whole!.isMandatory && mode.deltaMs !== this.#whole!.deltaMs
    this.#others = [...others, before].filter(isOther)
    return undefined
  }

  /** Changes what holds for all instances. A refused request changes nothing. */
  requestAll(request: ModeRequest): Refusal | undefined {
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

  /** Changes what holds for one instance, unless all are logged, or off by a mandatory request. */
  requestOne(inst: number, request: ModeRequest): Refusal | undefined {
    if (this.#whole?.isOn === true || this.#whole?.isMandatory === true) return { inst, mode: this.#whole }
    this.#whole = undefined
    this.#others = []
    const current = this.#parts.get(inst)
    // PCP's logger ends what advisory requests switched on here, and only here.
    const next = request.state === 'maybe' ? ADVISORY_OFF : changed(current, request)
    if (next === undefined) return { inst, mode: current! }
    this.#parts.set(inst, next)
    return undefined
  }
}

/** What holds after a request; undefined when it is refused. */
function changed(
  current: Mode | undefined,
  { control, state, deltaMs, round }: ModeRequest,
): Mode | undefined {
  if (state === 'maybe') return current === undefined || current.isMandatory ? ADVISORY_OFF : current
  const isMandatory = control === 'mandatory'
  if (!isMandatory && current?.isMandatory === true) return undefined
  const isOn = state === 'on'
  const mode = { isMandatory, isOn, deltaMs: isOn ? deltaMs : 0 }
  return isOn && deltaMs === 0 && round !== undefined ? { ...mode, round } : mode
}
