/**
 * What CI learns of single tests while they run: lines of JSON in the file that CI_PROGRESS names. A line is { suite, test, began } or
 * { suite, test, ms }, with `again` where the test passed only when run once more; without `test` it is about a whole file.
 */
import { appendFileSync, readFileSync } from 'node:fs'

/** Notes something of a test, where CI wants to know. */
export function note(fact) {
  const file = process.env.CI_PROGRESS
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(fact)}\n`)
}

/** Reads the notes of a step; none where it wrote none. */
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

/** Names the tests that began and did not end; files where no test of them is under way. */
export function unfinished(notes) {
  const open = new Map()
  for (const one of notes) {
    if (one.began) open.set(nameOf(one), one)
    else open.delete(nameOf(one))
  }
  const tests = [...open.values()]
  const isInTest = (suite) => tests.some((one) => one.suite === suite && one.test !== undefined)
  return tests.filter((one) => one.test !== undefined || !isInTest(one.suite)).map(nameOf)
}

/** The slowest so many of the notes that `isWanted` picks, as lines. */
export function slowest(notes, count, isWanted) {
  return notes
    .filter((one) => one.ms !== undefined && isWanted(one))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, count)
    .map((one) => `${(one.ms / 1000).toFixed(1).padStart(8)} s  ${nameOf(one)}`)
}

/** The name of a test with its file. */
export function nameOf({ suite, test }) {
  return test === undefined ? suite : `${suite}: ${test}`
}
