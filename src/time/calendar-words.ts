/** Names of months and weekdays in dates. pmParseTimeWindow(3) */

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** Returns the number of a month, 1 to 12, by its full name or its first three letters, in lower case. */
export function monthOfName(word: string): number | undefined {
  return numberOf(MONTHS, word, 1)
}

/** Returns the number of a weekday, 0 for Sunday, by its full name or its first three letters, in lower case. */
export function weekdayOfName(word: string): number | undefined {
  return numberOf(WEEKDAYS, word, 0)
}

function numberOf(names: readonly string[], word: string, first: number): number | undefined {
  const index = names.findIndex((name) => name === word || (word.length === 3 && name.startsWith(word)))
  return index < 0 ? undefined : index + first
}
