/** How far a zone's clocks are from UTC, and for how long. */

/** What clocks show. */
export interface ClockSetting {
  /** Seconds east of UTC. */
  readonly offset: number
  readonly isDst: boolean
  readonly abbreviation: string
}

/** What holds in a zone from one change of the clock to the next. */
export interface LocalOffset extends ClockSetting {
  /** First second it holds for. */
  readonly from: number
  /** First second it does not hold for any more. */
  readonly until: number
}
