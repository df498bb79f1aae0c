/** Source selection in the page header: the current source, compared ones, and their layout. */
import type { ComponentChild } from 'preact'
import { lazyPart } from '../lazy.tsx'
import { compare, compared, currentKey, layout, panel, show, sources } from '../page.ts'
import type { Layout } from '../view/view.ts'
import { Icon } from './Icon.tsx'

const LAYOUTS: readonly (readonly [Layout, string])[] = [
  ['beside', 'Side by side'],
  ['over', 'In one chart'],
]

/** Renders a list for the current source, a label for each compared one, and a list to add more. */
export function SourceChoice(): ComponentChild {
  const others = compared.value
  const known = [...sources.value.values()]
  return (
    <>
      <select
        class="source"
        aria-label="Source"
        value={currentKey.value}
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
            {lazyPart.value !== undefined && <lazyPart.value.ComparedLight source={key} />}
            <button
              type="button"
              aria-label={`Stop comparing with ${title}`}
              onClick={() => compare(key, false)}
            >
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
          .filter(({ key }) => key !== currentKey.value && !others.includes(key))
          .map(({ key, title }) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        <option value="more">Another host or archive …</option>
      </select>
      {others.length > 0 && (
        <fieldset class="choice" aria-label="Comparison layout">
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
