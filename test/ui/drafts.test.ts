/** Drafts of text fields. */
import { expect, test } from 'vitest'
import { type DraftStore, keepDraft, readDraft } from '../../src/ui/drafts.ts'

test('a draft is kept until it is dropped, if it is not too long', () => {
  const kept = new Map<string, string>()
  const store: DraftStore = () => ({
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, text) => void kept.set(key, text),
    removeItem: (key) => void kept.delete(key),
  })
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
