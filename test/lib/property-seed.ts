/** Gives tests of properties the seed of the run, so that PCP_TS_SEED repeats them, and no outcome depends on luck. */
import fc from 'fast-check'
import { seed } from './seed.ts'

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })
