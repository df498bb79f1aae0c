/** The pages: links in a row, or a list where there is too little room for them. */
import type { ComponentChild } from 'preact'
import { goToPage } from '../go-to.ts'
import { view } from '../page.ts'
import { PAGES, pageOf, toPageFragment } from '../view/built-in.ts'

/** Renders both; the style sheet shows one of them. */
export function PageTabs(): ComponentChild {
  const shown = pageOf(view.value)?.page
  return (
    <>
      <nav class="pages" aria-label="Pages">
        {PAGES.map(({ page, view: { name } }, i) => (
          <a
            key={page}
            href={toPageFragment(page)}
            onClick={(event) => {
              // A new tab opens the address; here the time and sources stay.
              if (event.ctrlKey || event.metaKey || event.shiftKey) return
              event.preventDefault()
              goToPage(page)
            }}
            aria-current={page === shown ? 'page' : undefined}
            title={i < 9 ? `${name} (${i + 1})` : name}
          >
            {name}
          </a>
        ))}
      </nav>
      <select
        class="page-list"
        aria-label="Page"
        value={shown ?? ''}
        onChange={({ currentTarget }) => goToPage(currentTarget.value)}
      >
        {shown === undefined && <option value="">{view.value.name}</option>}
        {PAGES.map(({ page, view: { name } }) => (
          <option key={page} value={page}>
            {name}
          </option>
        ))}
      </select>
    </>
  )
}
