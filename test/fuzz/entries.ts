/** All fuzz entries: a parser of outside bytes is one file in `entries` and one row here. CONTRIBUTING.md: Fuzzing */
import type { FuzzEntry } from './engine/entry.ts'

/** Entries by name. */
export const ENTRIES: Readonly<Record<string, () => Promise<FuzzEntry>>> = {
  derived: async () => (await import('./entries/derived.ts')).derived,
  mmv: async () => (await import('./entries/mmv.ts')).mmv,
  pdu: async () => (await import('./entries/pdu.ts')).pdu,
}
