/** Actions whose failure is of no consequence, such as removing a file after another error. */

/** Returns true if the action succeeded. */
export function attemptQuietly(action: () => void): boolean {
  try {
    action()
    return true
  } catch {
    return false
  }
}
