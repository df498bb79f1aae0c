/** A menu behind three dots. */
import type { ComponentChild } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './Icon.tsx'

/** A menu item. */
export interface MenuItem {
  readonly text: string
  readonly isDanger?: boolean
  readonly action: () => void
}

/** Renders the menu. It closes on Escape, on a choice, and when the focus or the pointer moves elsewhere. */
export function Menu({
  label,
  items,
}: {
  readonly label: string
  readonly items: readonly MenuItem[]
}): ComponentChild {
  const place = useRef<HTMLDetailsElement>(null)
  useEffect(() => listenTo(place.current!), [])
  return (
    <details class="menu" ref={place}>
      <summary aria-label={label} aria-haspopup="menu">
        <Icon name="more" />
      </summary>
      <div class="menu-items" role="menu">
        {items.map(({ text, isDanger, action }) => (
          <button
            type="button"
            role="menuitem"
            key={text}
            class={isDanger === true ? 'danger' : ''}
            onClick={closing(action)}
          >
            {text}
          </button>
        ))}
      </div>
    </details>
  )
}

/** Closes the menu of a button before the action. Dialogues that the action opens return the focus to the dots. */
function closing(action: () => void): (event: MouseEvent) => void {
  return ({ currentTarget }) => {
    const menu = (currentTarget as HTMLElement).closest('details')!
    close(menu)
    action()
  }
}

function close(menu: HTMLDetailsElement): void {
  menu.open = false
  menu.querySelector('summary')!.focus({ preventScroll: true })
}

/** Installs the keys of a menu and the listeners that close it. Returns a function that removes them. */
function listenTo(menu: HTMLDetailsElement): () => void {
  const key = (event: KeyboardEvent): void => {
    if (!menu.open) return
    if (event.key === 'Escape') close(menu)
    else if (!go(menu, event.key)) return
    event.preventDefault()
    event.stopPropagation()
  }
  const outside = ({ target }: Event): void => {
    if (menu.open && !menu.contains(target as Node)) menu.open = false
  }
  menu.addEventListener('keydown', key)
  addEventListener('pointerdown', outside)
  addEventListener('focusin', outside)
  return () => {
    menu.removeEventListener('keydown', key)
    removeEventListener('pointerdown', outside)
    removeEventListener('focusin', outside)
  }
}

/** Moves the focus with arrows, Home and End, wrapping around. Returns whether the key is one of these. */
function go(menu: HTMLDetailsElement, key: string): boolean {
  const items = [...menu.querySelectorAll<HTMLElement>('[role=menuitem]')]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const next = { ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: -1 }[key]
  if (next === undefined) return false
  items.at(next === items.length ? 0 : next)!.focus()
  return true
}
