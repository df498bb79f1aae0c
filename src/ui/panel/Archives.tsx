/** What can be looked at: hosts, archives on the server, archives from the reader's own disk. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import type { ArchiveInfo } from '../data/answers.ts'
import { openFiles } from '../data/dropped.ts'
import { archiveSource, hostSource } from '../data/server.ts'
import {
  addSource,
  archives,
  compare,
  compared,
  complain,
  config,
  panel,
  refreshArchives,
  show,
  shownKey,
  sources,
} from '../page.ts'
import { time } from '../time/control.ts'
import { momentText, spanText } from '../time/words.ts'
import { hostKey } from '../view/view.ts'

/** What becomes of a source that is opened: it is the page's own, or shown together with that. */
type Place = 'alone' | 'with'

/** Opens a host that was typed in. */
function openHost(spec: string, place: Place): void {
  const key = hostKey(spec)
  if (!sources.value.has(key)) addSource(hostSource(spec, spec, null))
  put(key, place)
}

/** Opens an archive on the server. */
function openArchive(info: ArchiveInfo, place: Place): void {
  const source = archiveSource(info)
  addSource(source)
  put(source.key, place)
}

function put(key: string, place: Place): void {
  if (place === 'alone') show(key)
  else compare(key, true)
}

/** Archives that are listed; the filter finds the others. */
const MOST_ARCHIVES = 300

/** From when to when an archive is, its day once where there is but one. */
function betweenText({ start, end }: ArchiveInfo, zone: string): string {
  const [from, to] = [momentText(start, zone), momentText(end, zone)]
  const day = 'yyyy-mm-dd '.length
  return `${from} – ${to.slice(0, day) === from.slice(0, day) ? to.slice(day) : to}`
}

function withoutPort(ports: readonly number[]): string {
  return `Without a port: ${ports.join(', then ')}`
}

/** Lists them; a click shows one. */
export function Archives(): ComponentChild {
  const host = useSignal('')
  const filter = useSignal('')
  const isKnown = useSignal(false)
  const hasArchives = config.value?.archives === true
  useEffect(() => {
    if (!hasArchives) return
    const known = (): void => {
      isKnown.value = true
    }
    refreshArchives().then(known, complain)
  }, [hasArchives])
  const open = (place: Place): void => {
    const spec = host.value.trim()
    if (spec === '') return
    openHost(spec, place)
    host.value = ''
  }
  const zone = time.zone.value
  const found = archives.value.filter(({ id, host: name }) =>
    `${id} ${name}`.toLowerCase().includes(filter.value.toLowerCase()),
  )
  return (
    <div class="archives">
      <h3>Open</h3>
      <ul>
        {[...sources.value.values()].map(({ key, title }) => (
          <li key={key} class="row">
            <button
              type="button"
              class={`leaf${key === shownKey.value ? ' on' : ''}`}
              onClick={() => show(key)}
            >
              {title}
            </button>
            {key !== shownKey.value && (
              <button
                type="button"
                aria-pressed={compared.value.includes(key)}
                aria-label={`Compare with ${title}`}
                onClick={() => compare(key, !compared.value.includes(key))}
              >
                Compare
              </button>
            )}
          </li>
        ))}
      </ul>
      {config.value?.anyHost === true && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            open('alone')
          }}
        >
          <input
            aria-label="Another host"
            placeholder="Host, or host:port"
            title={withoutPort(config.value.ports)}
            value={host.value}
            onInput={({ currentTarget }) => (host.value = currentTarget.value)}
          />
          <button type="submit">Open</button>
          <button type="button" onClick={() => open('with')}>
            Compare
          </button>
          <small>{withoutPort(config.value.ports)}</small>
        </form>
      )}
      <h3>From your disk</h3>
      <p class="drop">
        Drop the files of an archive anywhere on the page, or{' '}
        <label class="link">
          choose them
          <input
            type="file"
            multiple
            hidden
            onChange={({ currentTarget }) => {
              const files = [...(currentTarget.files ?? [])]
              if (files.length > 0) openFiles(files).then(() => (panel.value = undefined), complain)
            }}
          />
        </label>
        . They are read in this browser; nothing is sent.
      </p>
      {hasArchives && (
        <>
          <h3>On the server</h3>
          <input
            type="search"
            aria-label="Filter archives"
            placeholder="Filter"
            value={filter.value}
            onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
          />
          <ul class="on-server">
            {found.slice(0, MOST_ARCHIVES).map((info) => (
              <li key={info.id} class="row">
                <button
                  type="button"
                  class={`leaf${`archive:${info.id}` === shownKey.value ? ' on' : ''}`}
                  onClick={() => openArchive(info, 'alone')}
                >
                  <span class="title">
                    {info.host} · {spanText(info.end - info.start)}
                  </span>
                  <small>{betweenText(info, zone)}</small>
                </button>
                {`archive:${info.id}` !== shownKey.value && (
                  <button
                    type="button"
                    aria-label={`Compare with ${info.id}`}
                    onClick={() => openArchive(info, 'with')}
                  >
                    Compare
                  </button>
                )}
              </li>
            ))}
          </ul>
          {found.length > MOST_ARCHIVES && (
            <p class="more">{found.length - MOST_ARCHIVES} more: the filter finds them</p>
          )}
          {isKnown.value && found.length === 0 && (
            <p class="empty">
              {archives.value.length === 0 ? 'There are none yet' : 'None has this in its name'}
            </p>
          )}
        </>
      )}
    </div>
  )
}
