/**
 * Reports single tests to CI while they run: lines of JSON in the file named by CI_PROGRESS. A line is { suite, test, began } or
 * { suite, test, ms }, with `again` if the test passed only on the second run and `error` with the reason if it failed; without `test` it is
 * about a file, of which another line has the processor time, { suite, cpuMs }.
 */
import { appendFileSync, readFileSync } from 'node:fs'

/** Most characters of a line about a failure. */
const MOST_OF_REASON = 300

/** Appends a fact about a test, if CI_PROGRESS is set. */
export function note(fact) {
  const file = process.env.CI_PROGRESS
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(fact)}\n`)
}

/** Reads the facts of a step; empty if it wrote none. */
export function readNotes(file) {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

/** Returns tests that began and did not end, and files without such a test. */
export function unfinished(notes) {
  const open = new Map()
  for (const one of notes) {
    if (one.began) open.set(nameOf(one), one)
    else if (one.ms !== undefined) open.delete(nameOf(one))
  }
  const tests = [...open.values()]
  const isInTest = (suite) => tests.some((one) => one.suite === suite && one.test !== undefined)
  return tests.filter((one) => one.test !== undefined || !isInTest(one.suite)).map(nameOf)
}

/** Returns the slowest `count` of the notes that `isWanted` selects, as lines; with `key` `cpuMs`, the notes with most processor time. */
export function slowest(notes, count, isWanted, key = 'ms') {
  return notes
    .filter((one) => one[key] !== undefined && isWanted(one))
    .sort((a, b) => b[key] - a[key])
    .slice(0, count)
    .map((one) => `${(one[key] / 1000).toFixed(1).padStart(8)} s  ${nameOf(one)}`)
}

/** Returns the failed tests and files, each with its reason in a line. */
export function failures(notes) {
  return notes
    .filter((one) => one.error !== undefined)
    .map((one) => `${nameOf(one)}: ${one.error}`.replace(/\s+/g, ' ').slice(0, MOST_OF_REASON))
}

/** Returns the name of a test with its file. */
export function nameOf({ suite, test }) {
  return test === undefined ? suite : `${suite}: ${test}`
}
