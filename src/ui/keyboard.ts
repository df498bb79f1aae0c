/** Helpers for the keyboard: focus of parts of the page that come and go, and modifiers. */

/**
 * Focuses `target`, in `part`. Returns a function that restores the focus when the part is removed, unless the focus has been moved out of
 * it.
 */
export function borrowFocus(part: HTMLElement, target: HTMLElement = part): () => void {
  const before = document.activeElement
  target.focus({ preventScroll: true })
  return () => {
    const now = document.activeElement
    // Safari does not focus clicked buttons.
    const isHere = now === null || now === document.body || part.contains(now)
    if (isHere && before instanceof HTMLElement) before.focus({ preventScroll: true })
  }
}

/** Is a key pressed with Alt, Ctrl or Meta, as for a shortcut of the browser? */
export function hasModifier({
  altKey,
  ctrlKey,
  metaKey,
}: Pick<KeyboardEvent, 'altKey' | 'ctrlKey' | 'metaKey'>): boolean {
  return altKey || ctrlKey || metaKey
}
