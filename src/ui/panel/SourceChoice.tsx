/** The head of the page: which source it shows, which others together with it, and how. */
import type { ComponentChild } from 'preact'
import { rest } from '../later.tsx'
import { compare, compared, layout, panel, show, shownKey, sources } from '../page.ts'
import type { Layout } from '../view/view.ts'
import { Icon } from './Icon.tsx'

const LAYOUTS: readonly (readonly [Layout, string])[] = [
  ['beside', 'Side by side'],
  ['over', 'In one chart'],
]

/** The choice of one, a sign for each other, and what adds one. */
export function SourceChoice(): ComponentChild {
  const others = compared.value
  const known = [...sources.value.values()]
  return (
    <>
      <select
        class="source"
        aria-label="Source"
        value={shownKey.value}
        onChange={({ currentTarget }) => show(currentTarget.value)}
      >
        {known.map(({ key, title }) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
      {others.map((key) => {
        const title = sources.value.get(key)?.title ?? key
        return (
          <span class="compared" key={key}>
            {title}
            {rest.value !== undefined && <rest.value.ComparedLight source={key} />}
            <button type="button" aria-label={`Without ${title}`} onClick={() => compare(key, false)}>
              <Icon name="close" />
            </button>
          </span>
        )
      })}
      <select
        class="compare"
        aria-label="Compare with"
        value=""
        onChange={({ currentTarget }) => {
          const key = currentTarget.value
          currentTarget.value = ''
          if (key === 'more') panel.value = 'archives'
          else compare(key, true)
        }}
      >
        <option value="" hidden>
          + Compare
        </option>
        {known
          .filter(({ key }) => key !== shownKey.value && !others.includes(key))
          .map(({ key, title }) => (
            <option key={key} value={key}>
              with {title}
            </option>
          ))}
        <option value="more">with another host or archive …</option>
      </select>
      {others.length > 0 && (
        <fieldset class="choice" aria-label="How sources are compared">
          {LAYOUTS.map(([which, text]) => (
            <button
              type="button"
              key={which}
              aria-pressed={layout.value === which}
              onClick={() => (layout.value = which)}
            >
              {text}
            </button>
          ))}
        </fieldset>
      )}
    </>
  )
}
