/** Contexts without a collector: `pcp-ts/local`. docs/reference/client-library.md */
export { type LocalContextOptions, openLocal } from './routing/local-context.ts'
