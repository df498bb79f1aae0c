/** Contexts without a collector: `pcp-ts/local`. docs/pmapi.md */
export { type LocalContextOptions, openLocal } from './routing/local-context.ts'
