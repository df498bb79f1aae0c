/** UTC offsets of zones and their periods of validity. */

/** Offset of local time. */
export interface ClockSetting {
  /** Seconds east of UTC. */
  readonly offset: number
  readonly isDst: boolean
  readonly abbreviation: string
}

/** An offset and its period, between two clock changes. */
export interface OffsetPeriod extends ClockSetting {
  /** First second of the period. */
  readonly from: number
  /** First second after the period. */
  readonly until: number
}
