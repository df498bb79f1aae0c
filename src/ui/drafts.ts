/** Unfinished text that is kept over a reload of the tab. */
import { inStore } from './storage.ts'

const PREFIX = 'pcp-ts.draft.'
/** Longer texts are not kept. */
const LONGEST = 10_000

/** Where drafts are kept; it may throw, as it does in browsers that block storage. */
export type DraftStore = () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Drafts of this tab. */
export const ofTab: DraftStore = () => sessionStorage

/** Returns the draft of a field; '' without one. */
export function readDraft(field: string, store: DraftStore = ofTab): string {
  return inStore(store, (storage) => storage.getItem(PREFIX + field))?.slice(0, LONGEST) ?? ''
}

/** Keeps the draft of a field; '' drops it. A field without storage has no drafts. */
export function keepDraft(field: string, text: string, store: DraftStore = ofTab): void {
  inStore(store, (storage) => {
    if (text === '' || text.length > LONGEST) storage.removeItem(PREFIX + field)
    else storage.setItem(PREFIX + field, text)
  })
}
