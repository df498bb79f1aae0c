/** Notes of the user on the current host: a form, and the list. */
import type { ComponentChild } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { printable, printableWord } from '../../base/printable.ts'
import { type Draft, draft, takeDraft, typeDraft } from '../annotations/draft.ts'
import { editNote, newNote } from '../annotations/new-note.ts'
import { LONGEST_TEXT, type Note, notesOf } from '../annotations/notes.ts'
import { notes } from '../annotations/state.ts'
import { currentSource, showError } from '../page.ts'
import { time } from '../time/control.ts'
import { formatTime } from '../time/format.ts'

const AROUND_SEC = 300

/** Renders the notes. */
export function NoteList(): ComponentChild {
  const own = notesOf(notes.all.value, currentSource.value?.host)
  return (
    <section aria-label="Notes">
      <h3>Notes</h3>
      {draft.value === undefined ? (
        <button type="button" onClick={() => newNote()}>
          Add a note (n)
        </button>
      ) : (
        <NoteForm key={draft.value.note.id} draft={draft.value} />
      )}
      <ul>
        {own.toReversed().map((note) => (
          <Row key={note.id} note={note} />
        ))}
      </ul>
      {own.length === 0 && (
        <p class="hint">Notes are kept in this browser: click a chart to pin an instant, then press n.</p>
      )}
    </section>
  )
}

function timesOf({ at, until }: Note): string {
  const zone = time.zone.value
  return until === undefined ? formatTime(at, zone) : `${formatTime(at, zone)} to ${formatTime(until, zone)}`
}

/** Runs a change of the notes and reports its failure. */
function attempt(act: () => void): void {
  try {
    act()
  } catch (error) {
    showError(error)
  }
}

/** The form. It names the host, as it stays when another source is shown. */
function NoteForm({ draft: { note, text } }: { readonly draft: Draft }): ComponentChild {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current!.focus({ preventScroll: true }), [])
  const save = (event: Event): void => {
    event.preventDefault()
    const typed = takeDraft()
    if (typed !== undefined) attempt(() => notes.save(typed))
  }
  return (
    <form class="note-form" onSubmit={save}>
      <p class="hint">
        {printableWord(note.host)}, {timesOf(note)}
      </p>
      <textarea
        aria-label="Note"
        rows={2}
        maxLength={LONGEST_TEXT}
        value={text}
        onInput={({ currentTarget }) => typeDraft(currentTarget.value)}
        ref={field}
      />
      <div class="actions">
        <button type="submit">Save note</button>
        <button type="button" onClick={() => takeDraft()}>
          Cancel
        </button>
      </div>
    </form>
  )
}

function Row({ note }: { readonly note: Note }): ComponentChild {
  const { at, until = at } = note
  return (
    <li>
      <p class="note-text">{printable(note.text)}</p>
      <div class="row">
        <button
          type="button"
          class="link"
          onClick={() => time.show(at - AROUND_SEC, until + AROUND_SEC)}
          title="Show this time"
        >
          {timesOf(note)}
        </button>
        <span class="actions">
          <button
            type="button"
            aria-label={`Edit the note of ${timesOf(note)}`}
            onClick={() => editNote(note)}
          >
            Edit
          </button>
          <button
            type="button"
            aria-label={`Delete the note of ${timesOf(note)}`}
            onClick={() => attempt(() => notes.delete(note.id))}
          >
            Delete
          </button>
        </span>
      </div>
    </li>
  )
}
