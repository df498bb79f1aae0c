/** How far a zone's clocks are from UTC, and for how long. */

/** What holds in a zone from one change of the clock to the next. */
export interface LocalOffset {
  /** Seconds east of UTC. */
  readonly offset: number
  readonly isDst: boolean
  readonly abbreviation: string
  /** First second it holds for. */
  readonly from: number
  /** First second it does not hold for any more. */
  readonly until: number
}
