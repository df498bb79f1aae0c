/** Drafts of text fields. */
import { expect, test } from 'vitest'
import { beginDraft, draft, keptDraft, takeDraft, typeDraft } from '../../src/ui/annotations/draft.ts'
import { type DraftStore, keepDraft, readDraft } from '../../src/ui/drafts.ts'

function storeOf(kept: Map<string, string>): DraftStore {
  return () => ({
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, text) => void kept.set(key, text),
    removeItem: (key) => void kept.delete(key),
  })
}

test('a draft is kept until it is dropped, if it is not too long', () => {
  const kept = new Map<string, string>()
  const store = storeOf(kept)
  expect(readDraft('expression', store)).toBe('')
  keepDraft('expression', 'kernel.all.load * 2', store)
  keepDraft('other', 'x', store)
  expect(readDraft('expression', store)).toBe('kernel.all.load * 2')
  keepDraft('expression', 'x'.repeat(10_001), store)
  expect(readDraft('expression', store)).toBe('')
  keepDraft('other', '', store)
  expect(kept.size).toBe(0)
})

test('a browser that blocks storage has no drafts', () => {
  const blocked: DraftStore = () => {
    throw new Error('blocked')
  }
  keepDraft('expression', 'x', blocked)
  expect(readDraft('expression', blocked)).toBe('')
})

test('the text of a note is kept over a reload until it is saved, cancelled or as it was', () => {
  const kept = new Map<string, string>()
  const store = storeOf(kept)
  const note = { id: 'a', host: 'db1', at: 1_700_000_000, until: 1_700_000_060, text: 'known' }
  expect(keptDraft(store)).toBeUndefined()
  beginDraft(note)
  typeDraft('known and', store)
  expect(keptDraft(store)).toEqual({ note, text: 'known and' })
  typeDraft('known', store)
  expect(keptDraft(store)).toBeUndefined()
  typeDraft('known and more', store)
  expect(takeDraft(store)).toEqual({ ...note, text: 'known and more' })
  expect([kept.size, draft.value]).toEqual([0, undefined])
  keepDraft('note', '{"note":{"id":1},"text":"x"}', store)
  expect(keptDraft(store)).toBeUndefined()
  keepDraft('note', 'damaged', store)
  expect(keptDraft(store)).toBeUndefined()
})
