/** The steps from one format of the state directories to the next. docs/reference/state.md lists them; a step is never changed again. */
import type { Migrations } from './state-version.ts'

/** The first checkouts wrote no version file; their layout is that of version 1. */
const FIRST = { what: 'add the version file', apply: (): void => {} }

export const MIGRATIONS: Migrations = {
  settings: [FIRST],
  data: [FIRST],
  archives: [FIRST],
}
