/** Contexts without a collector: `pcp-ts/local`. docs/pmapi.md */
export { type LocalContextOptions, openLocal } from './pmcd/local-context.ts'
